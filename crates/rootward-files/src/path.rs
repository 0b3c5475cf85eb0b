//! The path argument of a tool: literal, or as a list shows it.

use std::marker::PhantomData;

use rootward_server::{Access, Denial, Grant, Last, OtherReading, Read, RootedPath, Roots, Use};

use crate::name;

/// A path that is checked before the tool runs. It may contain names escaped as lists show them.
pub(crate) type FilePath<A = Read> = RootedPath<AsShown<A>>;

/// The same use as `A`, for a name as lists show it.
pub(crate) struct AsShown<A>(PhantomData<A>);

impl<A: Use> Use for AsShown<A> {
    const ACCESS: Access = A::ACCESS;
    const LAST: Last = A::LAST;
    const WORD: &'static str = A::WORD;

    fn other_reading(text: &str) -> Option<OtherReading> {
        name::other_reading(text)
    }
}

/// Checks a path that is a plain string in the same way.
pub(crate) fn check(roots: &Roots, text: &str, access: Access) -> Result<Grant, Denial> {
    roots.check_either(text, name::other_reading(text).as_ref(), access, Last::Followed)
}
