//! Directories that tools fill: their content was generated or fetched, not written by the user.

/// Whether to skip directories with this name.
pub(super) fn is_passed_over(name: &[u8]) -> bool {
    matches!(
        name,
        // Version control.
        b".git" | b".hg" | b".svn" | b".jj" | b".bzr" | b"CVS"
        // JavaScript.
            | b"node_modules" | b"bower_components" | b"jspm_packages" | b".next" | b".nuxt" | b".output" | b".svelte-kit"
            | b".angular" | b".astro" | b".turbo" | b".parcel-cache" | b".pnpm-store" | b".yarn" | b".npm"
        // Rust, Java, .NET, Swift.
            | b"target" | b".cargo" | b".rustup" | b".gradle" | b".m2" | b".ivy2" | b".bloop" | b".metals" | b".nuget"
            | b".build" | b"Pods" | b"DerivedData"
        // Python.
            | b"__pycache__" | b".venv" | b"venv" | b".tox" | b".nox" | b".eggs" | b"site-packages" | b".mypy_cache"
            | b".pytest_cache" | b".ruff_cache" | b".ipynb_checkpoints"
        // Others.
            | b".bundle" | b".elixir_ls" | b".stack-work" | b".dart_tool" | b".terraform" | b".direnv" | b".cache"
            | b".idea" | b".vs" | b".Trash"
        // Tool directories in a home.
            | b".local" | b".nvm" | b".pyenv" | b".rbenv" | b".asdf" | b".sdkman" | b".deno" | b".bun" | b".conda" | b".gem"
            | b".pub-cache" | b".oh-my-zsh" | b".vscode" | b".vscode-server" | b".cursor" | b".cursor-server"
    )
}
