//! Modern clients: the server answers a call that needs roots with the question, and the client sends the call again
//! with the answer.
//!
//! Between the rounds, the client carries all state: the list it sent, and the state and answers of the tool's own
//! rounds. The state is sealed and bound to the principal, the server, the method and the parameters, for a limited
//! time. In every round the server looks the list up on disk again and holds it to the ceiling. A paged list takes one
//! round per page, if the client declared that it pages.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, InputRequests,
    InputRequiredResult, InputResponses, ReadResourceRequestParams, ReadResourceResponse, SealOptions,
};
use rmcp::service::{RequestContext, RoleServer};
use rootward_protocol::round::{NOT_OF_THIS_REQUEST, Paging, Said, call_identity};
use rootward_protocol::session::{Given, Published, SessionGuard, Turn};
use rootward_protocol::{Pages, Refusal, keys, method};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::record::Parties;
use crate::roots::Roots;
use crate::scope::{Outcome, Scope, Source};
use crate::settings::Ground;
use crate::wire;

/// A request that the client can send again.
pub(crate) trait Retried: Clone + Serialize {
    const METHOD: &'static str;

    /// Its subject: the name of a tool or prompt, or a URI.
    fn subject(&self) -> &str;

    /// The client's answers, and the state that it carries.
    fn carried(&mut self) -> (&mut Option<InputResponses>, &mut Option<String>);
}

/// A result that can be replaced by a question.
pub(crate) trait Rounds: From<InputRequiredResult> {
    fn question(&mut self) -> Option<&mut InputRequiredResult>;
}

macro_rules! rounds {
    ($($method:path => $request:ident about $subject:ident, $response:ident;)*) => {$(
        impl Retried for $request {
            const METHOD: &'static str = $method;

            fn subject(&self) -> &str {
                &self.$subject
            }

            fn carried(&mut self) -> (&mut Option<InputResponses>, &mut Option<String>) {
                (&mut self.input_responses, &mut self.request_state)
            }
        }

        impl Rounds for $response {
            fn question(&mut self) -> Option<&mut InputRequiredResult> {
                match self {
                    $response::InputRequired(question) => Some(question),
                    _ => None,
                }
            }
        }
    )*};
}

rounds! {
    method::CALL_TOOL => CallToolRequestParams about name, CallToolResponse;
    method::GET_PROMPT => GetPromptRequestParams about name, GetPromptResponse;
    method::READ_RESOURCE => ReadResourceRequestParams about uri, ReadResourceResponse;
}

/// The state carried from one round to the next.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Carried {
    roots: Said,
    /// The tool's own state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// Answers to the tool's own questions, kept while asking the client for its roots: it sends only its latest
    /// answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    responses: Option<InputResponses>,
}

/// Client, server and principal of a request.
pub(crate) fn parties(
    ground: &Ground,
    context: &RequestContext<RoleServer>,
    server: impl FnOnce() -> String,
) -> Arc<Parties> {
    let client = ground.client_name(|| context.client_info());
    let principal = Some(ground.settings.principal.of(context)).filter(|name| !name.is_empty());
    Arc::new(Parties {
        session: ground.number(),
        principal: principal.map(Into::into),
        client,
        server: ground.server_name(server),
    })
}

/// Runs a call, or answers with the question for the roots that it needs.
pub(crate) async fn run<P, R, F>(
    ground: &Arc<Ground>,
    (name, version): (&str, &str),
    mut parameters: P,
    context: RequestContext<RoleServer>,
    call: impl Fn(P, RequestContext<RoleServer>) -> F,
    failed: impl Fn(&Result<R, ErrorData>) -> bool,
) -> Result<Result<R, ErrorData>, Refusal>
where
    P: Retried,
    R: Rounds,
    F: Future<Output = Result<R, ErrorData>>,
{
    let binding = binding(&ground.settings.principal.of(&context), &format!("{name} {version}"), &parameters);
    let paging = wire::paging(context.client_capabilities().as_ref());
    let carried = match open(ground, &binding, &mut parameters, paging) {
        Ok(carried) => carried,
        Err(error) => return Ok(Err(error)),
    };
    let said = carried.roots;
    if said.goes_on() {
        let (responses, state) = parameters.carried();
        let carried = Carried { roots: said, state: state.take(), responses: responses.take() };
        return Ok(Ok(question(ground, &binding, &carried).ok_or_else(Refusal::pending)?));
    }
    let requester = ground.requester(P::METHOD, parameters.subject());
    let parties = parties(ground, &context, || name.to_owned());
    let known = known(ground, &context, &parties, said.clone()).await;
    let limits = wire::limits(&context);
    let scope = Scope::new(known, Source::Modern, ground, (parties, requester), limits.as_ref());
    let mut asked = parameters.clone();
    let result = scope.run(call(parameters, context)).await;
    match scope.take_outcome() {
        Some(Outcome::Denied(refusal)) if failed(&result) => Err(refusal),
        Some(Outcome::NotKnown(path)) if failed(&result) => {
            let (responses, state) = asked.carried();
            let roots = Said::Asked(Pages::default());
            let carried = Carried { roots, state: state.take(), responses: responses.take() };
            Ok(Ok(question(ground, &binding, &carried).ok_or_else(|| scope.still_pending(path))?))
        }
        _ => Ok(result.map(|mut result| {
            // The tool's own round: include what is known of the roots.
            if let Some(question) = result.question() {
                let carried = Carried { roots: said, state: question.request_state.take(), responses: None };
                question.request_state = seal(ground, &binding, &carried);
            }
            result
        })),
    }
}

