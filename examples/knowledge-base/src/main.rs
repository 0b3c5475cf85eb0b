//! An MCP server for SWI-Prolog. It loads and dumps files in the client's roots, and runs queries in a Prolog process that the kernel
//! keeps from all directories.

mod answer;
mod capabilities;
mod prolog;
mod refusal;
mod server;
mod settings;
mod sources;

use rootward_server::RootsService;

use crate::server::KnowledgeBase;

fn main() -> anyhow::Result<()> {
    // This program runs itself again to confine Prolog.
    rootward_sandbox::launcher();
    let roots = RootsService::new(settings::settings(std::env::vars_os())?);
    let server = roots.install(KnowledgeBase::default()).with_roots_resource().with_described_tools();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        server.serve_stdio().await?.waiting().await?;
        anyhow::Ok(())
    })
}
