//! Templates: URIs with a placeholder that a client completes. One for each root if the roots are known, and one for
//! all.

use rmcp::model::ResourceTemplate;
use rootward_core::RootKind;
use rootward_server::Roots;

use super::of_path;
use crate::name::on_one_line;

/// The placeholder. The `+` lets it contain slashes (RFC 6570, 3.2.3).
pub(crate) const PATH: &str = "{+path}";

/// The name of the placeholder.
pub(crate) const PATH_NAME: &str = "path";

/// How many roots get a template.
const MOST_ROOTS: usize = 20;

/// The templates for the known roots.
pub(crate) fn templates(roots: Option<&Roots>) -> Vec<ResourceTemplate> {
    let list = roots.map(Roots::list).unwrap_or_default();
    let directories = list.iter().filter(|placed| placed.kind == RootKind::Directory).take(MOST_ROOTS);
    let of_roots = directories.filter_map(|placed| {
        let root = &placed.root;
        let uri = of_path(&root.path)?;
        let shown = on_one_line(root.path.as_os_str()).into_owned();
        let own_name = root.path.file_name().map(|name| on_one_line(name).into_owned());
        let name = root.name.clone().or(own_name).unwrap_or_else(|| shown.clone());
        let template = ResourceTemplate::new(format!("{}/{PATH}", uri.trim_end_matches('/')), name);
        Some(template.with_description(format!("A file below the root `{shown}`, by its path from there")))
    });
    let of_all = ResourceTemplate::new(format!("file:///{PATH}"), "file")
        .with_title("File")
        .with_description("A file below the roots, by its absolute path");
    of_roots.chain([of_all]).collect()
}
