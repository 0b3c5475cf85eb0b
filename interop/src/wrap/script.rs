//! The messages that the servers get: the same directly, through `rootward wrap` and through `rootward hub`.

/// A server and the client's steps. `$ROOT` is a placeholder for the directory that the client shares.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) name: &'static str,
    /// The script below `node_modules`.
    pub(super) program: &'static str,
    /// The server's arguments in a direct run. Behind Rootward, it gets its directories from Rootward.
    pub(super) arguments: &'static [&'static str],
    /// A variable that the server needs.
    pub(super) variable: Option<(&'static str, &'static str)>,
    pub(crate) steps: &'static [Step],
}

/// One step of the client.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Sends a request with this method and these params, and waits for the answer.
    Ask(&'static str, &'static str),
    /// The same, with this id.
    AskAs(&'static str, &'static str, &'static str),
    /// Calls the tool of this name with these arguments, and waits for the answer.
    Call(&'static str, &'static str),
    /// Sends a line.
    Say(&'static str),
    /// Waits for a line that contains this.
    Hear(&'static str),
}

use Step::{Ask, AskAs, Call, Hear, Say};

pub(crate) const SCRIPTS: [Script; 3] = [
    Script {
        name: "server-everything",
        program: "@modelcontextprotocol/server-everything/dist/index.js",
        arguments: &[],
        variable: None,
        steps: &[
            Hear("Roots updated: 1 root(s)"),
            Ask("ping", "{}"),
            Ask("tools/list", "{}"),
            Ask("prompts/list", "{}"),
            Ask("resources/list", "{}"),
            Ask("resources/templates/list", "{}"),
            Call("echo", r#"{"message":"h\u00e9llo \ud83d\ude00 \" \\ / é\n"}"#),
            Call("echo", r#"{"message":"/etc/passwd\nis text where it has lines"}"#),
            Call("get-sum", r#"{"a":1.50,"b":1e3}"#),
            Call("get-sum", r#"{"a":9007199254740993,"b":-0.0}"#),
            Call("get-tiny-image", "{}"),
            Call("get-structured-content", r#"{"location":"Chicago"}"#),
            Call("get-annotated-message", r#"{"messageType":"debug","includeImage":true}"#),
            Call("get-resource-links", r#"{"count":3}"#),
            Call("get-resource-reference", r#"{"resourceType":"Text","resourceId":2}"#),
            Call("get-roots-list", "{}"),
            Call("gzip-file-as-resource", r#"{"name":"a.gz","data":"data:text/plain,hello","outputType":"resource"}"#),
            Call("trigger-sampling-request", r#"{"prompt":"a question","maxTokens":10}"#),
            Call("trigger-elicitation-request", "{}"),
            AskAs(
                r#""with progress""#,
                "tools/call",
                r#"{"name":"trigger-long-running-operation","arguments":{"duration":0.3,"steps":3},"_meta":{"progressToken":"with progress"}}"#,
            ),
            Ask("prompts/get", r#"{"name":"simple-prompt"}"#),
            Ask("prompts/get", r#"{"name":"args-prompt","arguments":{"city":"Paris","state":"Île"}}"#),
            Ask("prompts/get", r#"{"name":"no-such-prompt"}"#),
            Ask("prompts/get", r#"{"name":"resource-prompt","arguments":{"resourceType":"Text","resourceId":"1"}}"#),
            Ask(
                "completion/complete",
                r#"{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"E"}}"#,
            ),
            Ask("resources/read", r#"{"uri":"demo://resource/static/document/architecture.md"}"#),
            Ask("resources/read", r#"{"uri":"demo://resource/dynamic/text/1"}"#),
            Ask("resources/read", r#"{"uri":"demo://resource/none"}"#),
            Ask("resources/subscribe", r#"{"uri":"demo://resource/dynamic/text/1"}"#),
            Ask("resources/unsubscribe", r#"{"uri":"demo://resource/dynamic/text/1"}"#),
            Ask("logging/setLevel", r#"{"level":"debug"}"#),
            Ask("tasks/list", "{}"),
            Ask("no/such/method", r#"{"anything":[1,{"at":"all"}]}"#),
            Call("no-such-tool", r#"{"a":1}"#),
            Call("get-sum", r#"{"a":"not a number"}"#),
            AskAs("0", "ping", "{}"),
            AskAs("-7", "ping", "{}"),
            AskAs("4294967296000", "ping", "{}"),
            AskAs(r#""\u0061 \"quoted\" id""#, "ping", "{}"),
            Say(
                r#"{"jsonrpc":"2.0","id":"cancelled","method":"tools/call","params":{"name":"trigger-long-running-operation","arguments":{"duration":0.4,"steps":1},"_meta":{"progressToken":"cancelled"}}}"#,
            ),
            Say(
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"cancelled","reason":"enough"}}"#,
            ),
            Say(r#"{"jsonrpc":"2.0","method":"notifications/no/such","params":{"a":1}}"#),
            Hear(r#""progressToken":"cancelled""#),
            Ask("ping", "{}"),
        ],
    },
    Script {
        name: "server-memory",
        program: "@modelcontextprotocol/server-memory/dist/index.js",
        arguments: &[],
        variable: Some(("MEMORY_FILE_PATH", "$ROOT/memory.jsonl")),
        steps: &[
            Ask("tools/list", "{}"),
            Ask("prompts/list", "{}"),
            Ask("resources/list", "{}"),
            Call(
                "create_entities",
                r#"{"entities":[{"name":"Ada","entityType":"person","observations":["counts","./is/no/path"]},{"name":"Wäsche","entityType":"a sign","observations":[]}]}"#,
            ),
            Call("create_relations", r#"{"relations":[{"from":"Ada","to":"Wäsche","relationType":"writes"}]}"#),
            Call("add_observations", r#"{"observations":[{"entityName":"Ada","contents":["line one\nline two"]}]}"#),
            Call("search_nodes", r#"{"query":"count"}"#),
            Call("open_nodes", r#"{"names":["Ada"]}"#),
            Call("delete_observations", r#"{"deletions":[{"entityName":"Ada","observations":["counts"]}]}"#),
            Call("read_graph", "{}"),
            Call("delete_entities", r#"{"entityNames":["Nobody"]}"#),
            Call("add_observations", r#"{"observations":[{"entityName":"Nobody","contents":["x"]}]}"#),
            Call("no_such_tool", "{}"),
            Ask("no/such/method", "{}"),
            Ask("ping", "{}"),
        ],
    },
    Script {
        name: "server-filesystem",
        program: "@modelcontextprotocol/server-filesystem/dist/index.js",
        arguments: &["$ROOT"],
        variable: None,
        steps: &[
            Ask("tools/list", "{}"),
            Call("list_allowed_directories", "{}"),
            Call("read_text_file", r#"{"path":"$ROOT/in.txt"}"#),
            Call("read_text_file", r#"{"path":"$ROOT/in.txt","head":1}"#),
            Call("read_text_file", r#"{"path":"in.txt"}"#),
            Call("read_multiple_files", r#"{"paths":["$ROOT/in.txt","$ROOT/missing.txt"]}"#),
            Call("read_media_file", r#"{"path":"$ROOT/in.txt"}"#),
            Call("write_file", r#"{"path":"$ROOT/new.txt","content":"one\ntwo é\n../../etc/passwd"}"#),
            Call("edit_file", r#"{"path":"$ROOT/new.txt","edits":[{"oldText":"one","newText":"/etc"}],"dryRun":true}"#),
            Call("edit_file", r#"{"path":"$ROOT/new.txt","edits":[{"oldText":"one","newText":"ONE"}]}"#),
            Call("create_directory", r#"{"path":"$ROOT/directory/below"}"#),
            Call("move_file", r#"{"source":"$ROOT/new.txt","destination":"$ROOT/directory/moved.txt"}"#),
            Call("list_directory", r#"{"path":"$ROOT"}"#),
            Call("list_directory_with_sizes", r#"{"path":"$ROOT/directory","sortBy":"size"}"#),
            Call("directory_tree", r#"{"path":"$ROOT"}"#),
            Call("search_files", r#"{"path":"$ROOT","pattern":"**/*.txt"}"#),
            Call("get_file_info", r#"{"path":"$ROOT/directory/moved.txt"}"#),
            Call("read_text_file", r#"{"path":"$ROOT/missing.txt"}"#),
            Call("read_text_file", r#"{"path":"$ROOT"}"#),
            Call("write_file", r#"{"path":"$ROOT/x.txt"}"#),
            Call("no_such_tool", r#"{"path":"$ROOT"}"#),
            Ask("no/such/method", r#"{"path":"$ROOT"}"#),
            Ask("ping", "{}"),
        ],
    },
];
