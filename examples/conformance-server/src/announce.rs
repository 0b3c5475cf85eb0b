//! Announcements that a list has changed, from a tool call to whoever listens.

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

/// A channel from calls to listeners, which are requests of their own.
pub(crate) struct Announcements(broadcast::Sender<Changed>);

impl Default for Announcements {
    fn default() -> Announcements {
        Announcements(broadcast::Sender::new(16))
    }
}

impl Announcements {
    fn announce(&self, changed: Changed) -> CallToolResult {
        // An error means that nobody listens, which is fine.
        let _ = self.0.send(changed);
        text("announced")
    }

    /// Passes announcements on to one listener until it goes away. The sink sends only what the listener asked for.
    pub(crate) async fn pass_on(&self, listener: &SubscriptionContext) -> Result<(), ErrorData> {
        let mut announcements = self.0.subscribe();
        loop {
            let changed = tokio::select! {
                () = listener.cancelled() => return Ok(()),
                changed = announcements.recv() => changed,
            };
            // What the listener did not ask for is refused by the sink, and not a failure.
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
