//! An argument that is a grant: a path that was decided before the tool's body sees it.

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

/// A path from a peer, decided and pinned: deserialises from a string, and is a [`Grant`].
///
/// What it may be used for is in its type. Use it anywhere in a tool's arguments, nested or in lists; one path that is refused
/// refuses the call. Not so where reading goes on without it: in an `untagged` enum beside a `String`, say, a path that is
/// refused, or that comes before the roots are known, reads as that text.
pub struct RootedPath<A = Read> {
    grant: Grant,
    asked: Box<str>,
    kind: PhantomData<fn() -> A>,
}

/// What a path is used for.
pub trait Use: 'static {
    /// The access it takes.
    const ACCESS: Access;
    /// Whether a link in the last place is followed, or meant itself.
    const LAST: Last;
    /// Shown in the schema.
    const WORD: &'static str;

    /// What else a text names, for a server whose lists show some names escaped; usually nothing. See [`Roots::check_either`].
    fn other_reading(_: &str) -> Option<OtherReading> {
        None
    }
}

/// What a text names where nothing has it as its path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherReading {
    /// The path that is meant, if something is there.
    pub existing: OsString,
    /// The path that is meant, if nothing is there yet; none where that is the text itself.
    pub new: Option<NewReading>,
}

/// What a text names where nothing is yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewReading {
    /// The path.
    pub path: OsString,
    /// A directory above it, which must exist.
    pub directory: OsString,
    /// The same directory as the text has it, which must not.
    pub as_text: String,
}

/// What is meant where the last name of a path is a link.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Last {
    /// What it leads to.
    Followed,
    /// The link itself.
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
    /// To look at: metadata, contents, entries.
    Read = Access::READ, Followed, "read";
    /// To write, whether or not it is there.
    Write = Access::WRITE, Followed, "write";
    /// To edit: to read and to write.
    ReadWrite = Access::READ.with(Access::WRITE), Followed, "read-write";
    /// To create anew: a link that stands there is in the way.
    Create = Access::WRITE, Meant, "create";
    /// To remove, or to move away: a link is removed, not what it leads to.
    Delete = Access::DELETE, Meant, "delete";
    /// To run.
    Execute = Access::EXECUTE, Followed, "execute";
}

impl<A> RootedPath<A> {
    /// The path as the peer wrote it, for answers: a peer recognises its own words. Not to open anything by.
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// The grant.
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

/// A string that says in `x-rootward-access` what it is used for. Not a `format`: some clients warn about formats that they do not know.
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

/// The whole of the roots, as a parameter of a tool or a prompt.
impl<C> FromContextPart<C> for Roots {
    fn from_context_part(_: &mut C) -> Result<Roots, ErrorData> {
        Ok(Scope::current()?.known(None)?.clone())
    }
}
