//! One `roots/list` on its way: to be sent, sent, answered page by page, and being looked up on disk.
//!
//! Kept apart from the call that moves it along, so that nothing is lost when that call is dropped: each stage is polled by
//! reference, and going from one to the next takes no waiting.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rmcp::service::{RequestHandle, RoleServer, ServiceError};
use rootward_core::RootSet;
use rootward_core::session::{Event, RequestNumber};
use rootward_peer::{ClientList, Pages, Turned, shortened};
use tokio::task::JoinHandle;

use crate::settings::Ground;
use crate::wire;

/// A question under way.
#[derive(Debug)]
pub(crate) struct Flight {
    request: RequestNumber,
    stage: Stage,
    /// What came so far, where the list comes in pages.
    pages: Pages,
    /// How often the list changed while it was being paged through.
    restarts: u8,
}

/// How often paging is begun anew; the question's time is limited besides.
const MOST_RESTARTS: u8 = 3;

#[derive(Debug)]
enum Stage {
    ToBeSent,
    Asked(Box<RequestHandle<RoleServer>>),
    /// On a thread that may block: a root can lie on a file system that does not answer.
    Placing(JoinHandle<RootSet>),
}

/// How far a poll came.
#[derive(Debug)]
pub(crate) enum Landed {
    /// Not yet; look again.
    Nothing,
    /// The answer, or its failure.
    With(Event),
}

impl Landed {
    pub(crate) fn event(self) -> Option<Event> {
        match self {
            Landed::Nothing => None,
            Landed::With(event) => Some(event),
        }
    }
}

impl Flight {
    pub(crate) fn new(request: RequestNumber) -> Flight {
        Flight { request, stage: Stage::ToBeSent, pages: Pages::default(), restarts: 0 }
    }

    pub(crate) fn request(&self) -> RequestNumber {
        self.request
    }

    pub(crate) fn is_sent(&self) -> bool {
        !matches!(self.stage, Stage::ToBeSent)
    }

    pub(crate) fn is_being_placed(&self) -> bool {
        matches!(self.stage, Stage::Placing(_))
    }

    /// What the next question asks with.
    pub(crate) fn cursor(&self) -> Option<String> {
        self.pages.cursor().map(str::to_owned)
    }

    pub(crate) fn sent(&mut self, handle: RequestHandle<RoleServer>) {
        self.stage = Stage::Asked(Box::new(handle));
    }

    /// The question, if the client still has it.
    pub(crate) fn into_asked(self) -> Option<RequestHandle<RoleServer>> {
        match self.stage {
            Stage::Asked(handle) => Some(*handle),
            Stage::ToBeSent | Stage::Placing(_) => None,
        }
    }

    /// Moves along; `Nothing` where a stage was reached that is to be polled anew.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>, ground: &Arc<Ground>) -> Poll<Landed> {
        let request = self.request;
        let failed = |reason: String| Poll::Ready(Landed::With(Event::Failed { request, reason }));
        match &mut self.stage {
            Stage::ToBeSent => Poll::Ready(Landed::Nothing),
            Stage::Asked(handle) => {
                let answer = match Pin::new(&mut handle.rx).poll(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok(Ok(answer))) => wire::raw(answer),
                    Poll::Ready(Ok(Err(ServiceError::McpError(error))))
                        if self.pages.cursor().is_some()
                            && wire::refuses_cursor(&error)
                            && self.restarts < MOST_RESTARTS =>
                    {
                        // The list changed under way, and its pages would not fit together.
                        self.restarts += 1;
                        self.pages = Pages::default();
                        self.stage = Stage::ToBeSent;
                        return Poll::Ready(Landed::Nothing);
                    }
                    Poll::Ready(Ok(Err(error))) => return failed(said(&error)),
                    Poll::Ready(Err(_)) => return failed("the connection was closed".to_owned()),
                };
                let answer = match self.pages.add(answer) {
                    Ok(Turned::Whole(answer)) => answer,
                    Ok(Turned::Next) => {
                        self.stage = Stage::ToBeSent;
                        return Poll::Ready(Landed::Nothing);
                    }
                    Err(error) => return failed(error.to_string()),
                };
                match ClientList::read(&answer, ground.settings.guard.home.as_deref()) {
                    Ok(list) => {
                        let ground = Arc::clone(ground);
                        let placing = move || ground.shared.set(list.place_ambient(&ground.settings.validation));
                        self.stage = Stage::Placing(tokio::task::spawn_blocking(placing));
                        Poll::Ready(Landed::Nothing)
                    }
                    Err(error) => failed(error.to_string()),
                }
            }
            Stage::Placing(placing) => match Pin::new(placing).poll(context) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Ok(roots)) => Poll::Ready(Landed::With(Event::Answered { request, roots })),
                Poll::Ready(Err(error)) => failed(error.to_string()),
            },
        }
    }
}

/// How much of a client's reason is kept, in characters.
const LONGEST_REASON: usize = 200;

/// What the client said was wrong.
fn said(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => format!("{} ({})", shortened(&error.message, LONGEST_REASON), error.code.0),
        other => other.to_string(),
    }
}
