//! The attribute `require_within_roots`, for tools whose paths are plain strings. It belongs to `rootward-server`, which
//! re-exports it and documents it; what it writes calls that crate.
//!
//! # Layout
//!
//! - `arguments.rs`: what stands in the attribute's parentheses.
//! - `function.rs`: the function below it: which names it binds, and where its body begins.
//! - `expand.rs`: the function with the checks in it.
//! - `mistake.rs`: what is told of a wrong use, and where.

use proc_macro::TokenStream;

mod arguments;
mod expand;
mod function;
mod mistake;

/// Checks arguments of a function against the roots of the call before its body runs.
#[proc_macro_attribute]
pub fn require_within_roots(arguments: TokenStream, function: TokenStream) -> TokenStream {
    expand::attribute(arguments.into(), &function.into()).into()
}
