//! What `schemas.json` says is what the tools take and answer with.

use std::fs;
use std::path::Path;

use rootward_files::schemas_of_types;

#[test]
fn what_is_written_down_is_what_the_types_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schemas.json");
    let says = schemas_of_types();
    if std::env::var_os("ROOTWARD_UPDATE").is_some() {
        fs::write(&file, &says).unwrap();
    }
    let there = fs::read_to_string(&file).unwrap();
    assert!(there == says, "src/schemas.json is not what the types say: run the test with ROOTWARD_UPDATE=1\n{says}");
}
