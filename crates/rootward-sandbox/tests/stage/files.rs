//! Attacks on files: contents, names, metadata.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;

use crate::attack::{Attack, call};

pub(crate) const ATTACKS: &[(&str, Attack)] = &[
    ("read", |target| fs::read_to_string(target.outside.join("secret.txt"))),
    ("read through a link", |target| {
        let link = target.inside.join("link");
        let _ = symlink(&target.outside, &link);
        fs::read_to_string(link.join("secret.txt"))
    }),
    ("read from the working directory", |target| {
        std::env::set_current_dir(&target.outside)?;
        let read = fs::read_to_string("secret.txt");
        std::env::set_current_dir(&target.inside)?;
        read
    }),
    ("read through a handle", |target| {
        let handle =
            fs::OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(target.outside.join("secret.txt"))?;
        fs::read_to_string(format!("/proc/self/fd/{}", handle.as_raw_fd()))
    }),
    ("read through another's root", |target| {
        let below = target.outside.strip_prefix("/").unwrap_or(Path::new("")).join("secret.txt");
        fs::read_to_string(Path::new("/proc").join(target.victim.to_string()).join("root").join(below))
    }),
    ("read by number", |target| by_number(&target.outside.join("secret.txt"))),
    ("list", |target| Ok(format!("{}", fs::read_dir(&target.outside)?.count()))),
    ("list the top", |_| Ok(format!("{}", fs::read_dir("/")?.count()))),
    ("write", |target| {
        done(fs::OpenOptions::new().append(true).open(target.outside.join("kept.txt"))?.write_all(b"x"))
    }),
    ("create", |target| done(fs::write(target.outside.join("created"), "x"))),
    ("make a directory", |target| done(fs::create_dir(target.outside.join("directory")))),
    ("make a link", |target| done(symlink("x", target.outside.join("made-link")))),
    ("truncate", |target| {
        let path = text(&target.outside.join("truncated.txt"))?;
        call!(libc::SYS_truncate, path.as_ptr(), 0).map(|_| String::new())
    }),
    ("remove", |target| done(fs::remove_file(target.outside.join("removed.txt")))),
    ("move out of the outside", |target| {
        done(fs::rename(target.outside.join("moved.txt"), target.inside.join("moved.txt")))
    }),
    ("hard link", |target| done(fs::hard_link(target.outside.join("secret.txt"), target.inside.join("hard")))),
    ("run", |target| {
        let output = std::process::Command::new(target.outside.join("program")).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }),
    ("permissions", |target| {
        done(fs::set_permissions(target.outside.join("kept.txt"), fs::Permissions::from_mode(0o600)))
    }),
    // Set to their current value, so that the control does no harm.
    ("permissions of a device", |_| {
        let mode = fs::metadata("/dev/null")?.permissions();
        done(fs::set_permissions("/dev/null", mode))
    }),
    ("permissions of the terminal it was given", |_| {
        let terminal = io::stdin().as_raw_fd();
        call!(libc::SYS_fchmod, terminal, 0o620).map(|_| String::new())
    }),
    ("permissions of the pipe it was given", |_| {
        let pipe = io::stdout().as_raw_fd();
        call!(libc::SYS_fchmod, pipe, 0o640).map(|_| String::new())
    }),
    ("owner of the pipe it was given", |_| {
        let pipe = io::stdout().as_raw_fd();
        call!(libc::SYS_fchown, pipe, libc::getuid(), libc::getgid()).map(|_| String::new())
    }),
    ("times of the pipe it was given", |_| {
        let (pipe, times) = (io::stdout().as_raw_fd(), [0_i64, 0, 0, 0]);
        call!(libc::SYS_utimensat, pipe, 0, times.as_ptr(), 0).map(|_| String::new())
    }),
    ("permissions of a socket", |_| {
        let (one, _other) = std::os::unix::net::UnixStream::pair()?;
        call!(libc::SYS_fchmod, one.as_raw_fd(), 0o640).map(|_| String::new())
    }),
    ("a command to the file system behind a directory", |target| {
        // BTRFS_IOC_SUBVOL_CREATE creates a directory without Landlock's check. Other file systems do not know it.
        let directory = fs::File::open(&target.read_only)?;
        let name = [0_u8; 4096];
        match call!(libc::SYS_ioctl, directory.as_raw_fd(), 0x5000_940e_u64, name.as_ptr()) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => Err(error),
            _ => Ok(String::new()),
        }
    }),
    ("permissions through a link", |target| {
        let link = target.inside.join("link-to-kept");
        let _ = symlink(target.outside.join("kept.txt"), &link);
        done(fs::set_permissions(link, fs::Permissions::from_mode(0o640)))
    }),
    ("permissions through a handle", |target| {
        let handle =
            fs::OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(target.outside.join("kept.txt"))?;
        let own = format!("/proc/self/fd/{}", handle.as_raw_fd());
        done(fs::set_permissions(own, fs::Permissions::from_mode(0o604)))
    }),
    ("permissions of a handle itself", |target| {
        let handle =
            fs::OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(target.outside.join("kept.txt"))?;
        call!(452, handle.as_raw_fd(), c"".as_ptr(), 0o660, libc::AT_EMPTY_PATH).map(|_| String::new())
    }),
    ("permissions while links are swapped", |target| {
        let (link, inside) = (target.inside.join("swapped"), target.inside.join("own.txt"));
        let outside = target.outside.join("kept.txt");
        fs::write(&inside, "x")?;
        let before = fs::metadata(&outside)?.mode();
        let stop = std::sync::atomic::AtomicBool::new(false);
        let is_changed = || fs::metadata(&outside).is_ok_and(|seen| seen.mode() != before);
        std::thread::scope(|scope| {
            let swapping = scope.spawn(|| {
                let next = target.inside.join("next");
                // Many rounds: on a busy machine the two threads may alternate only every few thousand.
                for turn in 0..4_000 {
                    if stop.load(std::sync::atomic::Ordering::Relaxed) {
                        return;
                    }
                    let _ = symlink(if turn % 2 == 0 { &outside } else { &inside }, &next);
                    let _ = fs::rename(&next, &link);
                }
            });
            while !swapping.is_finished() && !is_changed() {
                for _ in 0..20 {
                    let _ = fs::set_permissions(&link, fs::Permissions::from_mode(0o606));
                }
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let changed = is_changed();
        let own = fs::metadata(&inside)?.mode() & 0o777 == 0o606;
        match (changed, own) {
            (true, _) => Ok(String::new()),
            (false, true) => Err(io::Error::from_raw_os_error(libc::EACCES)),
            // Nothing was changed: there was no race.
            (false, false) => Ok("nothing was tried".to_owned()),
        }
    }),
    ("owner", |target| {
        let path = target.outside.join("kept.txt");
        let (user, group) = (fs::metadata(&path)?.uid(), fs::metadata(&path)?.gid());
        done(std::os::unix::fs::chown(path, Some(user), Some(group)))
    }),
    ("owner of a handle itself", |target| {
        let path = target.outside.join("kept.txt");
        let handle = fs::OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path)?;
        let owner = handle.metadata()?;
        call!(libc::SYS_fchownat, handle.as_raw_fd(), c"".as_ptr(), owner.uid(), owner.gid(), libc::AT_EMPTY_PATH)
            .map(|_| String::new())
    }),
    ("times", |target| {
        let path = text(&target.outside.join("kept.txt"))?;
        let times = [0_i64, 0, 0, 0];
        call!(libc::SYS_utimensat, libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), 0).map(|_| String::new())
    }),
    ("set an attribute", |target| {
        let path = text(&target.outside.join("kept.txt"))?;
        call!(libc::SYS_setxattr, path.as_ptr(), c"user.attack".as_ptr(), b"x".as_ptr(), 1, 0).map(|_| String::new())
    }),
    ("read an attribute", |target| {
        let path = text(&target.outside.join("kept.txt"))?;
        let mut value = [0_u8; 16];
        call!(libc::SYS_getxattr, path.as_ptr(), c"user.kept".as_ptr(), value.as_mut_ptr(), value.len())
            .map(|_| String::new())
    }),
    ("watch", |target| {
        let notifier = call!(libc::SYS_inotify_init1, libc::IN_CLOEXEC)?;
        let path = text(&target.outside)?;
        call!(libc::SYS_inotify_add_watch, notifier, path.as_ptr(), libc::IN_CREATE).map(|_| String::new())
    }),
    ("permissions in a read-only root", |target| {
        done(fs::set_permissions(target.read_only.join("file"), fs::Permissions::from_mode(0o600)))
    }),
    ("permissions in a read-only root through a descriptor", |target| {
        done(fs::File::open(target.read_only.join("file"))?.set_permissions(fs::Permissions::from_mode(0o600)))
    }),
    ("times in a read-only root through a descriptor", |target| {
        let file = fs::File::open(target.read_only.join("file"))?;
        done(file.set_modified(std::time::SystemTime::UNIX_EPOCH))
    }),
    ("attributes in a read-only root through a descriptor", |target| {
        let file = fs::File::open(target.read_only.join("file"))?;
        let name = c"user.attack".as_ptr();
        call!(libc::SYS_fsetxattr, file.as_raw_fd(), name, b"x".as_ptr(), 1, 0).map(|_| String::new())
    }),
    ("write in a read-only root", |target| done(fs::write(target.read_only.join("file"), "x"))),
    ("make a file that sets the user's ID", |target| {
        let path = target.inside.join("set-id-made");
        let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o4755).open(&path)?;
        set_id(&made.metadata()?)
    }),
    ("make an unnamed file that sets the user's ID", |target| {
        let flags = libc::O_TMPFILE;
        let made = fs::OpenOptions::new().write(true).custom_flags(flags).mode(0o4755).open(&target.inside)?;
        set_id(&made.metadata()?)
    }),
    ("turn a file into one that sets the user's ID", |target| {
        let path = target.inside.join("set-id-turned");
        fs::write(&path, "x")?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4755))?;
        set_id(&fs::metadata(&path)?)
    }),
    ("turn an open file into one that sets the user's ID", |target| {
        let made = fs::File::create(target.inside.join("set-id-open"))?;
        made.set_permissions(fs::Permissions::from_mode(0o4755))?;
        set_id(&made.metadata()?)
    }),
    ("use what was inherited", |_| {
        for number in 3..256 {
            let mut content = [0_u8; 64];
            let read = call!(libc::SYS_pread64, number, content.as_mut_ptr(), content.len(), 0);
            let listed = fs::read_dir(format!("/proc/self/fd/{number}")).is_ok();
            let text = String::from_utf8_lossy(&content);
            if listed || read.is_ok() && text.contains("SECRET") {
                return Ok(format!("descriptor {number}"));
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }),
    ("see metadata", |target| Ok(fs::metadata(target.outside.join("secret.txt"))?.len().to_string())),
    ("see a link's target", |target| Ok(fs::read_link(target.outside.join("a-link"))?.display().to_string())),
];

fn done(result: io::Result<()>) -> io::Result<String> {
    result.map(|()| String::new())
}

fn text(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

fn set_id(seen: &fs::Metadata) -> io::Result<String> {
    if seen.mode() & 0o6000 == 0 { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(String::new()) }
}

/// `name_to_handle_at` and `open_by_handle_at`.
fn by_number(path: &Path) -> io::Result<String> {
    #[repr(C)]
    struct Handle {
        bytes: u32,
        kind: i32,
        id: [u8; 128],
    }
    let mut handle = Handle { bytes: 128, kind: 0, id: [0; 128] };
    let path = text(path)?;
    let mut mount = 0_i32;
    call!(libc::SYS_name_to_handle_at, libc::AT_FDCWD, path.as_ptr(), &raw mut handle, &raw mut mount, 0)?;
    let at = fs::OpenOptions::new().read(true).open(std::env::current_dir()?)?;
    let opened = call!(libc::SYS_open_by_handle_at, at.as_raw_fd(), &raw mut handle, libc::O_RDONLY)?;
    let mut content = String::new();
    // SAFETY: the kernel has just made the descriptor.
    let mut file = unsafe { <fs::File as std::os::fd::FromRawFd>::from_raw_fd(i32::try_from(opened).unwrap_or(-1)) };
    file.read_to_string(&mut content)?;
    Ok(content)
}
