//! The provider with servers that send raw frames, and with rmcp servers of both eras.

mod errors;
mod lists;
mod many;
mod modern;
mod notifications;
mod paging;
mod raw;
mod stage;
