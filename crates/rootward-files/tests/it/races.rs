//! Races through the protocol: the target of a path is swapped while tools use the path.
//!
//! These calls end in the core, which has races of its own, so a quarter of its attempts is enough: 5,000 in the short form, 250,000 with
//! `ROOTWARD_LONG=1`.

use std::sync::atomic::{AtomicUsize, Ordering};

use rootward_testkit::door::Request;
use rootward_testkit::escape::Act;
use rootward_testkit::race::{self, Race};
use serde_json::json;

use crate::door::{Call, Server, ToolDoor};

/// Uses each tool that can do an act in turn.
fn in_turn(server: Server) -> ToolDoor {
    let count = AtomicUsize::new(0);
    ToolDoor::new(server, move |request: &Request| {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let path = text(&request.path)?;
        let data = text(&request.data)?;
        let to = text(request.to.as_deref().unwrap_or_default())?;
        let edits = json!([{"oldText": "i", "newText": data}]);
        let calls: Vec<Call> = match request.act {
            Act::Read => vec![
                ("read_text_file", json!({"path": path})),
                ("read_text_file", json!({"path": path, "tail": 1})),
                ("read_multiple_files", json!({"paths": [path]})),
                ("read_media_file", json!({"path": path})),
            ],
            Act::List => vec![
                ("list_directory", json!({"path": path})),
                ("list_directory_with_sizes", json!({"path": path})),
                ("directory_tree", json!({"path": path})),
                ("search_files", json!({"path": path, "pattern": "**"})),
                // From the parent, so that the walk itself meets the swapped entry.
                ("directory_tree", json!({"path": "."})),
                ("find_documentation", json!({"path": path})),
                ("analyze_project", json!({})),
                ("build_configuration", json!({})),
                ("search_files", json!({"path": ".", "pattern": "**/*"})),
            ],
            Act::Put => vec![
                ("write_file", json!({"path": path, "content": data})),
                ("edit_file", json!({"path": path, "edits": edits})),
                ("append_file", json!({"path": path, "content": data})),
            ],
            Act::CreateNew => vec![
                ("write_file", json!({"path": path, "content": data})),
                ("append_file", json!({"path": path, "content": data})),
            ],
            Act::Rename => vec![
                ("move_file", json!({"source": path, "destination": to})),
                ("copy_file", json!({"source": path, "destination": to})),
            ],
            Act::Remove => vec![("delete_file", json!({"path": path}))],
            _ => return None,
        };
        let turn = count.fetch_add(1, Ordering::Relaxed) / Race::ACTS.len();
        Some(vec![calls[turn % calls.len()].clone()])
    })
}

#[test]
fn no_tool_reaches_outside_while_directories_and_links_are_swapped() {
    for (swap, report) in race::run_all(&in_turn(Server::Files), race::attempts() / 4).unwrap() {
        assert_eq!(report.escapes, 0, "{swap:?}: {report}");
        report.assert_clean();
        assert!(report.refused + report.failed > 0, "{swap:?}: the swaps made no difference");
    }
}

/// The control: the same calls to a server that checks a path and then opens it by name.
#[test]
fn the_same_swaps_lead_a_server_outside_that_opens_by_name() {
    for race in Race::ALL {
        let report = race.run_until(&in_turn(Server::ByName), 200_000, |report| report.escapes > 0).unwrap();
        assert!(report.escapes > 0, "{race:?}: {report}");
    }
}
