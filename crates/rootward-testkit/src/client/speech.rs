//! What both clients can say and hear, written once. The first argument says how to wait: `at_once` or `awaited`; the second is
//! `async` where that is needed. Each client has `send_line` and `next` of its own.

macro_rules! at_once {
    ($said:expr) => {
        $said
    };
}

#[cfg(feature = "tokio")]
macro_rules! awaited {
    ($said:expr) => {
        $said.await
    };
}

macro_rules! speech {
    ($wait:ident $($async:ident)?) => {
        /// Sends a message.
        pub $($async)? fn send(&mut self, message: impl Borrow<Value>) {
            $wait!(self.send_line(&message.borrow().to_string()));
        }

        /// Sends a notification.
        pub $($async)? fn notify(&mut self, method: &str, params: impl Into<Value>) {
            $wait!(self.send(message::notification(method, params.into())));
        }

        /// Announces that the roots changed.
        pub $($async)? fn list_changed(&mut self) {
            $wait!(self.notify("notifications/roots/list_changed", ()));
        }

        /// Answers a question.
        pub $($async)? fn answer(&mut self, id: impl Into<Value>, result: Value) {
            $wait!(self.send(message::answer(id, result)));
        }

        /// Sends a request and does not wait for the answer; the id.
        pub $($async)? fn begin(&mut self, method: &str, params: Value) -> u64 {
            let (id, request) = self.talk.request(method, params);
            $wait!(self.send(request));
            id
        }

        /// Sends a tool call and does not wait for the answer; the id.
        pub $($async)? fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
            $wait!(self.begin("tools/call", message::call(tool, arguments)))
        }

        /// Sends a tool call under this id and does not wait for the answer.
        pub $($async)? fn call_as(&mut self, id: impl Into<Value>, tool: &str, arguments: Value) {
            $wait!(self.send(message::request(id, "tools/call", message::call(tool, arguments))));
        }

        /// The next message.
        pub $($async)? fn receive(&mut self) -> Value {
            match $wait!(self.next()) {
                Some(message) => message,
                None => panic!("{}", self.talk.failure("the connection ended")),
            }
        }

        /// The next message must be `roots/list`; its id.
        pub $($async)? fn asked(&mut self) -> Value {
            let message = $wait!(self.receive());
            assert_eq!(message["method"], "roots/list", "{message}");
            message["id"].clone()
        }

        /// The next message must be `roots/list`; answers it.
        pub $($async)? fn answer_roots(&mut self, result: Value) {
            let id = $wait!(self.asked());
            $wait!(self.answer(id, result));
        }

        /// The next message must answer this tool call: the code of a refusal, or else the text.
        pub $($async)? fn said(&mut self, id: impl Into<Value>) -> String {
            let message = $wait!(self.receive());
            assert_eq!(message["id"], id.into(), "{message}");
            said(&message)
        }

        /// The first message that fits, of those that were kept or the next ones. Others are kept.
        pub $($async)? fn next_where(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
            if let Some(message) = self.talk.take_kept(&fits) {
                return message;
            }
            loop {
                let message = $wait!(self.receive());
                if fits(&message) {
                    return message;
                }
                self.talk.kept.push_back(message);
            }
        }

        /// Waits for the answer to a request.
        pub $($async)? fn answer_to(&mut self, id: impl Into<Value>) -> Value {
            let id = id.into();
            $wait!(self.next_where(|message| answers(message, &id)))
        }

        /// Sends a request and waits for the answer, which may be an error.
        pub $($async)? fn ask(&mut self, method: &str, params: Value) -> Value {
            let id = $wait!(self.begin(method, params));
            $wait!(self.answer_to(id))
        }

        /// Opens a session with these capabilities; the answer.
        pub $($async)? fn shake_hands(&mut self, capabilities: Value) -> Value {
            let answer = $wait!(self.ask("initialize", message::hello(capabilities)));
            $wait!(self.notify("notifications/initialized", ()));
            answer
        }

        /// Calls a tool; the answer, which may be an error.
        pub $($async)? fn call(&mut self, tool: &str, arguments: Value) -> Value {
            $wait!(self.ask("tools/call", message::call(tool, arguments)))
        }

        /// Calls a tool; the result.
        pub $($async)? fn result(&mut self, tool: &str, arguments: Value) -> ToolResult {
            ToolResult::of($wait!(self.call(tool, arguments)))
        }

        /// Calls a tool as a modern client that shares these, round by round; the result.
        pub $($async)? fn modern_result(&mut self, tool: &str, arguments: Value, uris: &[String]) -> ToolResult {
            let params = message::modern(&serde_json::json!({"roots": {}}), message::call(tool, arguments));
            let answer = $wait!(self.ask("tools/call", params.clone()));
            let state = &answer["result"]["requestState"];
            if state.is_null() {
                return ToolResult::of(answer);
            }
            let again = message::again(params, state, &message::roots(uris));
            ToolResult::of($wait!(self.ask("tools/call", again)))
        }

        /// Calls a tool; the text, whether or not the call fails.
        pub $($async)? fn text(&mut self, tool: &str, arguments: Value) -> String {
            $wait!(self.result(tool, arguments)).text().to_owned()
        }

        /// Calls a tool, which must not fail; the text.
        pub $($async)? fn says(&mut self, tool: &str, arguments: Value) -> String {
            $wait!(self.result(tool, arguments)).success().to_owned()
        }

        /// Calls a tool, which must fail; the text.
        pub $($async)? fn fails(&mut self, tool: &str, arguments: Value) -> String {
            $wait!(self.result(tool, arguments)).failure().to_owned()
        }

        /// Calls a tool, which must fail: the code of a refusal, or else the text.
        pub $($async)? fn why(&mut self, tool: &str, arguments: Value) -> String {
            $wait!(self.result(tool, arguments)).why().to_owned()
        }

        /// The messages that came while the test waited for another.
        pub fn kept(&mut self) -> &mut VecDeque<Value> {
            &mut self.talk.kept
        }
    };
}
