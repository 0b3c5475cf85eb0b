//! A wrong use of the attribute: a message, and the tokens it is about.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// A wrong use.
#[derive(Debug)]
pub(crate) enum Mistake {
    /// Holds tokens rather than a span, so that a test can see what it points at. With no tokens, it points at the
    /// attribute.
    Use { at: TokenStream, says: String },
    /// Not valid Rust, or not a function: the parser knows where.
    Syntax(syn::Error),
}

impl Mistake {
    pub(crate) fn new(at: impl ToTokens, says: impl Into<String>) -> Mistake {
        Mistake::Use { at: at.into_token_stream(), says: says.into() }
    }

    pub(crate) fn into_compile_error(self) -> TokenStream {
        match self {
            Mistake::Use { at, says } => syn::Error::new_spanned(at, says),
            Mistake::Syntax(error) => error,
        }
        .into_compile_error()
    }

    /// What it points at, and its message.
    #[cfg(test)]
    pub(crate) fn told(self) -> (String, String) {
        match self {
            Mistake::Use { at, says } => (at.to_string(), says),
            Mistake::Syntax(error) => (String::new(), error.to_string()),
        }
    }
}

impl From<syn::Error> for Mistake {
    fn from(error: syn::Error) -> Mistake {
        Mistake::Syntax(error)
    }
}
