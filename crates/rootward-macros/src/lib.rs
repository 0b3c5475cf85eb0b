//! The attribute `require_within_roots`, for tools whose paths are plain strings. It belongs to `rootward-server`,
//! which re-exports and documents it; the generated code calls that crate.
//!
//! # Layout
//!
//! - `arguments.rs`: the list in the attribute's parentheses.
//! - `function.rs`: the function below it: the names it binds, and where its body begins.
//! - `expand.rs`: adds the checks to the function.
//! - `mistake.rs`: a wrong use of the attribute, and where it is.

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
