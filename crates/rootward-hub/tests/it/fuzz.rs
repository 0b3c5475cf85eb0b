//! Random input from small alphabets, for the scanner and the readings.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;

use proptest::prelude::*;
use rootward_core::Access;
use rootward_hub::recipe::Recipe;
use rootward_hub::scan::{Call, Need, Tool, scan, tool_name};
use rootward_hub::{check, check_path};
use rootward_sandbox::PackageCommand;
use rootward_testkit::fuzz;
use serde_json::value::RawValue;

use crate::model;
use crate::yard::Yard;

#[test]
fn fuzz_scanner() {
    fuzz::run(&model::arguments(), |arguments| model::agrees(&arguments));
}

/// No JSON and no method makes the scanner panic, and `tool_name` agrees with serde.
#[test]
fn fuzz_params() {
    let methods = vec!["tools/call", "prompts/get", "resources/read", "completion/complete", "x/y"];
    fuzz::run(&(prop::sample::select(methods), model::arguments(), any::<bool>()), |(method, params, wrapped)| {
        let params = if wrapped {
            serde_json::json!({"ref": params, "argument": params, "_meta": params, "name": params})
        } else {
            params
        };
        let raw = RawValue::from_string(params.to_string()).unwrap();
        let tool = Tool::named("read");
        let mut count = 0;
        let _ = scan(&Call { method, params: Some(&raw), tool: Some(&tool) }, &mut |_| count += 1);
        let name = tool_name(&raw);
        prop_assert_eq!(name.as_deref(), params.get("name").and_then(|name| name.as_str()));
        Ok(())
    });
}

/// Whether a text leads above the directory that it is joined to: `a/../b` and `http://..` do not.
fn climbs_out(text: &str) -> bool {
    let steps = text.split('/').map(|name| match name {
        "" | "." => 0,
        ".." => -1,
        _ => 1,
    });
    steps
        .scan(0, |depth, step| {
            Some({
                *depth += step;
                *depth
            })
        })
        .any(|depth| depth < 0)
}

/// If a path passes, the guard allows it, and also its trimmed, unquoted, decoded and slash-converted forms.
#[test]
fn fuzz_readings() {
    let yard = Yard::new("rw");
    let inside = |text: &str| match yard.guard.check(text, Access::READ) {
        Ok(_) => true,
        Err(denial) => match denial.code().as_str() {
            "invalid_path" => true,
            // The guard parses a URL. A server that uses it as a name stays below its directory, unless the name
            // climbs out.
            "unsupported_scheme" => !climbs_out(text),
            _ => false,
        },
    };
    fuzz::run(&model::text(), |text| {
        let call = RawValue::from_string(serde_json::json!({"arguments": {"path": text}}).to_string()).unwrap();
        let verdict = check(
            &yard.guard,
            &yard.expansion,
            yard.protection,
            &Call { method: "tools/call", params: Some(&call), tool: None },
        );
        let Ok(verdict) = verdict else { return Ok(()) };
        if verdict.refused().is_some() {
            return Ok(());
        }
        prop_assert!(check_path(&yard.guard, &yard.expansion, &text, Need::READ).is_ok());
        if text.contains("://") || text.to_lowercase().contains("file:") {
            return Ok(());
        }
        let turned = text.replace('\\', "/");
        for reading in [
            text.as_str(),
            text.trim(),
            text.trim_matches(['"', '\'', ' ']),
            &turned,
            turned.trim(),
            &text.replace("%2f", "/").replace("%2e", "."),
        ] {
            prop_assert!(reading.is_empty() || inside(reading), "{text:?} passes, {reading:?} does not");
        }
        Ok(())
    });
}

/// For any recipe text: no panic, and a parsed recipe contains only registry packages, absolute places, and none of
/// Rootward's variables.
#[test]
fn fuzz_recipes() {
    let keys = ["packages", "programs", "env", "home", "directories", "[set]", "[arguments]", "[allow]", "read", "X"];
    let values = [
        "npm:@a/b", "npm:..", "pypi:a", "/a/../b", "~/x", "../x", "HOME", "A_*", "*", "env:PATH", "text", "a.b", "\\",
        "'",
    ];
    let line =
        (prop::sample::select(keys.to_vec()), prop::collection::vec(prop::sample::select(values.to_vec()), 0..3));
    fuzz::run(&prop::collection::vec(line, 0..6), |lines| {
        let mut text = "about = \"x\"\n".to_owned();
        for (key, values) in lines {
            let list = values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>();
            let _ = match key {
                "[set]" | "[arguments]" | "[allow]" => writeln!(text, "{key}"),
                "home" | "directories" | "X" => writeln!(text, "{key} = {}", list.first().map_or("7", String::as_str)),
                _ => writeln!(text, "{key} = [{}]", list.join(", ")),
            };
        }
        let Ok(recipe) = Recipe::read("x", &text) else { return Ok(()) };
        prop_assert!(recipe.packages.iter().all(|(_, name)| !name.contains("..") && !name.starts_with('/')), "{text}");
        prop_assert!(!recipe.set.contains_key("HOME") && !recipe.set.contains_key("PATH"), "{text}");
        let places = recipe.allow.read.iter().chain(&recipe.allow.write).chain(&recipe.allow.sockets);
        for place in places {
            let place = place.to_str().unwrap();
            prop_assert!(place.starts_with('/') || place.starts_with("~/"), "{text}");
            prop_assert!(!place.split('/').any(|part| part == ".."), "{text}");
        }
        Ok(())
    });
}

/// For any command line: a word that is taken for a package is a name that only a registry knows.
#[test]
fn fuzz_package_commands() {
    let programs = ["npx", "bunx", "pnpm", "uvx", "uv", "pipx", "./npx", "node"];
    let words = [
        "-y",
        "--",
        "dlx",
        "run",
        "tool",
        "-p",
        "--from",
        "--with",
        "--registry",
        "@a/b",
        "a@1",
        "a@latest",
        "a==1",
        "a[x]",
        "./a",
        "../a",
        "/a",
        "a/b",
        "file:a",
        "git+ssh://h/a",
        "a@npm:b",
        "a@./b",
        "http://h/a",
        "~/a",
        ".",
        "..",
        "@",
        "@/a",
        "a@",
        "-",
    ];
    let line =
        (prop::sample::select(programs.to_vec()), prop::collection::vec(prop::sample::select(words.to_vec()), 0..6));
    fuzz::run(&line, |(program, words)| {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let Some(package) = PackageCommand::read(OsStr::new(program), &words) else { return Ok(()) };
        prop_assert!(package.before >= 1 && package.before <= words.len());
        prop_assert!(!package.spec().contains(':') && !package.spec().contains(".."), "{package:?}");
        let slashes = package.name.matches('/').count();
        prop_assert!(
            slashes == usize::from(package.name.starts_with('@')) && !package.name.starts_with(['.', '/', '-']),
            "{package:?}"
        );
        Ok(())
    });
}
