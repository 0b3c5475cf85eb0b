//! `roots`: one file per verb.

mod detect;
