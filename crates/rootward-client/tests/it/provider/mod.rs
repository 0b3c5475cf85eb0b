//! The provider before servers of raw frames, and before servers on rmcp in both eras.

mod errors;
mod lists;
mod many;
mod modern;
mod paging;
mod raw;
mod stage;
mod told;
