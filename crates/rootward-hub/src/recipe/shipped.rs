//! The recipes that Rootward ships: the files in `recipes`, sorted by name.

macro_rules! shipped {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../recipes/", $name, ".toml")))),*]
    };
}

/// The name and text of each recipe.
pub(super) const SHIPPED: &[(&str, &str)] = shipped! {
    "angular"
    "atlassian"
    "aws-documentation"
    "azure"
    "basic-memory"
    "brave-search"
    "chrome-devtools"
    "codegraphcontext"
    "context7"
    "docker"
    "duckduckgo"
    "eslint"
    "everything"
    "exa"
    "excel"
    "fetch"
    "figma"
    "filesystem"
    "firecrawl"
    "git"
    "github"
    "grafana"
    "kubernetes"
    "memory"
    "mongodb"
    "notion"
    "nx"
    "obsidian"
    "playwright"
    "postgres"
    "puppeteer"
    "rust-mcp-filesystem"
    "sentry"
    "sequential-thinking"
    "shadcn"
    "slack"
    "sqlite"
    "supabase"
    "task-master"
    "tavily"
    "time"
};
