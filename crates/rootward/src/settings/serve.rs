//! The table `[serve]` of the settings file: what the file server offers.

use serde::Deserialize;
use toml::Spanned;

use super::Setting;
use super::file::Mistake;

/// The sets of tools, by name.
const TOOLSETS: [&str; 3] = ["files", "project", "roots"];

/// Which files are listed as resources, by name.
const LISTINGS: [&str; 3] = ["templates", "top", "all"];

/// The table as its keys have it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServeKeys {
    tools: Option<Vec<Spanned<String>>>,
    resources: Option<Spanned<String>>,
}

/// What the file says.
#[derive(Default, Debug)]
pub(super) struct WrittenServe {
    tools: Option<Vec<String>>,
    resources: Option<String>,
}

/// What the file server offers.
#[derive(Clone, Debug)]
pub(crate) struct ServeSettings {
    /// The sets of tools, by name.
    pub(crate) tools: Setting<Vec<String>>,
    /// Which files are listed as resources, by name.
    pub(crate) resources: Setting<String>,
}

impl ServeKeys {
    pub(super) fn read(self, text: &str) -> Result<WrittenServe, Mistake> {
        let known = |spot: Spanned<String>, words: &[&str]| {
            if words.contains(&spot.get_ref().as_str()) {
                return Ok(spot.into_inner());
            }
            Err(Mistake::about(text, &spot, &format!("expected `{}`", words.join("` or `"))))
        };
        let tools = self.tools.map(|sets| sets.into_iter().map(|set| known(set, &TOOLSETS)).collect());
        let resources = self.resources.map(|listing| known(listing, &LISTINGS));
        Ok(WrittenServe { tools: tools.transpose()?, resources: resources.transpose()? })
    }
}

impl From<WrittenServe> for ServeSettings {
    fn from(written: WrittenServe) -> ServeSettings {
        ServeSettings {
            tools: Setting::first(None, written.tools, vec![TOOLSETS[0].to_owned()]),
            resources: Setting::first(None, written.resources, LISTINGS[0].to_owned()),
        }
    }
}

impl ServeSettings {
    /// The flag replaces what the file says.
    #[cfg(feature = "serve")]
    pub(crate) fn tools(&self, flag: &[rootward_files::Toolset]) -> rootward_files::Toolsets {
        if !flag.is_empty() {
            return flag.iter().copied().collect();
        }
        // Every word was looked up when the file was read.
        self.tools.value.iter().filter_map(|set| set.parse::<rootward_files::Toolset>().ok()).collect()
    }

    /// The flag replaces what the file says.
    #[cfg(feature = "serve")]
    pub(crate) fn listing(&self, flag: Option<rootward_files::Listing>) -> rootward_files::Listing {
        flag.or_else(|| self.resources.value.parse().ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;

    fn read(text: &str) -> Result<ServeSettings, Mistake> {
        let keys: ServeKeys = toml::from_str(text).unwrap();
        keys.read(text).map(ServeSettings::from)
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
