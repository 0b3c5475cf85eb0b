//! Arguments that are plain strings: what `require_within_roots` checks, and how.
//!
//! A check applies to a name. Code that uses the name later resolves it again through the system, so the check covers
//! what the system will resolve, if that differs from what a guard resolves.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rootward_core::{Access, Cause, Code, Denial, Grant, PathStyle, PathText};

use crate::error::PathError;
use crate::path::{Last, Use};
use crate::roots::Roots;
use crate::scope::Scope;

/// Checks arguments that are plain strings against the roots of the call, before the body runs.
///
/// ```
/// use rmcp::handler::server::wrapper::Parameters;
/// use rmcp::{tool, tool_router};
/// use rootward_server::{PathError, require_within_roots};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Archive {
///     sources: Vec<String>,
///     destination: String,
/// }
///
/// struct Server;
///
/// #[tool_router(server_handler)]
/// impl Server {
///     #[tool(description = "Pack files")]
///     #[require_within_roots(sources, destination: write)]
///     async fn pack(
///         &self,
///         Parameters(Archive { sources, destination }): Parameters<Archive>,
///     ) -> Result<String, PathError> {
///         // A foreign library, or another program, that takes names and nothing else.
/// #       let _ = sources;
///         Ok(format!("packed into {destination}"))
///     }
/// }
/// ```
///
/// # When to use it
///
/// **A checked string is a verdict about a name, not a handle.** Between the check and the moment the body opens the
/// name, anybody who can write to the directory can swap its target unnoticed. A [`RootedPath`] has no such gap: the
/// check opens it, and it reads what was checked. Use the attribute only if an argument must stay a string because the
/// code that does the work takes names only: another program, a library, an existing tool that is being moved to
/// [`RootedPath`].
///
/// # Syntax
///
/// Each entry is a name that the parameters bind, or fields of one, such as `request.path` or `parameters.0.path`.
/// After a colon comes its use: `read` (the default), `write`, `create`, `delete`, `execute`, which mean the same as
/// [`Read`], [`Write`], [`Create`], [`Delete`] and [`Execute`]. `delete` applies to a link itself, so the body must not
/// follow it; with `create`, the target of a link must also be shared. [`Argument`] lists the allowed types; `None` and
/// an empty list always pass. Without a list, `#[require_within_roots]` checks the argument called `path`, for reading.
///
/// The function may be async or not, a method or not: a tool, a prompt, a resource handler, or any function that runs
/// within a call. It must return a `Result` whose error implements `From<PathError>`, such as `PathError` itself or
/// rmcp's `ErrorData`. Put the attribute above or below `#[tool]` and `#[prompt]`.
///
/// # Behavior
///
/// The attribute checks all arguments in order, then runs the body. If one is refused, the call is refused, and the
/// peer gets the same answer as for a [`RootedPath`]. If the roots are not known yet, the function fails, the service
/// fetches them and runs the call again from its start. If another body calls the function, anything that body did
/// before is done twice. Without [`RootsService::install`] every call fails.
///
/// A guard resolves a relative path from the first root, the system from the working directory; a guard expands `~`,
/// the system does not. Such a path passes only if both readings are shared. A `file:` URI is checked for the path that
/// it names: convert it to a path before you use it as one.
///
/// # Mistakes
///
/// Each of these is a compile error.
///
/// ```compile_fail
/// # use rootward_server::{PathError, require_within_roots};
/// #[require_within_roots(destination)] // no such name
/// fn read(path: String) -> Result<String, PathError> {
///     Ok(path)
/// }
/// ```
/// ```compile_fail
/// # use rootward_server::require_within_roots;
/// #[require_within_roots(path)]
/// fn read(path: String) -> String { // no `Result`
///     path
/// }
/// ```
/// ```compile_fail
/// # use rootward_server::require_within_roots;
/// #[require_within_roots(path)]
/// fn read(path: String) -> Result<String, String> { // an error that is not made from a `PathError`
///     Ok(path)
/// }
/// ```
/// ```compile_fail
/// # use rootward_server::{PathError, require_within_roots};
/// #[require_within_roots(size)]
/// fn read(size: u64) -> Result<String, PathError> { // not a path
///     Ok(size.to_string())
/// }
/// ```
///
/// [`RootedPath`]: crate::RootedPath
/// [`Read`]: crate::Read
/// [`Write`]: crate::Write
/// [`Create`]: crate::Create
/// [`Delete`]: crate::Delete
/// [`Execute`]: crate::Execute
/// [`RootsService::install`]: crate::RootsService::install
pub use rootward_macros::require_within_roots;

