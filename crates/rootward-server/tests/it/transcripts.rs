//! The wire transcripts, played against a handler behind the service.
//!
//! The runtime's clock is paused while there is work, so transcripts use the protocol's real timeouts without waiting
//! for them.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, GetPromptRequestParams,
    GetPromptResponse, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    RequestStateCodec, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use rootward_protocol::keep_next_cursor;
use rootward_server::{Principal, RefusalForm, RootsService, Settings};
use rootward_testkit::transcript::{self, Line, Received, Refusals, Server, Side};
use tokio::io::AsyncWriteExt;
use tokio::runtime::Runtime;

use crate::client::{self, Client};
use crate::modern::Asking;
use crate::rooted::Files;

/// The handler of the transcripts: files, and two tools that ask the client something themselves.
struct Stage(Files);

impl ServerHandler for Stage {
    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.0.list_tools(request, context).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "roots_first" | "roots_last" => Asking.call_tool(request, context).await,
            _ => self.0.call_tool(request, context).await,
        }
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.0.read_resource(request, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.0.get_prompt(request, context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.0.complete(request, context).await
    }
}

/// The server that a transcript is played against: one service as long as the settings stay the same.
struct Rooted {
    runtime: Rc<Runtime>,
    service: Option<(transcript::Settings, RootsService)>,
}

impl Rooted {
    fn new() -> Rooted {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        Rooted { runtime: Rc::new(runtime), service: None }
    }
}

fn service(settings: &transcript::Settings) -> RootsService {
    let mut own = Settings::new(None);
    own.policy = settings.policy.clone();
    own.sources = settings.sources.clone();
    own.refusals = match settings.refusals {
        Refusals::ToolError => RefusalForm::ToolError,
        Refusals::ProtocolError => RefusalForm::ProtocolError,
    };
    own.principal = Principal::named(&settings.principal);
    own.request_state = Some(RequestStateCodec::try_new([settings.key; 32]).unwrap());
    own.round_lifetime = settings.round_lifetime;
    RootsService::new(own)
}

impl Server for Rooted {
    fn connect(&mut self, settings: &transcript::Settings) -> io::Result<Box<dyn Line>> {
        // A new session reads the runtime's clock.
        let _entered = self.runtime.enter();
        let service = match self.service.take() {
            Some((made_with, service)) if made_with == *settings => service,
            _ => service(settings),
        };
        let handler = service.install(Stage(Files::new()));
        self.service = Some((settings.clone(), service));
        Ok(Box::new(Wire { runtime: Rc::clone(&self.runtime), client: client::connect_rooted(handler) }))
    }
}

struct Wire {
    runtime: Rc<Runtime>,
    client: Client,
}

impl Line for Wire {
    fn send(&mut self, frame: &str) -> io::Result<()> {
        // `serve_stdio` and `RootsService::http` do this before rmcp reads a frame. They need a process or a socket;
        // rmcp's own transport, which is used here, loses the cursor of a page.
        let frame = keep_next_cursor(frame.as_bytes()).unwrap_or_else(|| frame.as_bytes().to_vec());
        self.runtime.block_on(
            self.client.write.write_all(
                &[
                    &frame,
                    &b"
"[..],
                ]
                .concat(),
            ),
        )
    }

    fn receive(&mut self, patience: Duration) -> io::Result<Received> {
        self.runtime.block_on(async {
            Ok(match tokio::time::timeout(patience, self.client.lines.next_line()).await {
                Err(_) => Received::Silence,
                Ok(line) => line?.map_or(Received::End, Received::Frame),
            })
        })
    }

    fn close(&mut self) -> io::Result<()> {
        self.runtime.block_on(self.client.write.shutdown())
    }
}

#[test]
fn every_transcript_plays_as_written() {
    let report = transcript::play_all(Side::Library, |transcript| transcript::play(transcript, &mut Rooted::new()));
    let report = report.unwrap();
    println!("{report}");
    assert!(report.failures.is_empty(), "{report}\n{}", report.failures.join("\n"));
}
