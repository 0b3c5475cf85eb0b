//! An argument that is a grant: a path that was checked before the tool's body sees it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use rmcp::ErrorData;
use rmcp::handler::server::common::FromContextPart;
use rootward_core::{Access, Grant};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};

use crate::roots::Roots;
use crate::scope::Scope;

/// A path from a peer, checked and opened: deserializes from a string, and is a [`Grant`].
///
/// Its type says what it may be used for. Use it anywhere in a tool's arguments, nested or in lists; if one path is
/// refused, the call is refused. The exception is a type that can deserialize without it: in an `untagged` enum next to
/// a `String`, for example, a path that is refused, or that arrives before the roots are known, becomes that string.
pub struct RootedPath<A = Read> {
    grant: Grant,
    asked: Box<str>,
    kind: PhantomData<fn() -> A>,
}

/// What a path is used for.
pub trait Use: 'static {
    /// The required access.
    const ACCESS: Access;
    /// Whether a link as the last component is followed.
    const LAST: Last;
    /// The word shown in the schema.
    const WORD: &'static str;

    /// A second reading of the text, for a server whose lists show some names escaped; usually `None`. See
    /// [`Roots::check_either`].
    fn other_reading(_: &str) -> Option<OtherReading> {
        None
    }
}

/// What a text means if nothing exists at its literal path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherReading {
    /// The intended path, if something exists there.
    pub existing: OsString,
    /// The intended path, if nothing exists there yet; `None` if that is the literal text.
    pub new: Option<NewReading>,
}

/// What a text means for a file that does not exist yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewReading {
    /// The path.
    pub path: OsString,
    /// The parent directory, which must exist.
    pub directory: OsString,
    /// The parent directory according to the literal text, which must not exist.
    pub as_text: String,
}

/// How to treat a link as the last component of a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Last {
    /// Use its target.
    Followed,
    /// Use the link itself.
    Meant,
}

macro_rules! uses {
    ($($(#[$documentation:meta])* $name:ident = $access:expr, $last:ident, $word:literal;)*) => {$(
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Use for $name {
            const ACCESS: Access = $access;
            const LAST: Last = Last::$last;
            const WORD: &'static str = $word;
        }
    )*};
}

uses! {
    /// To read metadata, contents or entries.
    Read = Access::READ, Followed, "read";
    /// To write, whether or not it exists.
    Write = Access::WRITE, Followed, "write";
    /// To edit: read and write.
    ReadWrite = Access::READ.with(Access::WRITE), Followed, "read-write";
    /// To create: an existing link is an error.
    Create = Access::WRITE, Meant, "create";
    /// To remove or move away: a link is removed, not its target.
    Delete = Access::DELETE, Meant, "delete";
    /// To execute.
    Execute = Access::EXECUTE, Followed, "execute";
}

impl<A> RootedPath<A> {
    /// The path as the peer wrote it, for answers: a peer recognizes its own spelling. Do not open anything by it.
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// Converts this path into its grant.
    pub fn into_grant(self) -> Grant {
        self.grant
    }
}

impl<A> Deref for RootedPath<A> {
    type Target = Grant;

    fn deref(&self) -> &Grant {
        &self.grant
    }
}

impl<A> fmt::Debug for RootedPath<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RootedPath").field(&self.grant).finish()
    }
}

impl<'de, A: Use> Deserialize<'de> for RootedPath<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RootedPath<A>, D::Error> {
        let path = String::deserialize(deserializer)?;
        let scope = Scope::current().map_err(D::Error::custom)?;
        let roots = scope.known(Some((&path, A::ACCESS))).map_err(D::Error::custom)?;
        match roots.check_either(&path, A::other_reading(&path).as_ref(), A::ACCESS, A::LAST) {
            Ok(grant) => Ok(RootedPath { grant, asked: path.into(), kind: PhantomData }),
            Err(denial) => Err(D::Error::custom(scope.refuse(&denial).sentence())),
        }
    }
}

/// A string whose `x-rootward-access` says what it is used for. Not a `format`: some clients warn about unknown
/// formats.
impl<A: Use> JsonSchema for RootedPath<A> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("RootedPath_{}", A::WORD).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "x-rootward-access": A::WORD,
        })
    }
}

/// Lets a tool or a prompt take all roots as a parameter.
impl<C> FromContextPart<C> for Roots {
    fn from_context_part(_: &mut C) -> Result<Roots, ErrorData> {
        Ok(Scope::current()?.known(None)?.clone())
    }
}
