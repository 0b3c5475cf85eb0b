//! Notifications that a list has changed, from a tool call to all listeners.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use rmcp::model::{CallToolResult, ErrorData};
use rmcp::service::SubscriptionContext;
use rmcp::{tool, tool_router};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::content::text;
use crate::server::Server;

#[derive(Clone, Copy)]
enum Changed {
    Tools,
    Prompts,
}

/// The maximum number of listeners that are acknowledged but have not begun.
const MOST_EXPECTED: usize = 64;

/// A channel from calls to listeners. A listener is a separate request.
pub(crate) struct Announcements {
    sender: broadcast::Sender<Changed>,
    /// Receivers for listeners that are acknowledged but have not begun, because a call may arrive in between.
    expected: Mutex<VecDeque<broadcast::Receiver<Changed>>>,
}

impl Default for Announcements {
    fn default() -> Announcements {
        Announcements { sender: broadcast::Sender::new(16), expected: Mutex::default() }
    }
}

impl Announcements {
    fn announce(&self, changed: Changed) -> CallToolResult {
        // An error means that there are no listeners, which is fine.
        let _ = self.sender.send(changed);
        text("announced")
    }

    /// Prepares a listener that is about to be acknowledged: it receives everything from now on.
    pub(crate) fn expect_listener(&self) {
        let mut expected = self.expected.lock().unwrap_or_else(PoisonError::into_inner);
        expected.push_back(self.sender.subscribe());
        if expected.len() > MOST_EXPECTED {
            expected.pop_front();
        }
    }

    /// Forwards announcements to one listener until it disconnects. The sink sends only what the listener subscribed to.
    pub(crate) async fn pass_on(&self, listener: &SubscriptionContext) -> Result<(), ErrorData> {
        let expected = self.expected.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let mut announcements = expected.unwrap_or_else(|| self.sender.subscribe());
        loop {
            let changed = tokio::select! {
                () = listener.cancelled() => return Ok(()),
                changed = announcements.recv() => changed,
            };
            // The sink refuses what the listener did not subscribe to. That is not a failure.
            let _ = match changed {
                Ok(Changed::Tools) => listener.sink().notify_tool_list_changed().await,
                Ok(Changed::Prompts) => listener.sink().notify_prompt_list_changed().await,
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return Ok(()),
            };
        }
    }
}

#[tool_router(router = announcing_tools, vis = "pub(crate)")]
impl Server {
    #[tool(description = "Announce that the list of tools has changed")]
    fn test_trigger_tool_change(&self) -> CallToolResult {
        self.shared.announcements.announce(Changed::Tools)
    }

    #[tool(description = "Announce that the list of prompts has changed")]
    fn test_trigger_prompt_change(&self) -> CallToolResult {
        self.shared.announcements.announce(Changed::Prompts)
    }
}
