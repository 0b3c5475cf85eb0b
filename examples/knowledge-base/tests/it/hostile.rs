//! Prolog code that tries to reach files, programs, the network and the server, or to exceed its limits.

use rootward_testkit::client::Client;
use serde_json::json;

use crate::scene::{Scene, fails, fails_late, query};

/// Runs a goal that must fail and keep the process.
fn check(client: &mut Client, goal: &str, says: &str) {
    let said = fails(client, goal);
    assert!(said.contains(says), "{goal}: {said}");
    assert!(!said.contains("process exited"), "{goal}: {said}");
}

/// Runs a goal that ends the process. The next request gets a new process.
fn check_gone(client: &mut Client, goal: &str, says: &str) {
    let said = fails_late(client, goal);
    assert!(said.contains("the Prolog process exited") && said.contains(says), "{goal}: {said}");
    assert_eq!(query(client, "X = 1"), "X = 1", "after {goal}");
}

#[test]
fn prolog_opens_no_file_by_itself() {
    let scene = Scene::new();
    let inside = scene.write("project/data.txt", "secret.");
    let outside = scene.write("other/data.txt", "secret.");
    let mut client = scene.client();
    for path in [
        inside.to_str().unwrap(),
        outside.to_str().unwrap(),
        "/etc/passwd",
        "/etc/hostname",
        "/proc/self/environ",
        "/proc/1/cmdline",
    ] {
        for goal in [
            format!("open('{path}', read, S), read_term(S, T, [])"),
            format!("see('{path}'), read(T)"),
            format!("read_file_to_string('{path}', T, [])"),
            format!("read_file_to_terms('{path}', T, [])"),
            format!("phrase_from_file(([X], {{true}}), '{path}')"),
            format!("open('{path}', append, S), write(S, x)"),
            format!("open('{path}', write, S), write(S, x)"),
            format!("tell('{path}'), write(x), told"),
        ] {
            check(&mut client, &goal, "ermission");
        }
    }
    assert_eq!(
        (std::fs::read_to_string(&inside).unwrap(), std::fs::read_to_string(&outside).unwrap()),
        ("secret.".into(), "secret.".into())
    );
    for path in [inside.to_str().unwrap(), outside.to_str().unwrap()] {
        check(&mut client, &format!("rename_file('{path}', '{path}.old')"), "ermission");
        check(&mut client, &format!("delete_file('{path}')"), "ermission");
    }
    for directory in ["/", "/etc", "/home", "/tmp", scene.path("project").to_str().unwrap()] {
        check(&mut client, &format!("directory_files('{directory}', L)"), "ermission");
    }
    check(&mut client, &format!("make_directory('{}')", scene.path("project/new").display()), "ermission");
}

#[test]
fn nothing_can_be_written() {
    let scene = Scene::new();
    let mut client = scene.client();
    check(
        &mut client,
        "getenv('TMPDIR', D), atom_concat(D, '/x.so', F), open(F, write, S), write(S, hi), close(S)",
        "xfsz",
    );
    check(
        &mut client,
        "getenv('HOME', D), atom_concat(D, '/x', F), open(F, write, S), write(S, hi), close(S)",
        "ermission",
    );
    check(&mut client, "tmp_file_stream(text, F, S), write(S, hi), close(S)", "ermission");
}

#[test]
fn prolog_runs_no_program() {
    let scene = Scene::new();
    let marker = scene.path("project/marker");
    let mut client = scene.client();
    let touch = format!("touch {}", marker.display());
    check(&mut client, &format!("shell('{touch}')"), "programs cannot be run here");
    check(&mut client, "shell('echo hello', Status)", "programs cannot be run here");
    check(&mut client, "shell", "programs cannot be run here");
    // The built-in predicate, which succeeds even if no process can be created.
    client.result("query", json!({"query": format!("system:shell('{touch}')")}));
    check(&mut client, "process_create(path(sh), ['-c', 'id'], [])", "");
    check(&mut client, "process_create('/bin/sh', ['-c', 'id'], [stdout(pipe(O))])", "Unknown procedure");
    check(&mut client, "open(pipe(id), read, S), read_string(S, _, T), T \\== \"\", throw(T)", "");
    check(&mut client, "use_module(library(unix)), fork(P)", "Permission denied");
    check(&mut client, "use_module(library(unix)), exec(id)", "Unknown procedure");
    check(&mut client, "win_exec(id, iconic)", "Unknown procedure");
    assert!(!marker.exists());
}

