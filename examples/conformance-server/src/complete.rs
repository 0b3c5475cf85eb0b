//! Completions of prompt arguments.

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo};

const WORDS: [&str; 4] = ["paris", "park", "party", "testing"];

/// The words that begin with the argument's value.
pub(crate) fn complete(request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let typed = &request.argument.value;
    let values = WORDS.iter().filter(|word| word.starts_with(typed)).map(ToString::to_string).collect();
    let completion = CompletionInfo::with_all_values(values).map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(completion))
}
