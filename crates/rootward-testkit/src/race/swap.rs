//! The attackers: each swaps one thing as fast as it can until it is told to stop.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::Swap;
use super::arena::Arena;

/// The number of swaps between two checks that both names still exist.
const REPAIR: u64 = 16;

/// Swaps until `stop`, and counts the swaps.
pub(super) fn attack(arena: &Arena, swaps: &AtomicU64, stop: &AtomicBool) {
    let root = arena.root();
    let outside = arena.outside_directory();
    let mut dwell = Dwell(0x9e37_79b9_7f4a_7c15);
    let mut turn = |there: &Path, back: &Path, repair: &dyn Fn()| {
        for round in 0_u64.. {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let swapped = exchange(there, back).is_ok();
            swaps.fetch_add(u64::from(swapped), Ordering::Relaxed);
            if !swapped || round.is_multiple_of(REPAIR) {
                repair();
            }
            dwell.pass();
        }
    };
    match arena.swap {
        Swap::DirectoryForLink => turn(&root.join("work"), &root.join("trap"), &|| ()),
        Swap::DeepParentForLink => turn(&root.join("a/b"), &root.join("a/trap"), &|| ()),
        Swap::FileForLink => {
            let (file, trap) = (root.join("file"), root.join("trap"));
            // The acts may have replaced, removed or moved either of the two.
            turn(&file, &trap, &|| drop(restore_pair(&file, &trap, &outside.join("file"))));
        }
        Swap::ParentAway => {
            let (home, away) = (root.join("work/inner"), outside.join("inner"));
            while !stop.load(Ordering::Relaxed) {
                let gone = fs::rename(&home, &away).is_ok();
                dwell.pass();
                let back = fs::rename(&away, &home).is_ok();
                swaps.fetch_add(u64::from(gone) + u64::from(back), Ordering::Relaxed);
                dwell.pass();
            }
        }
    }
}

/// Random waits between swaps, up to the duration of an act.
///
/// Without them, both threads synchronize on the directory's lock, and the door nearly always sees the same state.
struct Dwell(u64);

impl Dwell {
    fn pass(&mut self) {
        // On a single core, the door would otherwise wait for the end of the attacker's time slice.
        if self.0 >> 58 == 0 {
            std::thread::yield_now();
        }
        // xorshift, Marsaglia 2003: any distribution will do.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let limit = Duration::from_nanos((1 << (self.0 >> 60)) * 2);
        let start = Instant::now();
        while start.elapsed() < limit {
            std::hint::spin_loop();
        }
    }
}

fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// Makes sure that one of the two names is a file and the other is the link that leads out.
fn restore_pair(file: &Path, trap: &Path, target: &Path) -> io::Result<()> {
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    match (is_link(file), is_link(trap)) {
        (true, false) if !trap.exists() => create_new(trap),
        (false, true) if !file.exists() => create_new(file),
        (true, true) => {
            fs::remove_file(trap)?;
            create_new(trap)
        }
        (false, false) => {
            if trap.exists() {
                fs::remove_file(trap)?;
            }
            symlink(target, trap)
        }
        _ => Ok(()),
    }
}

/// Not `fs::write`: if the name is a link by now, the attacker itself would write outside.
fn create_new(path: &Path) -> io::Result<()> {
    use std::io::Write;
    fs::File::create_new(path)?.write_all(b"inside root/file\n")
}
