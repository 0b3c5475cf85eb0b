//! `summarize_project`: a project overview and its README.

use rmcp::ErrorData;
use rmcp::model::{PromptMessage, Role};
use rootward_core::FileKind;
use rootward_server::{Access, PathError};

use super::{decided, embedded};
use crate::call::Call;
use crate::failure::Failure;
use crate::project::documents::{self, Kind};
use crate::project::manifest::joined;
use crate::project::overview::{Detail, Overview};
use crate::project::survey::{Budget, Place, Places};
use crate::resources::told;
use crate::tools::overview_text;

/// The longest README to embed, in bytes, and how many to embed.
const LONGEST_README: u64 = 32 << 10;
const MOST_READMES: usize = 3;

const QUESTION: &str = "Summarize this project for somebody who is about to work on it: what it does, how it is laid out, where its \
                        programs start, and how to build and test it. Read more files where the following is not enough, and say \
                        what you could not find out.";

pub(super) async fn messages(path: Option<&str>, call: &Call) -> Result<Vec<PromptMessage>, ErrorData> {
    let (roots, grant) = decided(path).await?;
    let asked = grant.is_some();
    let places = match grant {
        Some(grant) => {
            Places { list: vec![Place { path: grant.named_path(), name: None, grant: Ok(grant) }], more: false }
        }
        None => Places::of(None, &roots).map_err(|failure| told(failure, ""))?,
    };
    let made = call.apart("entries", move |work| {
        let budget = Budget::new(work);
        let (mut all, mut readmes) = (Vec::new(), Vec::new());
        for place in places.list {
            let top = place.path.clone();
            let is_directory = place.grant.as_ref().is_ok_and(|grant| grant.kind() == Some(FileKind::Directory));
            if is_directory && readmes.len() < MOST_READMES {
                let grant = roots.check(&top, Access::READ).map_err(PathError::from)?;
                let (documents, _) = documents::find(&grant, &budget)?;
                let readme = documents.iter().find(|document| document.kind == Kind::Readme);
                let path = readme.map(|readme| joined(&top, &readme.below));
                let grant = path.and_then(|path| roots.check(path, Access::READ).ok());
                readmes.extend(grant.and_then(|grant| embedded(&grant, LONGEST_README)));
            }
            all.push(Overview::of(place, Detail::Whole, &roots, &budget)?);
        }
        if let ([Overview { problem: Some(problem), .. }], true) = (all.as_slice(), asked) {
            return Err(Failure::said(problem.clone()));
        }
        Ok((overview_text(&all, budget.short(), places.more), readmes))
    });
    let (overview, readmes) = made.await.map_err(|failure| told(failure, path.unwrap_or_default()))?;
    let question = PromptMessage::new_text(Role::User, format!("{QUESTION}\n\n{overview}"));
    Ok([question].into_iter().chain(readmes).collect())
}
