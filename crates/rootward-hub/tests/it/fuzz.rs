//! Random input from small alphabets, through the scanner and the readings.

use proptest::prelude::*;
use rootward_core::Access;
use rootward_hub::scan::{Call, Need, Tool, scan, tool_name};
use rootward_hub::{check, check_path};
use rootward_testkit::fuzz;
use serde_json::value::RawValue;

use crate::model;
use crate::yard::Yard;

#[test]
fn fuzz_scanner() {
    fuzz::run(&model::arguments(), |arguments| model::agrees(&arguments));
}

/// Whatever JSON it is, no method makes the scanner panic, and every reader of the name agrees with serde.
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

/// A path that passes is one that the guard itself lets pass, and so is what it becomes once trimmed, unquoted, decoded and turned.
#[test]
fn fuzz_readings() {
    let yard = Yard::new("rw");
    let inside = |text: &str| match yard.guard.check(text, Access::READ) {
        Ok(_) => true,
        Err(denial) => match denial.code().as_str() {
            "invalid_path" => true,
            // The guard reads a URL. A server that takes it for a name stays below its directory, unless the name climbs.
            "unsupported_scheme" => !text.contains(".."),
            _ => false,
        },
    };
    fuzz::run(&model::text(), |text| {
        let call = RawValue::from_string(serde_json::json!({"arguments": {"path": text}}).to_string()).unwrap();
        let verdict = check(
            &yard.guard,
            &yard.expansion,
            yard.held,
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