#[test]
fn prolog_loads_no_foreign_library_of_others() {
    let scene = Scene::new();
    // A valid ELF file in a root: this test program.
    std::fs::copy("/proc/self/exe", scene.path("project/evil.so")).unwrap();
    let mut client = scene.client();
    let evil = scene.path("project/evil.so");
    check(&mut client, &format!("load_foreign_library('{}')", evil.display()), "cannot open shared object file");
    check(&mut client, &format!("open_shared_object('{}', H)", evil.display()), "cannot open shared object file");
    check(&mut client, "load_foreign_library(foreign(unix))", "Permission denied");
    check(&mut client, "load_foreign_library(foreign(process))", "Permission denied");
    // Libraries that only compute are available.
    assert_eq!(
        query(&mut client, "use_module(library(sha)), sha_hash(abc, H, []), length(H, N)").split(", ").last(),
        Some("N = 20")
    );
}

#[test]
fn prolog_has_no_network() {
    let scene = Scene::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    let mut client = scene.client();
    check(&mut client, &format!("tcp_connect('127.0.0.1':{port}, S, [])"), "");
    check(&mut client, "use_module(library(socket)), tcp_socket(S)", "Unknown procedure");
    check(&mut client, "use_module(library(http/http_open)), http_open('http://127.0.0.1/', S, [])", "");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn endless_goals_are_stopped_and_the_knowledge_base_is_kept() {
    let scene = Scene::new();
    let mut client = scene.client();
    client.says("knowledge_base_assert", json!({"clauses": "fact(1). loop :- loop."}));
    for goal in [
        "loop",
        "repeat, fail",
        "catch((repeat, fail), _, true), repeat, fail",
        "between(1, inf, X), X < 0",
        // Not `length(L, N), N < 0`: it also fills the stack, and the machine decides which limit it meets first.
        "repeat, atom_length(abc, N), N < 0",
        // It tries to read the server's requests, and is stopped while it waits for one.
        "open('/proc/self/fd/0', read, S), read_string(S, 10, X)",
    ] {
        let said = fails_late(&mut client, goal);
        assert!(said.contains("timed out after 1000 ms; the knowledge base is kept"), "{goal}: {said}");
        assert_eq!(query(&mut client, "fact(X)"), "X = 1");
    }
}

#[test]
fn goals_that_do_not_stop_are_killed() {
    let scene = Scene::new();
    scene.write("project/facts.pl", "fact(1).");
    let mut client = scene.client();
    for goal in [
        "on_signal(usr1, _, ignore), repeat, fail",
        "Y is 7 ** 7777777, X is Y ** 77777",
        "prolog_alert_signal(_, 0), on_signal(usr1, _, default), repeat, fail",
    ] {
        client.says("knowledge_base_load", json!({"path": "facts.pl"}));
        let said = fails_late(&mut client, goal);
        // The first ignores the signal; whether the others stop depends on where they are.
        assert!(
            !goal.contains("ignore") || said.contains("did not stop after its timeout of 1000 ms"),
            "{goal}: {said}"
        );
        let hinted = said.contains("hint: load these files again: `") && said.contains("facts.pl`");
        assert!(!said.contains("process exited") || hinted, "{goal}: {said}");
        assert_eq!(query(&mut client, "X = 1"), "X = 1", "after {goal}");
    }
}

#[test]
fn deep_recursion_is_an_ordinary_error() {
    let scene = Scene::new();
    let mut client = scene.client();
    client.says(
        "knowledge_base_assert",
        json!({"clauses": "deep(N) :- M is N + 1, deep(M), true. wide(L) :- wide([x|L])."}),
    );
    for goal in ["deep(0)", "wide([])", "numlist(1, 50000000, L)"] {
        let said = client.fails("query", json!({"query": goal, "timeout_ms": 60000}));
        assert!(said.contains("Stack limit") && said.contains("exceeded"), "{goal}: {said}");
    }
    assert_eq!(client.text("symbols_list", json!({})).lines().count(), 2);
}

#[test]
fn a_memory_bomb_ends_the_process_alone() {
    let scene = Scene::new();
    let mut client = scene.client();
    for goal in [
        "between(1, inf, X), assertz(bomb(X, \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\")), fail",
        "set_prolog_flag(agc_margin, 0), between(1, inf, X), atom_concat(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, X, A), nb_setval(A, A), fail",
    ] {
        let said = client.fails("query", json!({"query": goal, "timeout_ms": 60000}));
        assert!(said.contains("the Prolog process exited"), "{goal}: {said}");
        assert_eq!(query(&mut client, "X = 1"), "X = 1");
    }
}

#[test]
fn long_output_is_cut() {
    let scene = Scene::new();
    let mut client = scene.client();
    let said = fails_late(&mut client, "repeat, write(flood), fail");
    assert!(said.contains("timed out after 1000 ms"), "{said}");
    let result = client.result("query", json!({"query": "forall(between(1, 100000, X), (write(X), nl))"}));
    let output = result.data()["output"].as_str().unwrap();
    assert!(output.len() < 70_000 && output.contains("more bytes not shown"), "{}", output.len());
    let result = client.result("query", json!({"query": "between(1, inf, X)", "limit": 1000}));
    assert_eq!((result.data()["answers"].as_array().unwrap().len(), &result.data()["more"]), (1000, &json!(true)));
    let result = client.result("query", json!({"query": "between(1, inf, N), length(X, 10000)", "limit": 1000}));
    assert!(result.text().len() < 600_000 && result.data()["more"] == true, "{}", result.text().len());
    let result = client.result("query", json!({"query": "numlist(1, 1000000, X)"}));
    assert!(result.success().len() < 300_000, "{}", result.text().len());
    assert!(query(&mut client, "X = f(X)").len() < 2000);
}

#[test]
fn printing_into_the_replies_breaks_nothing() {
    let scene = Scene::new();
    let mut client = scene.client();
    let out = "stream_property(S, file_no(1))";
    check_gone(&mut client, &format!("{out}, format(S, 'hello~n', []), flush_output(S)"), "wrote");
    check_gone(
        &mut client,
        &format!("{out}, format(S, '[\"x\",\"done\",\"all\"]~n', []), flush_output(S), repeat, fail"),
        "wrote",
    );
    check_gone(&mut client, &format!("{out}, repeat, write(S, x), fail"), "");
    check_gone(&mut client, "nb_setval(rootward_out, nothing)", "");
    check_gone(
        &mut client,
        "redefine_system_predicate(rootward_kb:reply(_)), assertz((rootward_kb:reply(_) :- halt))",
        "called `halt`",
    );
    // A forged reply to its own request, and then the real one, which must not answer the next request.
    let own =
        format!("{out}, nb_getval(rootward_nonce, N), format(S, '[\"~w\",\"done\",\"all\"]~n', [N]), flush_output(S)");
    assert_eq!(query(&mut client, &own), "false");
    let said = query(&mut client, "X = 2");
    assert!(said == "X = 2" || said.contains("process exited"), "{said}");
    assert_eq!(query(&mut client, "X = 3"), "X = 3");
    // The usual output streams still work.
    assert_eq!(query(&mut client, "write(user_output, a), write(user_error, b), write(c), nl"), "true\n[printed]\nabc");
    assert_eq!(query(&mut client, "read(X)"), "X = end_of_file");
}

#[test]
fn a_program_that_ends_prolog_ends_prolog_alone() {
    let scene = Scene::new();
    let mut client = scene.client();
    check_gone(&mut client, "halt", "the program called `halt`");
    check_gone(&mut client, "halt(3)", "exited with code 3");
    check_gone(&mut client, "at_halt((repeat, fail)), halt", "");
    check_gone(&mut client, "abort", "");
    scene.write("project/halts.pl", ":- initialization(halt).\n");
    assert!(client.fails("knowledge_base_load", json!({"path": "halts.pl"})).contains("called `halt`"));
    assert_eq!(query(&mut client, "X = 1"), "X = 1");
    // The same if it is killed from outside.
    let process = query(&mut client, "current_prolog_flag(pid, P)").trim_start_matches("P = ").to_owned();
    assert!(std::process::Command::new("kill").args(["-KILL", &process]).status().unwrap().success());
    assert!(
        client
            .fails("query", json!({"query": "true"}))
            .contains("the Prolog process exited: it was killed by signal 9")
    );
    assert_eq!(query(&mut client, "X = 1"), "X = 1");
}

#[test]
fn a_thread_does_not_outlive_its_query() {
    let scene = Scene::new();
    let mut client = scene.client();
    check(&mut client, "thread_create((repeat, fail), _)", "threading disabled");
    assert_eq!(
        query(&mut client, "set_prolog_flag(threads, true), thread_create((repeat, fail), _, [detached(true)])"),
        "true"
    );
    let process = query(&mut client, "current_prolog_flag(pid, P)").trim_start_matches("P = ").to_owned();
    // All its threads are stopped.
    let state = |task: std::path::PathBuf| {
        let stat = std::fs::read_to_string(task.join("stat")).unwrap();
        stat.rsplit(") ").next().unwrap().chars().next().unwrap()
    };
    let until = std::time::Instant::now() + std::time::Duration::from_mins(1);
    loop {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
        let states: Vec<char> = tasks.map(|task| state(task.unwrap().path())).collect();
        if states.len() > 1 && states.iter().all(|state| *state == 'T') {
            break;
        }
        assert!(std::time::Instant::now() < until, "{states:?}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(query(&mut client, "X = 1"), "X = 1");
}

#[test]
fn a_program_cannot_copy_its_process() {
    let scene = Scene::new();
    let mut client = scene.client();
    let process = query(&mut client, "current_prolog_flag(pid, P)").trim_start_matches("P = ").to_owned();
    for function in ["fork", "_Fork", "vfork"] {
        let goal = format!("open_shared_object('libc.so.6', H), call_shared_object_function(H, {function})");
        client.result("query", json!({"query": goal}));
        // The process is stopped now; a copy of it would not be.
        let copies = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap();
        assert_eq!(copies, "", "{function}");
    }
    assert_eq!(query(&mut client, "X = 1"), "X = 1");
}

#[test]
fn no_process_is_left_when_the_client_disconnects() {
    let scene = Scene::new();
    let mut client = scene.client();
    let process = query(&mut client, "current_prolog_flag(pid, P)").trim_start_matches("P = ").to_owned();
    assert_eq!(client.end(), Some(0));
    let until = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while std::path::Path::new(&format!("/proc/{process}")).exists() {
        assert!(std::time::Instant::now() < until);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn a_cancelled_call_is_stopped() {
    let scene = Scene::new();
    let mut client = scene.client();
    client.says("knowledge_base_assert", json!({"clauses": "fact(1)."}));
    let call = client.begin_call("query", json!({"query": "repeat, fail", "timeout_ms": 60000}));
    client.notify("notifications/cancelled", json!({"requestId": call}));
    // Requests run one after the other, so without cancellation this one would wait for a minute.
    assert_eq!(query(&mut client, "fact(X)"), "X = 1");
}
