//! Adds the checks to the function.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::token::Brace;
use syn::{ImplItemFn, parse_quote};

use crate::arguments::{self, Argument, shown};
use crate::function;
use crate::mistake::Mistake;

/// The expansion of the attribute. If the attribute is used wrongly: the unchanged function and a compile error.
pub(crate) fn attribute(list: TokenStream, function: &TokenStream) -> TokenStream {
    checked(list, function.clone()).unwrap_or_else(|mistake| {
        let error = mistake.into_compile_error();
        quote!(#error #function)
    })
}

fn checked(list: TokenStream, function: TokenStream) -> Result<TokenStream, Mistake> {
    let mut function: ImplItemFn = syn::parse2(function).map_err(|error| {
        syn::Error::new(error.span(), format!("`require_within_roots` needs a function with a body: {error}"))
    })?;
    let names = function::bound(&function.sig);
    let arguments = arguments::read(list, &names)?;
    for Argument { place, name, .. } in &arguments {
        if !names.contains(name) {
            let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
            let (place_shown, function) = (shown(place), &function.sig.ident);
            let field = match names.iter().find(|name| *name != "self") {
                Some(name) => format!("; a field of it is written `{name}.{place_shown}`"),
                None => String::new(),
            };
            return Err(Mistake::new(
                place,
                format!("`{function}` has no argument `{place_shown}`: it has {known}{field}"),
            ));
        }
    }
    let returned = function::returned(&function.sig)?.span();
    let checks: TokenStream = arguments.iter().map(|argument| check(argument, returned)).collect();
    let body = function::body(&mut function)?;
    let mut before = body.clone();
    // Lints judge the braces that a user wrote. The generated pair must not count as one.
    before.brace_token = Brace(written_at(before.brace_token.span.join()));
    // SECURITY: the body keeps its own block: otherwise an item declared in it could shadow the argument of the same
    // name (test: an_item_in_the_body_does_not_replace_an_argument)
    *body = parse_quote!({ #checks #before });
    Ok(function.into_token_stream())
}

/// A span for generated code, for errors to point at.
fn written_at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// One check. Errors about the argument's type point at its name in the attribute; errors about the return type point
/// at the `->`.
fn check(Argument { place, kind, .. }: &Argument, returned: Span) -> TokenStream {
    let verdict = quote_spanned! { written_at(place.span())=>
        ::rootward_server::expansion::check::<::rootward_server::#kind, _>(&#place)
    };
    let refused = quote_spanned! { written_at(returned)=> return ::rootward_server::expansion::refused(error); };
    let error = quote_spanned!(written_at(returned)=> error);
    quote! { if let ::core::result::Result::Err(#error) = #verdict { #refused } }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: &str =
        "fn copy(&self, Parameters(Copy { path, to: destination }): Parameters<Copy>) -> Result<(), E> {}";

    /// Expands what a user would write, and returns the mistake: what it points at, and its message.
    fn told(list: &str, function: &str) -> (String, String) {
        let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
        checked(tokens(list), tokens(function)).unwrap_err().told()
    }

    fn written(list: &str, function: &str) -> String {
        checked(list.parse().unwrap(), function.parse().unwrap()).unwrap().to_string()
    }

    fn check_mistake(list: &str, function: &str, at: &str, says: &str) {
        assert_eq!(told(list, function), (at.to_owned(), says.to_owned()), "{list} on {function}");
    }

    #[test]
    fn wrong_lists_are_reported() {
        let check = |list: &str, at: &str, says: &str| check_mistake(list, COPY, at, says);
        let from = "fn copy(&self, from: String, request: Request) -> Result<(), E> {}";
        let says = "name the arguments to check: `#[require_within_roots(path, destination: write)]`";
        check_mistake("", from, "", says);
        check("path, path", "path", "`path` is named twice");
        check("path: read, destination, path: write", "path", "`path` is named twice");
        check("self.a.0, self.a.0", "self . a . 0", "`self.a.0` is named twice");
        let words = "one of `read`, `write`, `create`, `delete`, `execute`";
        check("path: append", "append", &format!("unknown access `append`: {words}"));
        check("path: Write", "Write", &format!("unknown access `Write`: {words}"));
        let place = "expected the name of an argument, or a field of one: `request.path`";
        check("path.clone()", "path . clone ()", place);
        check("\"path\"", "\"path\"", place);
        check("a::path", "a :: path", place);
        check("path[0]", "path [0]", place);
        check("&path", "& path", place);
        // The parser reports what is not a list at all.
        check("path destination", "", "expected `,`");
        check("path:", "", "unexpected end of input, expected identifier");
    }

    #[test]
    fn unknown_names_are_reported() {
        let check = |list: &str, at: &str, says: &str| check_mistake(list, COPY, at, says);
        check(
            "pat",
            "pat",
            "`copy` has no argument `pat`: it has `self`, `path`, `destination`; a field of it is written `path.pat`",
        );
        check(
            "path, to: write",
            "to",
            "`copy` has no argument `to`: it has `self`, `path`, `destination`; a field of it is written `path.to`",
        );
        check(
            "request.path",
            "request . path",
            "`copy` has no argument `request.path`: it has `self`, `path`, `destination`; a field of it is written \
             `path.request.path`",
        );
        check_mistake("path", "fn none() -> R {}", "path", "`none` has no argument `path`: it has nothing");
        check_mistake("path", "fn none(_: String) -> R {}", "path", "`none` has no argument `path`: it has nothing");
    }

    #[test]
    fn functions_that_cannot_refuse_are_reported() {
        let says = "`copy` must return a `Result`, to refuse with: `Result<_, PathError>`";
        check_mistake("path", "fn copy(path: String) {}", "copy", says);
        check_mistake("path", "async fn copy(path: String) {}", "copy", says);
        for other in ["struct Copy { path: String }", "fn copy(path: String) -> R;", "impl Copy {}"] {
            let (_, says) = told("path", other);
            assert!(says.starts_with("`require_within_roots` needs a function with a body: "), "{says}");
        }
    }

    #[test]
    fn a_future_must_be_one_async_block() {
        let says = "the body of a function that returns a future must be one `async` block, or `Box::pin` of one";
        for (returned, at) in [
            ("impl Future<Output = R> + Send", "impl Future < Output = R > + Send"),
            ("Pin<Box<dyn Future<Output = R>>>", "Pin < Box < dyn Future < Output = R > >>"),
            ("BoxFuture<'_, R>", "BoxFuture < '_ , R >"),
        ] {
            for body in
                ["prepare(path); async move { Ok(()) }", "self.inner.copy(path)", "Box::pin(copy(path))", "async {};"]
            {
                let (place, told) = told("path", &format!("fn copy(&self, path: String) -> {returned} {{ {body} }}"));
                assert_eq!((place.replace(' ', ""), told.as_str()), (at.replace(' ', ""), says), "{body}");
            }
        }
    }

    #[test]
    fn checks_run_before_the_body() {
        let check = "if let :: core :: result :: Result :: Err (error) = \
                     :: rootward_server :: expansion :: check :: < :: rootward_server :: Delete , _ > (& a . 0 . path) \
                     { return :: rootward_server :: expansion :: refused (error) ; }";
        let body = format!("{{ {check} {{ work () }} }}");
        for (function, expect) in [
            ("fn f(a: A) -> R { work() }", format!("fn f (a : A) -> R {body}")),
            ("async fn f(a: A) -> R { work() }", format!("async fn f (a : A) -> R {body}")),
            (
                "fn f(a: A) -> impl Future<Output = R> { async move { work() } }",
                format!("fn f (a : A) -> impl Future < Output = R > {{ async move {body} }}"),
            ),
            (
                "fn f(a: A) -> BoxFuture<R> { ::std::boxed::Box::pin(async move { work() }) }",
                format!("fn f (a : A) -> BoxFuture < R > {{ :: std :: boxed :: Box :: pin (async move {body}) }}"),
            ),
        ] {
            assert_eq!(written("a.0.path: delete", function), expect);
        }
    }

    #[test]
    fn without_a_list_the_argument_called_path_is_checked() {
        assert_eq!(written("", COPY), written("path", COPY));
        let plain = "async fn show(path: String, lines: u64) -> R { work() }";
        assert_eq!(written("", plain), written("path: read", plain));
    }

    #[test]
    fn a_mistake_leaves_the_function_for_other_errors_to_be_found() {
        let out = attribute("pat".parse().unwrap(), &COPY.parse().unwrap()).to_string();
        assert!(out.contains("compile_error") && out.contains("fn copy"), "{out}");
    }
}
