//! The two forms of a check: short for every change, long for a proof.

/// How much a check tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Minutes, for every change.
    Short,
    /// As long as it takes: a million race attempts, minutes of fuzzing.
    Long,
}
