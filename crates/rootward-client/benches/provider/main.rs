//! The cost of a change of roots for a host with a thousand servers: `cargo bench -p rootward-client --bench provider`.
//!
//! Each server reads from its own socket. The benchmark measures the time from the change until the last server has its frame, without
//! the debounce, and compares it with a plain loop that writes the same bytes to as many sockets. Stdout carries only the table in
//! Markdown; progress goes to stderr.
//!
//! # Layout
//!
//! [`servers`] are the other ends of the sockets.

#![expect(clippy::disallowed_methods, reason = "the benchmark acts as the user who creates the directories")]
#![expect(clippy::expect_used, reason = "a benchmark that fails must stop, not print half a table")]

mod servers;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rootward_client::consent::Consents;
use rootward_client::provider::{Provider, Settings, Shares};
use rootward_client::store::{Kept, SavedRoot};
use rootward_core::Access;
use rootward_testkit::bench::measure::in_turns;
use rootward_testkit::bench::run::run;
use rootward_testkit::bench::table::{Bar, Most, Table};
use tokio::io::AsyncWriteExt;

use servers::{Heard, Written};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const SERVERS: usize = 1000;
const TURNS: usize = 31;
const FRAME: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}\n";

fn main() -> Outcome {
    run(|top, table| {
        servers::make_room_for(SERVERS)?;
        tokio::runtime::Runtime::new()?.block_on(measure(top, table))
    })
}

async fn measure(top: &Path, table: &mut Table) -> Outcome {
    let settings = Settings::default();
    let provider = Provider::new(settings);
    let names = ["one", "other"];
    for name in names {
        std::fs::create_dir(top.join(name))?;
    }
    let share = |turn: usize| {
        let root = SavedRoot::new(top.join(names[turn % names.len()]), Access::READ);
        provider.share(Shares::new(Arc::new(Kept::from(vec![root])), &Consents::default(), None));
    };
    share(0);
    let (heard, written) = (Heard::default(), Written::default());
    let mut clients = Vec::new();
    for number in 0..SERVERS {
        clients.push(servers::connect(&provider, number, &heard, &written).await?);
    }
    let (mut plain, plainly) = (Vec::new(), Heard::default());
    for _ in 0..SERVERS {
        plain.push(servers::listen(&plainly)?);
    }
    let before = written.count();
    let mut turn = 0;
    let runtime = tokio::runtime::Handle::current();
    let change = || {
        turn += 1;
        let began = Instant::now();
        share(turn);
        runtime.block_on(heard.frames(turn * SERVERS));
        nanoseconds(began.elapsed().saturating_sub(settings.quiet))
    };
    let mut plain_turn = 0;
    let write = || {
        plain_turn += 1;
        let began = Instant::now();
        runtime.block_on(async {
            for socket in &mut plain {
                socket.write_all(FRAME).await.expect("a socket takes a frame");
            }
            plainly.frames(plain_turn * SERVERS).await;
        });
        nanoseconds(began.elapsed())
    };
    let comparison = tokio::task::block_in_place(|| in_turns(TURNS, change, write));
    let what = "a change to 1,000 connected servers, beyond the debounce";
    table.add(what, "the same frame written to 1,000 sockets", &comparison, Bar::Information);
    // A turn ends once there are as many frames as servers. A second frame for one server shows as an extra write.
    let writes = (written.count() - before).div_ceil(u64::try_from(turn)?);
    table.add_count("writes for it", writes, Most::AtMost(SERVERS as u64));
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "no turn takes that long")]
fn nanoseconds(time: Duration) -> f64 {
    time.as_nanos() as f64
}