/// The answer instead of a result: the question for the roots, or for their next page.
fn question<R: Rounds>(ground: &Ground, binding: &[u8], carried: &Carried) -> Option<R> {
    let cursor = match &carried.roots {
        Said::Asked(pages) => pages.cursor(),
        _ => None,
    };
    let questions = InputRequests::from([(keys::ROOTS_QUESTION.to_owned(), wire::list_roots_input(cursor))]);
    Some(InputRequiredResult::new(Some(questions), Some(seal(ground, binding, carried)?)).into())
}

/// The current roots of a request, unless its client must be asked first.
pub(crate) async fn known(
    ground: &Arc<Ground>,
    context: &RequestContext<RoleServer>,
    parties: &Arc<Parties>,
    said: Said,
) -> Option<Roots> {
    ground.given.look_for_fallback(&ground.settings.validation).await;
    known_of(ground, ground.given.now(), context, parties, said).await
}

/// Like [`known`], with these sources. Read once, so that roots are always decided with the restrictions that came with
/// them.
pub(crate) async fn known_of(
    ground: &Arc<Ground>,
    given: Arc<Given>,
    context: &RequestContext<RoleServer>,
    parties: &Arc<Parties>,
    said: Said,
) -> Option<Roots> {
    let support = wire::support(context.client_capabilities().as_ref());
    let mut owner = SessionGuard::of_request(Arc::clone(&ground.terms), given, support);
    if let Some(placing) = owner.list_of_request(Duration::ZERO, said) {
        let placed = tokio::task::spawn_blocking(|| placing.run_ambient()).await.ok()?;
        owner.placed(Duration::ZERO, placed);
        let published = owner.published();
        let left_out = ground.left_out.lock().unwrap_or_else(PoisonError::into_inner).take(published);
        ground.tell_left_out(parties, published.map_or(0, Published::generation), &left_out);
    }
    match owner.turn(Duration::ZERO, Duration::ZERO) {
        Turn::GoOn => owner.published().map(|published| Roots::new(published.clone(), parties, ground)),
        Turn::Wait { .. } | Turn::Overdue => None,
    }
}

/// Takes the carried state out of a request, and puts back the tool's own part.
fn open<P: Retried>(ground: &Ground, binding: &[u8], parameters: &mut P, paging: Paging) -> Result<Carried, ErrorData> {
    let (responses, state) = parameters.carried();
    let answer = responses.as_mut().and_then(|responses| responses.remove(keys::ROOTS_QUESTION));
    let Some(sealed) = state.take() else {
        // SECURITY: ignore roots that the server did not ask for (test: roots_that_were_not_asked_for_are_not_taken)
        return Ok(Carried::default());
    };
    // SECURITY: a state that does not open is forged, expired, or from another call, client or server; all get the same
    // message (test: a_state_that_is_not_this_calls_is_refused)
    let carried: Option<Carried> = ground.seal.as_ref().and_then(|seal| seal.open_json_with(&sealed, binding).ok());
    let Some(mut carried) = carried else {
        return Err(ErrorData::invalid_params(NOT_OF_THIS_REQUEST, None));
    };
    *state = carried.state.take();
    if let Said::Asked(_) = carried.roots {
        *responses = carried.responses.take();
    }
    carried.roots = carried.roots.heard(answer, paging);
    Ok(carried)
}

fn seal(ground: &Ground, binding: &[u8], carried: &Carried) -> Option<String> {
    let options = SealOptions::new().associated_data(binding).ttl(ground.settings.round_lifetime);
    ground.seal.as_ref()?.seal_json_with(carried, &options).ok()
}

/// The data that a sealed state is bound to. It goes into the seal in full; the seal is a keyed hash.
fn binding<P: Retried>(principal: &str, server: &str, parameters: &P) -> Vec<u8> {
    let parameters = serde_json::to_value(parameters).unwrap_or_default();
    json!([principal, server, call_identity(P::METHOD, parameters)]).to_string().into_bytes()
}
