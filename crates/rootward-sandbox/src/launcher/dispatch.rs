//! Builds one filter from many rules: a search by the number of the call, followed by the decision for that call.
//!
//! The seccomp compiler creates a chain of comparisons for a single action, so several actions would take several
//! filters. The kernel verifies, translates and tries out each of them for every call number, which delays each start.
//! Here the compiled programs are combined into one, and each is reached in a few comparisons.

use seccompiler::{BpfProgram, sock_filter};

// Classic BPF (linux/bpf_common.h).
pub(super) const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
pub(super) const IF_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
pub(super) const IF_GREATER: u16 = 0x25; // BPF_JMP | BPF_JGT | BPF_K
pub(super) const IF_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
pub(super) const JUMP: u16 = 0x05; // BPF_JMP | BPF_JA
pub(super) const RETURN: u16 = 0x06; // BPF_RET | BPF_K

/// The decision for a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// This action, whatever its arguments.
    Always(u32),
    /// A program decides.
    Judged(BpfProgram),
}

/// A range of numbers with the same decision: where it begins.
struct Run<'f> {
    from: u32,
    fate: &'f Fate,
}

/// The search for the number that was loaded last. Calls that are in no list get `otherwise`; `fates` must be sorted by
/// number.
pub(super) fn by_number(fates: &[(u32, Fate)], otherwise: &Fate) -> BpfProgram {
    let mut runs: Vec<Run<'_>> = vec![Run { from: 0, fate: otherwise }];
    let mut next = 0;
    let mut begin = |from: u32, fate| match runs.last_mut() {
        Some(last) if last.fate == fate => {}
        Some(last) if last.from == from => last.fate = fate,
        _ => runs.push(Run { from, fate }),
    };
    for (number, fate) in fates {
        if *number > next {
            begin(next, otherwise);
        }
        begin(*number, fate);
        next = number + 1;
    }
    begin(next, otherwise);
    search(&runs)
}

fn search(runs: &[Run<'_>]) -> BpfProgram {
    let (low, high) = match runs {
        [] => return BpfProgram::new(),
        [run] => {
            return match run.fate {
                Fate::Always(action) => vec![statement(RETURN, 0, 0, *action)],
                // Jumps are relative, so a program means the same at any position.
                Fate::Judged(program) => program.clone(),
            };
        }
        runs => runs.split_at(runs.len() / 2),
    };
    let (boundary, low, high) = (high[0].from, search(low), search(high));
    let mut program = match u8::try_from(low.len()) {
        Ok(ahead) => vec![statement(IF_AT_LEAST, ahead, 0, boundary)],
        // Only a plain jump can skip more than 255 statements.
        Err(_) => {
            let ahead = u32::try_from(low.len()).unwrap_or(u32::MAX);
            vec![statement(IF_AT_LEAST, 0, 1, boundary), statement(JUMP, 0, 0, ahead)]
        }
    };
    program.extend(low);
    program.extend(high);
    program
}

pub(super) fn statement(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

/// The data of a call, for the tests.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Called {
    pub(super) number: u32,
    pub(super) architecture: u32,
    pub(super) arguments: [u64; 6],
}

/// Runs a program like the kernel.
#[cfg(test)]
pub(super) fn outcome(program: &[sock_filter], called: Called) -> u32 {
    let word = |offset: u32| match offset {
        0 => called.number,
        4 => called.architecture,
        // After number, architecture and instruction pointer come the arguments, lower half first.
        offset => {
            let (index, half) = ((offset as usize - 16) / 8, (offset - 16) % 8 / 4);
            u32::try_from(called.arguments[index] >> (32 * half) & u64::from(u32::MAX)).unwrap()
        }
    };
    let (mut at, mut loaded) = (0, 0);
    loop {
        let sock_filter { code, jt, jf, k } = program[at];
        at += 1;
        let holds = match code {
            LOAD => {
                loaded = word(k);
                continue;
            }
            // BPF_ALU | BPF_AND | BPF_K
            0x54 => {
                loaded &= k;
                continue;
            }
            JUMP => {
                at += k as usize;
                continue;
            }
            IF_EQUAL => loaded == k,
            IF_GREATER => loaded > k,
            IF_AT_LEAST => loaded >= k,
            RETURN => return k,
            other => panic!("{other:x}"),
        };
        at += usize::from(if holds { jt } else { jf });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_meets_its_fate() {
        let check = |fates: &[(u32, Fate)]| {
            let mut program = vec![statement(LOAD, 0, 0, 0)];
            program.extend(by_number(fates, &Fate::Always(7)));
            for number in (0..700).chain([u32::MAX]) {
                let expect = match fates.iter().find(|(known, _)| *known == number) {
                    None => 7,
                    Some((_, Fate::Always(action))) => *action,
                    Some((_, Fate::Judged(program))) => program.last().unwrap().k,
                };
                let called = Called { number, architecture: 0, arguments: [0; 6] };
                assert_eq!(outcome(&program, called), expect, "{number}");
            }
        };
        let judged = |length: usize, action: u32| {
            let mut program = vec![statement(LOAD, 0, 0, 0); length];
            program.push(statement(RETURN, 0, 0, action));
            Fate::Judged(program)
        };
        check(&[]);
        check(&[(0, Fate::Always(1))]);
        check(&[(5, Fate::Always(1)), (6, Fate::Always(1)), (7, Fate::Always(2)), (9, Fate::Always(1))]);
        // Next to each other, and more than 255 statements apart.
        check(&[(0, judged(3, 1)), (1, judged(400, 2)), (2, Fate::Always(7)), (600, judged(300, 3))]);
        let many: Vec<_> = (0..300).map(|number| (number * 2, Fate::Always(number))).collect();
        check(&many);
    }
}