/// Types that [`require_within_roots`] can check: `str`, `String`, `Path`, `PathBuf`, `OsStr` and `OsString`; also
/// references, options, vectors and slices of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a path that `require_within_roots` can check",
    label = "not a path",
    note = "it checks strings, paths, and options, vectors and slices of them; of a struct, name the field: `request.path`"
)]
pub trait Argument: sealed::Sealed {
    /// Checks each path in it.
    #[doc(hidden)]
    fn each(&self, check: &mut dyn FnMut(&OsStr) -> Result<(), PathError>) -> Result<(), PathError>;
}

mod sealed {
    /// Sealed: an implementation decides what is checked.
    pub trait Sealed {}
}

macro_rules! names {
    ($($name:ty),*) => {$(
        impl sealed::Sealed for $name {}

        impl Argument for $name {
            fn each(&self, check: &mut dyn FnMut(&OsStr) -> Result<(), PathError>) -> Result<(), PathError> {
                check(self.as_ref())
            }
        }
    )*};
}

names!(str, String, OsStr, OsString, Path, PathBuf);

macro_rules! several {
    ($($several:ty),*) => {$(
        impl<T: Argument> sealed::Sealed for $several {}

        impl<T: Argument> Argument for $several {
            fn each(&self, check: &mut dyn FnMut(&OsStr) -> Result<(), PathError>) -> Result<(), PathError> {
                self.iter().try_for_each(|one| one.each(check))
            }
        }
    )*};
}

several!(Option<T>, Vec<T>, [T]);

impl<T: Argument + ?Sized> sealed::Sealed for &T {}

impl<T: Argument + ?Sized> Argument for &T {
    fn each(&self, check: &mut dyn FnMut(&OsStr) -> Result<(), PathError>) -> Result<(), PathError> {
        (**self).each(check)
    }
}

/// A `Result` that can hold a refusal: the return type of a function with [`require_within_roots`].
#[diagnostic::on_unimplemented(
    message = "a function with `require_within_roots` must return a `Result`, to refuse with, not `{Self}`",
    label = "not a `Result`",
    note = "return `Result<_, PathError>`, or `Result<_, E>` where `E: From<PathError>`"
)]
pub trait Refusable {
    /// Wraps the refusal.
    fn refused(error: PathError) -> Self;
}

impl<T, E: From<PathError>> Refusable for Result<T, E> {
    fn refused(error: PathError) -> Result<T, E> {
        Err(error.into())
    }
}

/// Called by the generated code.
pub fn refused<R: Refusable>(error: PathError) -> R {
    R::refused(error)
}

/// Called by the generated code: checks one argument. As with a deserialized path, it leaves the reason for a failure
/// in the scope, for the wrapper.
pub fn check<A: Use, T: Argument + ?Sized>(argument: &T) -> Result<(), PathError> {
    let scope = Scope::current()?;
    argument.each(&mut |path| {
        let roots = scope.known(Some((&path.to_string_lossy(), A::ACCESS)))?;
        // Resolved more than once, recorded once.
        let decision = allowed::<A>(roots, path);
        roots.on_record(path, A::ACCESS, decision).map(drop).map_err(|denial| {
            scope.refuse(&denial);
            PathError::Denied(denial)
        })
    })
}

fn allowed<A: Use>(roots: &Roots, path: &OsStr) -> Result<Grant, Denial> {
    let grant = used::<A>(roots, path)?;
    // An absolute path or a URI has only one reading.
    if let Ok(PathText::Absolute(_)) = PathText::read(path.as_bytes(), PathStyle::NATIVE, None) {
        return Ok(grant);
    }
    // SECURITY: the body has the name, not the grant, so the path that the system resolves must also be shared
    // (test: a_relative_path_must_be_shared_from_the_working_directory_too)
    let directory = std::env::current_dir().map_err(|_| Denial::new(Code::InvalidPath, path, A::ACCESS))?;
    // Show the peer the path that it sent, not the server's working directory.
    used::<A>(roots, directory.join(path).as_os_str()).map_err(|denial| match denial.cause() {
        Cause::OwnRules(_) => denial.asked_as(path),
        _ => Denial::new(denial.code(), path, A::ACCESS),
    })?;
    Ok(grant)
}

fn used<A: Use>(roots: &Roots, path: &OsStr) -> Result<Grant, Denial> {
    let guard = roots.guard();
    let grant = match A::LAST {
        Last::Followed => guard.check(path, A::ACCESS),
        Last::Meant => guard.check_entry(path, A::ACCESS),
    }?;
    let grant = roots.limited(path, grant)?;
    // SECURITY: most ways to create a file by name write through an existing link
    // (test: a_file_is_not_created_through_a_link)
    if A::LAST == Last::Meant && A::ACCESS == Access::WRITE {
        roots.limited(path, guard.check(path, A::ACCESS)?)?;
    }
    Ok(grant)
}
