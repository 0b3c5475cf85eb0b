//! Loading and dumping files through grants, and files that load others.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::scene::{Scene, fails, query};

#[test]
fn a_file_loads_others_beside_it() {
    let scene = Scene::new();
    let main = ":- use_module('lib/helper').\n:- ensure_loaded(facts).\n:- include(lib/operators).\nbig ~> small.\ntwice(X, Y) :- double(X, Y).\n";
    scene.write("project/main.pl", main);
    scene.write("project/facts.pl", "fact(1).\n");
    scene.write(
        "project/lib/helper.pl",
        ":- module(helper, [double/2]).\n:- use_module(deeper).\ndouble(X, Y) :- times(2, X, Y).\n",
    );
    // A cycle, which Prolog allows.
    scene.write(
        "project/lib/deeper.pl",
        ":- module(deeper, [times/3]).\n:- use_module(helper).\ntimes(N, X, Y) :- Y is N * X.\n",
    );
    scene.write("project/lib/operators.pl", ":- op(700, xfx, ~>).\nsmall ~> tiny.\n");
    let mut client = scene.client();
    let path = scene.path("project/main.pl");
    assert_eq!(client.says("knowledge_base_load", json!({"path": "main.pl"})), format!("loaded {}", path.display()));
    assert_eq!(query(&mut client, "twice(4, X), fact(Y)"), "X = 8, Y = 1");
    assert_eq!(query(&mut client, "X ~> Y"), "X = small, Y = tiny\nX = big, Y = small");
    // At run time, too.
    scene.write("project/later.pl", "later(yes).\n");
    assert_eq!(query(&mut client, "consult(later), later(X)"), "X = yes");
    assert_eq!(query(&mut client, "roots_text('facts.pl', X)"), "X = \"fact(1).\\n\"");
    // Predicates from a file can be changed.
    client.says("knowledge_base_assert", json!({"clauses": "fact(2)"}));
    assert_eq!(query(&mut client, "fact(X)"), "X = 1\nX = 2");
}

#[test]
fn files_name_others_only_in_the_roots() {
    let scene = Scene::new();
    let secret = scene.write("other/secret.pl", "secret(42).\n");
    symlink(&secret, scene.path("project/link.pl")).unwrap();
    let names = [
        secret.display().to_string(),
        "../other/secret.pl".to_owned(),
        "link.pl".to_owned(),
        "../other/secret".to_owned(),
    ];
    let mut client = scene.client();
    for name in &names {
        for directive in ["consult", "use_module", "include", "ensure_loaded", "load_files"] {
            scene.write("project/main.pl", &format!(":- {directive}('{name}').\n"));
            let said = client.fails("knowledge_base_load", json!({"path": "main.pl"}));
            assert!(said.contains("Security Error: File must be within allowed roots:"), "{directive} {name}: {said}");
            assert!(!said.contains("42"), "{said}");
        }
        let said = fails(&mut client, &format!("roots_text('{name}', X)"));
        assert!(said.contains("Security Error") && !said.contains("42"), "{name}: {said}");
    }
    assert_eq!(fails(&mut client, "secret(X)"), "Unknown procedure: secret/1");
    scene.write("project/main.pl", ":- use_module(missing).\n");
    let said = client.fails("knowledge_base_load", json!({"path": "main.pl"}));
    assert!(said.contains("source_sink `missing' does not exist"), "{said}");
}

#[test]
fn closed_places_in_a_root_stay_closed() {
    let scene = Scene::new();
    scene.write("project/.env", "secret(42).\n");
    let mut client = scene.client();
    for said in
        [client.fails("knowledge_base_load", json!({"path": ".env"})), fails(&mut client, "roots_text('.env', X)")]
    {
        assert!(said.contains("Security Error") && !said.contains("42"), "{said}");
    }
    let said = client.fails("knowledge_base_dump", json!({"path": ".git/hooks/pre-commit"}));
    assert!(said.contains("Security Error"), "{said}");
}

#[test]
fn errors_in_a_file_are_told_with_their_places() {
    let scene = Scene::new();
    scene.write("project/bad.pl", "good(1).\nbad(X :- true.\nlonely(X) :- true.\n");
    let mut client = scene.client();
    let result = client.result("knowledge_base_load", json!({"path": "bad.pl"}));
    let said = result.failure().to_owned();
    assert!(said.contains("bad.pl in part, errors: 1"), "{said}");
    assert!(said.contains("bad.pl:2:") && said.contains("Singleton variables: [X]"), "{said}");
    assert_eq!((&result.data()["errors"], &result.data()["warnings"]), (&json!(1), &json!(1)));
    assert_eq!(query(&mut client, "good(X)"), "X = 1");
    scene.write("project/binary.pl", "");
    std::fs::write(scene.path("project/binary.pl"), [0xff, 0xfe]).unwrap();
    assert!(client.fails("knowledge_base_load", json!({"path": "binary.pl"})).ends_with("is not UTF-8"));
    assert!(client.fails("knowledge_base_load", json!({"path": "none.pl"})).contains("none.pl"));
    assert!(client.fails("knowledge_base_load", json!({"path": "."})).contains("project"));
}

#[test]
fn a_dump_can_be_loaded_again() {
    let scene = Scene::new();
    let mut client = scene.client();
    query(&mut client, "op(700, xfx, ~>)");
    let clauses = "a ~> 'B c'. r(X) :- X ~> _, \\+ X = \"s\\n\", ( true -> true ; fail ). u(é, 1.5, [x|T], T).";
    client.says("knowledge_base_assert", json!({"clauses": clauses}));
    let said = client.says("knowledge_base_dump", json!({"path": "dump.pl"}));
    assert!(said.starts_with("wrote ") && said.ends_with("project/dump.pl"), "{said}");
    let dumped = scene.read("project/dump.pl");
    assert_eq!(
        client.fails("knowledge_base_dump", json!({"path": "dump.pl"})),
        "`dump.pl` exists; set `overwrite` to replace it"
    );
    let mut other = scene.client();
    other.says("knowledge_base_load", json!({"path": "dump.pl"}));
    assert_eq!(query(&mut other, "r(X), X ~> Y, u(A, B, [x|C], [])"), "X = a, Y = 'B c', A = é, B = 1.5, C = []");
    other.says("knowledge_base_dump", json!({"path": "dump.pl", "overwrite": true}));
    assert_eq!(scene.read("project/dump.pl"), dumped);
    let outside = scene.path("other/dump.pl");
    assert!(other.fails("knowledge_base_dump", json!({"path": outside})).contains("Security Error"));
    assert!(!outside.exists());
}
