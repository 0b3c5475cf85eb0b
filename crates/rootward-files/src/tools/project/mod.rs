//! The tools of the set `project`, one file for each.

pub(crate) mod analyze_project;
pub(crate) mod build_configuration;
pub(crate) mod find_documentation;

use crate::tool::Listed;

/// All tools of the set, in list order.
pub(crate) static PROJECT_TOOLS: &[Listed] = &[
    Listed::of::<analyze_project::AnalyzeProject>(),
    Listed::of::<find_documentation::FindDocumentation>(),
    Listed::of::<build_configuration::BuildConfiguration>(),
];
