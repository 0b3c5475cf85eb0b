//! Strings that look like an absolute path but lead nowhere on this machine: `/facebook/react` is a library id,
//! `/api/users` a route.
//!
//! A path leads nowhere if its first component does not exist in `/`. Only root can write to `/`, so nobody else can
//! create that name after the check. If root does, the kernel still confines the server. That is why this applies
//! only to servers that the kernel confines on this machine ([`Protection`]). In a container, or behind a path map, `/` is
//! a different directory.

use std::ffi::OsStr;
use std::ops::ControlFlow;

use rootward_core::TopNames;
use unicode_normalization::UnicodeNormalization;

use super::expansion::Expansion;
use super::readings::Reader;
use super::value::is_invisible;

/// What keeps a server within its roots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Protection {
    /// Only the check of its calls: every string that looks like a path is checked as one.
    #[default]
    CallsOnly,
    /// The kernel as well, and the server sees the same `/` as this process.
    Kernel,
    /// The server runs on another machine and cannot see files of this one: no string in its calls is checked as a
    /// path.
    Elsewhere,
}

/// The names directly in `/`, read on first use and kept for one message.
#[derive(Default, Debug)]
pub(crate) struct Top(Option<Names>);

#[derive(Debug)]
enum Names {
    Known {
        now: TopNames,
        /// The listed names, folded.
        listed: Vec<String>,
    },
    /// They cannot be read.
    Unknown,
}

impl Top {
    /// Whether every reading of a text is an absolute path that leads nowhere.
    pub(crate) fn leads_nowhere(&mut self, text: &str, expansion: &Expansion) -> bool {
        let each = Reader::each(expansion, text, &mut |reading, _| {
            // SECURITY: if one reading may lead somewhere, the text is checked as a path
            // (test: a_string_is_judged_as_a_path_if_any_reading_leads_somewhere)
            if self.lacks_first_name(reading) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        // SECURITY: with more readings than the limit, some were not examined
        // (test: a_string_is_judged_as_a_path_if_any_reading_leads_somewhere)
        each.is_ok()
    }

    fn lacks_first_name(&mut self, reading: &str) -> bool {
        // SECURITY: joined to a directory, or collapsed as text, `..` leads out of the examined path
        // (test: a_string_is_judged_as_a_path_if_any_reading_leads_somewhere)
        if !reading.starts_with('/') || reading.contains("..") {
            return false;
        }
        // Two leading slashes may mean a share on another machine (POSIX, XBD 4.13; `//host/share`).
        if reading.starts_with("//") {
            return false;
        }
        let first = reading.split('/').find(|name| !matches!(*name, "" | "."));
        first.is_some_and(|name| is_plain_name(name) && self.lack(name))
    }

    fn lack(&mut self, name: &str) -> bool {
        match self.0.get_or_insert_with(Names::read_ambient) {
            Names::Unknown => false,
            Names::Known { now, listed } => {
                // SECURITY: a server or a file system may accept another spelling of an existing name
                // (test: another_spelling_of_a_name_that_exists_is_not_missing)
                !listed.contains(&folded(name)) && now.lacks(OsStr::new(name))
            }
        }
    }
}

impl Names {
    fn read_ambient() -> Names {
        match TopNames::read_ambient() {
            Ok(now) => Names::Known { listed: now.listed().map(|name| folded(&name.to_string_lossy())).collect(), now },
            Err(_) => Names::Unknown,
        }
    }
}

/// Whether a name has no character that a shell, a pattern or a decoder would interpret.
fn is_plain_name(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '+' | ':' | ' '))
}

