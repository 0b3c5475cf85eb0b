//! What could be shared: repositories, projects and workspaces below a directory, each with the reason why.
