//! The names that Rootward has for what the protocol has no place for. Both sides of a connection may be Rootward's, and agree by these.

/// Where an entry of a list of roots says what may be done below it.
pub const ACCESS: &str = "rootward.dev/access";
/// What peers declare that page `roots/list`.
pub const PAGING: &str = "rootward.dev/roots-paging";
/// Where a question for roots has its cursor that has no parameters of its own: a modern one, or one on its way through an SDK.
pub const CURSOR: &str = "rootward.dev/cursor";
/// Where an answer has the next cursor that has no other place for it.
pub const NEXT_CURSOR: &str = "rootward.dev/nextCursor";
