//! The function below the attribute: the names it binds, and where its body begins.

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{
    Block, Expr, FnArg, GenericArgument, ImplItemFn, PatIdent, PathArguments, ReturnType, Signature, Stmt, Type,
    TypeParamBound,
};

use crate::mistake::Mistake;

/// The names that the parameters bind, in order.
pub(crate) fn bound(signature: &Signature) -> Vec<Ident> {
    struct Names(Vec<Ident>);
    impl Visit<'_> for Names {
        fn visit_pat_ident(&mut self, pattern: &PatIdent) {
            self.0.push(pattern.ident.clone());
            visit::visit_pat_ident(self, pattern);
        }
    }
    let mut names = Names(Vec::new());
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) => names.0.push(Ident::new("self", receiver.self_token.span)),
            FnArg::Typed(typed) => names.visit_pat(&typed.pat),
        }
    }
    names.0
}

/// The type that the function returns.
pub(crate) fn returned(signature: &Signature) -> Result<&Type, Mistake> {
    match &signature.output {
        ReturnType::Type(_, returned) => Ok(returned),
        ReturnType::Default => {
            let name = &signature.ident;
            Err(Mistake::new(name, format!("`{name}` must return a `Result`, to refuse with: `Result<_, PathError>`")))
        }
    }
}

/// The block that runs when the function is called. If the function returns a future, that is the block inside the
/// future.
pub(crate) fn body(function: &mut ImplItemFn) -> Result<&mut Block, Mistake> {
    let returned = returned(&function.sig)?;
    if function.sig.asyncness.is_some() || !is_future(returned) {
        return Ok(&mut function.block);
    }
    // SECURITY: code before the future would run unchecked, so none is allowed (test: a_future_must_be_one_async_block)
    let says = "the body of a function that returns a future must be one `async` block, or `Box::pin` of one";
    let mistake = Mistake::new(returned, says);
    let [Stmt::Expr(future, None)] = function.block.stmts.as_mut_slice() else {
        return Err(mistake);
    };
    async_block(future).ok_or(mistake)
}

/// Whether a type looks like a future. `#[tool]`, `#[prompt]` and the macros for async traits replace `async` by such a
/// type.
fn is_future(returned: &Type) -> bool {
    match returned {
        Type::ImplTrait(returned) => returned.bounds.iter().any(is_named_future),
        Type::TraitObject(returned) => returned.bounds.iter().any(is_named_future),
        Type::Paren(returned) => is_future(&returned.elem),
        Type::Group(returned) => is_future(&returned.elem),
        Type::Path(returned) => returned.path.segments.last().is_some_and(|last| {
            let name = &last.ident;
            let holds = ["Pin", "Box"].iter().any(|known| name == known);
            let is = ["BoxFuture", "LocalBoxFuture"].iter().any(|known| name == known);
            is || (holds && types_in(&last.arguments).any(is_future))
        }),
        _ => false,
    }
}

fn is_named_future(bound: &TypeParamBound) -> bool {
    let TypeParamBound::Trait(bound) = bound else { return false };
    bound.path.segments.last().is_some_and(|last| last.ident == "Future")
}

fn types_in(arguments: &PathArguments) -> impl Iterator<Item = &Type> {
    let arguments = match arguments {
        PathArguments::AngleBracketed(arguments) => Some(arguments.args.iter()),
        _ => None,
    };
    arguments.into_iter().flatten().filter_map(|argument| match argument {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    })
}

fn async_block(future: &mut Expr) -> Option<&mut Block> {
    match future {
        Expr::Async(future) => Some(&mut future.block),
        Expr::Call(call) => match &*call.func {
            Expr::Path(called) if called.path.segments.last()?.ident == "pin" && call.args.len() == 1 => {
                async_block(call.args.first_mut()?)
            }
            _ => None,
        },
        _ => None,
    }
}