/// Maps all spellings that some parser treats as equal to one form: ignores case, compatibility characters (UAX #15),
/// invisible characters, and blanks at the ends.
fn folded(name: &str) -> String {
    let seen: String = name.chars().filter(|c| !is_invisible(*c)).nfkc().flat_map(char::to_lowercase).nfkc().collect();
    seen.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nowhere(text: &str) -> bool {
        let variables = [("DATA".to_owned(), "/usr".to_owned())].into();
        let expansion = Expansion { home: Some("/root".to_owned()), variables };
        Top::default().leads_nowhere(text, &expansion)
    }

    #[test]
    fn strings_that_lead_nowhere() {
        for text in [
            "/facebook/react",
            "/vercel/next.js/v14.3.0-canary.87",
            "/api/users",
            "/api/users/",
            "/api/users/{id}",
            "/api/users/:id",
            "/api/users?limit=10&order=asc",
            "/platforms/javascript/guides/nextjs/#install",
            "/@angular/core",
            "/./facebook",
            "/käse/straße",
            "/my notes/today",
        ] {
            assert!(nowhere(text), "{text}");
        }
    }

    #[test]
    fn a_string_is_judged_as_a_path_if_any_reading_leads_somewhere() {
        for text in [
            "/",
            "//",
            "/.",
            "/./",
            "/etc",
            "/etc/",
            "//etc/passwd",
            "//facebook/react",
            "/\\facebook/react",
            "/./etc/passwd",
            "/.//./etc",
            "/proc/self/root/facebook",
            "/facebook/../etc/passwd",
            "/facebook/..",
            "/a..b",
            "/facebook/%2e%2e/etc",
            "/facebook%2f..%2fetc",
            "/facebook/%252e%252e/etc",
            "/facebook/\u{fe30}/etc",
            "/facebook/.\u{200b}./etc",
            "/facebook/.{.,x}/etc",
            "/facebook/.$NONE./etc",
            "/%65tc/passwd",
            "/%2565tc/passwd",
            "/\u{ff45}tc/passwd",
            "/e\u{200b}tc/passwd",
            "/e\u{ad}tc/passwd",
            "/\\etc/passwd",
            "/e\\tc/passwd",
            "/\"etc\"/passwd",
            "/'et'c/passwd",
            "/$NONE/etc/passwd",
            "/${NONE}etc/passwd",
            "/${NONE:-etc}/passwd",
            "/$DATA/bin",
            "/*/passwd",
            "/e*/passwd",
            "/?tc/passwd",
            "/[e]tc/passwd",
            "/{etc,x}/passwd",
            "/@(etc)/passwd",
            "/~root/x",
            "/facebook /etc/passwd",
            "/facebook,/etc/passwd",
            "/facebook:/etc/passwd",
            "/facebook;../x",
            "/facebook ~/x",
            "/facebook\n/etc/passwd",
            "/facebook\n",
            "/face\0book",
            "/etc\0/facebook",
            "/facebook file:///etc/passwd",
            "/facebook?file=/etc/passwd",
            "/facebook?file=file:///facebook",
            " /facebook",
            "\"/facebook\"",
            "facebook",
            "~/facebook",
            "./facebook",
            "C:/facebook",
            "\\\\facebook\\react",
            "file:///facebook/react",
            "file:/facebook/react",
            "--output=/facebook",
        ] {
            assert!(!nowhere(text), "{text:?}");
        }
        let many: Vec<String> = (0..2000).map(|number| format!("/facebook{number}")).collect();
        assert!(!nowhere(&many.join(",")));
        assert!(!nowhere(&format!("/{}", "x".repeat(300))));
    }

    #[test]
    fn another_spelling_of_a_name_that_exists_is_not_missing() {
        for text in ["/ETC/passwd", "/Etc", "/\u{ff25}TC", "/ etc/passwd", "/etc /passwd", "/U\u{17f}R", "/PROC/1/root"]
        {
            assert!(!nowhere(text), "{text:?}");
        }
        assert_eq!(folded("e\u{301}"), folded("\u{c9}"));
    }

    #[test]
    fn names_that_cannot_be_read_are_not_missing() {
        let mut top = Top(Some(Names::Unknown));
        assert!(!top.leads_nowhere("/facebook/react", &Expansion::default()));
    }
}
