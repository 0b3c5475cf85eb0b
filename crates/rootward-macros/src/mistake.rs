//! A wrong use of the attribute: a sentence, and the tokens that it is about.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// A wrong use.
#[derive(Debug)]
pub(crate) enum Mistake {
    /// Known by its tokens rather than by their place, so that a test can see what it points at. Without any, it is the
    /// attribute's own.
    Use { at: TokenStream, says: String },
    /// What is no Rust, or no function: the parser knows where.
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

    /// What it points at, and what it says.
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
