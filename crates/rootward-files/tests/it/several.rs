//! `read_multiple_files`: each path is checked, read and reported separately.

use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn one_unreadable_file_does_not_affect_the_others() {
    let stage = Stage::new();
    stage.file("root/a", "one\n");
    stage.file("root/b", "two");
    stage.file("root/binary", "\0");
    stage.fifo("root/fifo");
    let outside = stage.name("outside/secret.txt");
    let mut client = stage.connect(&["root:ro"]).await;
    let paths = ["a", "missing", &outside, "b", "binary", "fifo", "."];
    let answered = client.result("read_multiple_files", json!({"paths": paths})).await;
    assert_eq!(answered["isError"], false);
    assert_eq!(answered.data()["content"], answered.text());
    let parts: Vec<&str> = answered.text().split("\n---\n").collect();
    let expect = [
        "a:\none\n\n".trim_end_matches('\n').to_owned() + "\n\n",
        "missing: Error - ".to_owned(),
        format!("{outside}: Error - path `{outside}` is outside every root; current roots:"),
        "b:\ntwo\n".to_owned(),
        "binary: Error - ".to_owned(),
        "fifo: Error - ".to_owned(),
        ".: Error - ".to_owned(),
    ];
    assert_eq!(parts.len(), expect.len(), "{parts:?}");
    for (part, expect) in parts.iter().zip(&expect) {
        assert!(part.starts_with(expect.as_str()), "{part:?}");
    }
    assert_eq!((parts[0], parts[3]), (expect[0].as_str(), expect[3].as_str()));
    assert!(!answered.text().contains("SECRET"));
}

#[tokio::test]
async fn files_that_do_not_fit_are_left_out() {
    let stage = Stage::new();
    for name in ["a", "b", "c"] {
        stage.file(&format!("root/{name}"), "x".repeat(3 << 20));
    }
    stage.file("root/small", "small");
    let mut client = stage.connect(&["root"]).await;
    let text = client.says("read_multiple_files", json!({"paths": ["a", "b", "c", "small"]})).await;
    assert!(text.contains("\n---\nc: Error - left out: "), "{}", text.len());
    assert!(text.ends_with("\n---\nsmall:\nsmall\n"));
    let many: Vec<String> = (0..1001).map(|number| number.to_string()).collect();
    for (paths, says) in [(json!([]), "name at least one file"), (json!(many), "1001 files are too many")] {
        let sentence = client.fails("read_multiple_files", json!({"paths": paths})).await;
        assert!(sentence.contains(says), "{sentence}");
    }
}
