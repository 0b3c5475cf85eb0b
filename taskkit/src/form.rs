//! How much a check tries: little for every change, everything for a proof.

/// How much time the proofs get.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Minutes, for every change.
    Short,
    /// As long as it takes: a million race attempts, minutes of fuzzing.
    Long,
}
