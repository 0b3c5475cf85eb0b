//! The methods that both clients share. The first argument of `speech!` is `at_once` or `awaited`; the second is `async` if needed.
//! Each client has its own `send_line` and `next`.

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

        /// Answers a request from the server.
        pub $($async)? fn answer(&mut self, id: impl Into<Value>, result: Value) {
            $wait!(self.send(message::answer(id, result)));
        }

        /// Sends a request without waiting for the response, and returns its id.
        pub $($async)? fn begin(&mut self, method: &str, params: Value) -> u64 {
            let (id, request) = self.talk.request(method, params);
            $wait!(self.send(request));
            id
        }

        /// Sends a tool call without waiting for the response, and returns its id.
        pub $($async)? fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
            $wait!(self.begin("tools/call", message::call(tool, arguments)))
        }

        /// Sends a tool call with this id, without waiting for the response.
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

        /// Receives the next message, which must be `roots/list`, and returns its id.
        pub $($async)? fn asked(&mut self) -> Value {
            let message = $wait!(self.receive());
            assert_eq!(message["method"], "roots/list", "{message}");
            message["id"].clone()
        }

        /// Receives the next message, which must be `roots/list`, and answers it.
        pub $($async)? fn answer_roots(&mut self, result: Value) {
            let id = $wait!(self.asked());
            $wait!(self.answer(id, result));
        }

        /// Receives the next message, which must answer this tool call: the code of a refusal, or else the text.
        pub $($async)? fn said(&mut self, id: impl Into<Value>) -> String {
            let message = $wait!(self.receive());
            assert_eq!(message["id"], id.into(), "{message}");
            said(&message)
        }

        /// The first message that fits, kept or new. Keeps the others.
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

        /// Waits for the response to a request.
        pub $($async)? fn answer_to(&mut self, id: impl Into<Value>) -> Value {
            let id = id.into();
            $wait!(self.next_where(|message| answers(message, &id)))
        }

        /// Sends a request and waits for the response, which may be an error.
        pub $($async)? fn ask(&mut self, method: &str, params: Value) -> Value {
            let id = $wait!(self.begin(method, params));
            $wait!(self.answer_to(id))
        }

        /// Opens a session with these capabilities, and returns the response to `initialize`.
        pub $($async)? fn shake_hands(&mut self, capabilities: Value) -> Value {
            let answer = $wait!(self.ask("initialize", message::hello(capabilities)));
            $wait!(self.notify("notifications/initialized", ()));
            answer
        }

        /// Calls a tool and returns the response, which may be an error.
        pub $($async)? fn call(&mut self, tool: &str, arguments: Value) -> Value {
            $wait!(self.ask("tools/call", message::call(tool, arguments)))
        }

        /// Calls a tool and returns the result.
        pub $($async)? fn result(&mut self, tool: &str, arguments: Value) -> ToolResult {
            ToolResult::of($wait!(self.call(tool, arguments)))
        }

        /// Calls a tool as a modern client that shares these roots, and returns the result of the last round.
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

        /// Calls a tool and returns the text, whether or not the call fails.
        pub $($async)? fn text(&mut self, tool: &str, arguments: Value) -> String {
            $wait!(self.result(tool, arguments)).text().to_owned()
        }

        /// Calls a tool, which must succeed, and returns the text.
        pub $($async)? fn says(&mut self, tool: &str, arguments: Value) -> String {
            $wait!(self.result(tool, arguments)).success().to_owned()
        }

        /// Calls a tool, which must fail, and returns the text.
        pub $($async)? fn fails(&mut self, tool: &str, arguments: Value) -> String {
            $wait!(self.result(tool, arguments)).failure().to_owned()
        }

        /// Calls a tool, which must fail, and returns the code of a refusal, or else the text.
        pub $($async)? fn why(&mut self, tool: &str, arguments: Value) -> String {
            $wait!(self.result(tool, arguments)).why().to_owned()
        }

        /// The messages that arrived while the test waited for another one.
        pub fn kept(&mut self) -> &mut VecDeque<Value> {
            &mut self.talk.kept
        }
    };
}
