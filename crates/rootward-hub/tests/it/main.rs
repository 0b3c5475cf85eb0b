//! Frames in any chunks; the escape corpus and published attacks as arguments of calls; fuzzing.
