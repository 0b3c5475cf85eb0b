//! Maps access to Landlock rights.

use landlock::{ABI, Access as _, AccessFs, BitFlags, make_bitflags};
use rootward_core::Access;

/// The oldest usable Landlock: before ABI 3 a file outside could be truncated.
pub(crate) const OLDEST: i32 = 3;

/// The newest version that this crate supports.
const NEWEST: ABI = ABI::V9;

/// The version to use on this kernel. All rights it knows are handled, so that everything is refused unless a rule
/// gives it.
pub(crate) fn version(kernel: i32) -> ABI {
    ABI::from(kernel).min(NEWEST)
}

/// Everything that is refused unless a rule gives it.
pub(crate) fn handled(kernel: i32) -> BitFlags<AccessFs> {
    AccessFs::from_all(version(kernel))
}

/// The same without unix sockets, for commands that may connect to all of them.
pub(crate) fn handled_but_sockets(kernel: i32) -> BitFlags<AccessFs> {
    handled(kernel) & !BitFlags::from(AccessFs::ResolveUnix)
}

/// The rights that a directory with this access gives to its contents.
///
/// No access includes creating devices or sending commands to them.
pub(crate) fn of_directory(access: Access) -> BitFlags<AccessFs> {
    let given = [
        (Access::READ, make_bitflags!(AccessFs::{ReadFile | ReadDir})),
        (
            Access::WRITE,
            make_bitflags!(AccessFs::{
                WriteFile | Truncate | MakeReg | MakeDir | MakeSym | MakeFifo | MakeSock | Refer | ResolveUnix
            }),
        ),
        (Access::DELETE, make_bitflags!(AccessFs::{RemoveFile | RemoveDir})),
        (Access::EXECUTE, make_bitflags!(AccessFs::{Execute})),
    ];
    given.iter().filter(|(part, _)| access.contains(*part)).fold(BitFlags::EMPTY, |sum, (_, rights)| sum | *rights)
}

/// The same for a single file.
pub(crate) fn of_file(access: Access) -> BitFlags<AccessFs> {
    of_directory(access) & AccessFs::from_file(NEWEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_access_gives_its_own() {
        let check = |access: Access, has: AccessFs, lacks: AccessFs| {
            let rights = of_directory(access);
            assert!(rights.contains(has) && !rights.contains(lacks), "{access}: {rights:?}");
        };
        check(Access::READ, AccessFs::ReadDir, AccessFs::WriteFile);
        check(Access::READ, AccessFs::ReadFile, AccessFs::Execute);
        check(Access::READ | Access::WRITE, AccessFs::MakeReg, AccessFs::RemoveFile);
        check(Access::READ_WRITE, AccessFs::RemoveDir, AccessFs::Execute);
        check(Access::ALL, AccessFs::Execute, AccessFs::MakeChar);
        check(Access::ALL, AccessFs::Truncate, AccessFs::IoctlDev);
        assert!(of_directory(Access::NONE).is_empty());
        assert!(!of_file(Access::ALL).contains(AccessFs::ReadDir));
    }

    #[test]
    fn devices_are_made_by_nobody() {
        for access in [Access::ALL, Access::READ_WRITE] {
            assert!(!of_directory(access).intersects(AccessFs::MakeChar | AccessFs::MakeBlock));
        }
    }

    #[test]
    fn what_a_kernel_knows_is_handled() {
        assert!(handled(OLDEST).contains(AccessFs::Truncate));
        assert!(!handled(OLDEST).contains(AccessFs::IoctlDev));
        assert_eq!(handled(1000), handled(9));
    }
}
