//! What the table `[serve]` means for the file server.

#[cfg(feature = "serve")]
use super::ServeSettings;

/// The sets of tools, by name.
pub(super) const TOOLSETS: [&str; 3] = ["files", "project", "roots"];

/// Which files are listed as resources, by name.
pub(super) const LISTINGS: [&str; 3] = ["templates", "top", "all"];

#[cfg(feature = "serve")]
impl ServeSettings {
    /// The flag replaces what the file says.
    pub(crate) fn tools(&self, flag: &[rootward_files::Toolset]) -> rootward_files::Toolsets {
        if !flag.is_empty() {
            return flag.iter().copied().collect();
        }
        // Every word was checked when the file was parsed.
        self.tools.value.iter().filter_map(|set| set.parse::<rootward_files::Toolset>().ok()).collect()
    }

    /// The flag replaces what the file says.
    pub(crate) fn listing(&self, flag: Option<rootward_files::Listing>) -> rootward_files::Listing {
        flag.or_else(|| self.resources.value.parse().ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::super::file::{Mistake, parse};
    use super::super::table::ServeSettings;
    #[cfg(feature = "serve")]
    use super::{LISTINGS, TOOLSETS};

    fn read(text: &str) -> Result<ServeSettings, Mistake> {
        parse(&format!("[serve]\n{text}"), None).map(|settings| settings.serve)
    }

    #[test]
    fn the_table_names_sets() {
        assert_eq!(read("").unwrap().tools.value, ["files"]);
        let named = read("tools = ['project']").unwrap();
        assert_eq!(
            (named.tools.value.as_slice(), named.tools.source),
            (["project".to_owned()].as_slice(), Source::File)
        );
        assert!(read("tools = ['files', 'projects']").is_err());
        assert_eq!(read("resources = 'top'").unwrap().resources.value, "top");
        assert!(read("resources = 'some'").is_err());
    }

    #[cfg(feature = "serve")]
    #[test]
    fn every_word_is_known_to_the_server() {
        for set in TOOLSETS {
            assert_eq!(set.parse::<rootward_files::Toolset>().map(rootward_files::Toolset::name), Ok(set));
        }
        for listing in LISTINGS {
            assert_eq!(listing.parse::<rootward_files::Listing>().map(rootward_files::Listing::name), Ok(listing));
        }
        let file = read("tools = ['project']").unwrap();
        assert_eq!(file.tools(&[]).to_string(), "files, project");
        assert_eq!(file.tools(&[rootward_files::Toolset::Files]).to_string(), "files");
    }
}
