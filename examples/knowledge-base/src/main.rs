//! An MCP server for SWI-Prolog: knowledge is loaded from and dumped to files in the client's roots, and queried by a Prolog process that
//! the kernel holds to no directory at all.

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
    // This program is started again to confine Prolog.
    rootward_sandbox::launcher();
    let roots = RootsService::new(settings::settings(std::env::vars_os())?);
    let server = roots.install(KnowledgeBase::default()).with_roots_resource().with_described_tools();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        server.serve_stdio().await?.waiting().await?;
        anyhow::Ok(())
    })
}
