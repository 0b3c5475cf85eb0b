//! Compares every grant with the kernel, in builds with `--cfg rootward_oracle`.
//!
//! Right after a grant is made, `/proc/self/fd` must say that its handle lies where the grant says. Not for tests that
//! move things concurrently.

use std::os::fd::AsFd;
use std::path::PathBuf;

use super::{Grant, Target};
use crate::os;

/// Panics if the kernel disagrees.
#[expect(clippy::panic, reason = "a disagreement is what this build looks for")]
pub(crate) fn compare(grant: &Grant) {
    let Target::Object(handle) = &grant.target else { return };
    let Ok(kernel) = os::place_of(handle.as_fd()) else { return };
    let kernel = PathBuf::from(kernel);
    if kernel != grant.path() {
        panic!("the grant says {:?}, the kernel says {kernel:?}", grant.path());
    }
    if !grant.root().holds(&kernel) {
        panic!("{kernel:?} is not in root {:?}", grant.root().place);
    }
}
