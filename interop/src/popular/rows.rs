//! The servers, each as its README configures it: at least one for each recipe that Rootward ships.

mod browsers;
mod files;
mod projects;
mod reference;
mod services;

use super::server::Server;

/// All servers.
pub(super) fn servers() -> impl Iterator<Item = &'static Server> {
    [reference::SERVERS, files::SERVERS, browsers::SERVERS, services::SERVERS, projects::SERVERS].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;
    use taskkit::form::Form;

    /// Recipes whose servers cannot be run here; `docs/recipes.md` says why.
    const NOT_RUN: [&str; 3] = ["basic-memory", "docker", "rust-mcp-filesystem"];

    fn top() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    fn shipped() -> BTreeSet<String> {
        let files = fs::read_dir(top().join("crates/rootward-hub/recipes")).unwrap();
        files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn every_recipe_has_a_row() {
        let rows = servers().filter_map(|server| server.recipe);
        let tried: BTreeSet<String> = rows.chain(NOT_RUN).map(str::to_owned).collect();
        assert_eq!(tried, shipped());
        assert!(servers().all(|server| server.recipe.is_none_or(|recipe| !NOT_RUN.contains(&recipe))));
    }

    #[test]
    fn the_documentation_says_how_each_recipe_was_tried() {
        let page = fs::read_to_string(top().join("docs/recipes.md")).unwrap();
        let rows: BTreeSet<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "))
            .map(|(name, _)| name)
            .collect();
        for recipe in shipped() {
            assert!(rows.contains(recipe.as_str()), "docs/recipes.md has no row for `{recipe}`");
        }
    }

    #[test]
    fn the_short_form_has_six_recipes() {
        let short = servers().filter(|server| server.form == Form::Short).filter_map(|server| server.recipe);
        assert_eq!(short.collect::<BTreeSet<_>>().len(), 6);
    }
}
