//! The list in the attribute's parentheses: arguments, each with the access it needs.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprField, ExprPath, Token};

use crate::mistake::Mistake;

/// The words for access, and the types in `rootward-server` that mean the same.
const WORDS: [(&str, &str); 5] =
    [("read", "Read"), ("write", "Write"), ("create", "Create"), ("delete", "Delete"), ("execute", "Execute")];

/// One argument to check.
pub(crate) struct Argument {
    /// The expression for its value: a name, or a field of one.
    pub(crate) place: Expr,
    /// The name that the expression begins with.
    pub(crate) name: Ident,
    /// The type in `rootward-server` for its access.
    pub(crate) kind: Ident,
}

/// An entry of the list, as written.
struct Entry {
    place: Expr,
    word: Option<Ident>,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Entry> {
        let place = input.parse()?;
        let word = if input.parse::<Option<Token![:]>>()?.is_some() { Some(input.parse()?) } else { None };
        Ok(Entry { place, word })
    }
}

/// The argument that is checked if the attribute names none.
const USUAL: &str = "path";

/// Parses the list, for a function that binds these names. An empty result is a mistake: such a function would only
/// look protected.
pub(crate) fn read(list: TokenStream, bound: &[Ident]) -> Result<Vec<Argument>, Mistake> {
    let entries = Punctuated::<Entry, Token![,]>::parse_terminated.parse2(list)?;
    if entries.is_empty() {
        if let Some(name) = bound.iter().find(|name| *name == USUAL).cloned() {
            let place = Expr::Path(ExprPath { attrs: Vec::new(), qself: None, path: name.clone().into() });
            return Ok(vec![Argument { place, name, kind: kind(None)? }]);
        }
        let says = "name the arguments to check: `#[require_within_roots(path, destination: write)]`";
        return Err(Mistake::new(TokenStream::new(), says));
    }
    let mut seen = HashSet::new();
    entries
        .into_iter()
        .map(|Entry { place, word }| {
            let name = first_name(&place)?.clone();
            let text = shown(&place);
            if !seen.insert(text.clone()) {
                return Err(Mistake::new(place, format!("`{text}` is named twice")));
            }
            Ok(Argument { place, name, kind: kind(word.as_ref())? })
        })
        .collect()
}

/// An expression as a user writes it.
pub(crate) fn shown(place: &Expr) -> String {
    place.to_token_stream().to_string().replace(' ', "")
}

fn first_name(place: &Expr) -> Result<&Ident, Mistake> {
    let name = match place {
        Expr::Path(ExprPath { attrs, qself: None, path }) if attrs.is_empty() => path.get_ident(),
        Expr::Field(ExprField { attrs, base, .. }) if attrs.is_empty() => return first_name(base),
        _ => None,
    };
    name.ok_or_else(|| Mistake::new(place, "expected the name of an argument, or a field of one: `request.path`"))
}

fn kind(word: Option<&Ident>) -> Result<Ident, Mistake> {
    let Some(word) = word else {
        return Ok(Ident::new("Read", Span::mixed_site()));
    };
    match WORDS.iter().find(|(known, _)| word == known) {
        Some((_, kind)) => Ok(Ident::new(kind, Span::mixed_site())),
        None => {
            let known: Vec<String> = WORDS.iter().map(|(known, _)| format!("`{known}`")).collect();
            Err(Mistake::new(word, format!("unknown access `{word}`: one of {}", known.join(", "))))
        }
    }
}
