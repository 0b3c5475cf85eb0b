//! Generates `docs/closed.md` from the tables: with `ROOTWARD_UPDATE=1` it writes the page, otherwise it checks that
//! the page is current.

use std::fmt::Write;
use std::path::Path;

use rootward_core::{Class, Closed, Restriction, places};

const HEAD: &str = "# What stays closed

These places stay closed below every root, in any directory, with everything in them. `*` matches any characters of a name, `**` any
directories. Upper and lower case are the same. `rootward doctor --closed` prints this list, with the places that your settings and saved
roots add.

The operator opens one of them by naming it as a root: `--root ~/project/.env`. A client cannot.

This page is generated from `crates/rootward-core/src/places.rs`.
";

fn page() -> String {
    let rules = Restriction::standard();
    let mut page = String::from(HEAD);
    for (class, title, says) in [
        (
            Class::Secret,
            "Secret places",
            "Closed for everything. A confined process cannot reach them either ([sandbox.md](sandbox.md)).",
        ),
        (
            Class::RunsCode,
            "Places that run code for you",
            "Closed for writing. `.git` itself cannot be replaced or removed; its contents are open, except for the entries below.",
        ),
        (
            Class::Guarded,
            "Guarded files",
            "Refused in calls and by the tools of `rootward serve`, which do not list or search them either. The kernel leaves them open, because a project's own programs need them. So they never prevent a server from starting, but a confined server can read them and send them anywhere.",
        ),
        (
            Class::Own,
            "Rootward's own places",
            "Closed for everything, no matter who names them. If environment variables move them, they are closed there as well.",
        ),
    ] {
        let _ = writeln!(page, "\n## {title}\n\n{says}\n");
        for rule in rules.iter().filter(|rule| rule.class() == class) {
            let expect = if class == Class::RunsCode { Closed::ForWriting } else { Closed::Entirely };
            assert_eq!(rule.closed(), expect, "{}: the page does not match", rule.pattern());
            let _ = writeln!(page, "- `{}`", rule.pattern());
        }
        if class == Class::Guarded {
            let ends: Vec<String> = places::TEMPLATES.iter().map(|end| format!("`{end}`")).collect();
            let _ = writeln!(
                page,
                "\nA name that `.env.*` matches stays open if it ends in {}: a template is made to be shared.",
                ends.join(", ")
            );
        }
    }
    page
}

#[test]
fn the_page_lists_what_the_tables_close() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/closed.md");
    if std::env::var_os("ROOTWARD_UPDATE").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page(), "docs/closed.md is out of date: run this test with ROOTWARD_UPDATE=1");
}
