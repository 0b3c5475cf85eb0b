//! What a modern client listens for: the filter of `subscriptions/listen`, and the messages on such a request.

use std::collections::BTreeSet;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::bridge::COMPLETE;
use crate::frame::{Members, object};
use crate::{keys, method};

/// The member with the filter, in the request and in its acknowledgment.
const FILTER: &str = "notifications";

/// The maximum number of resources in one request.
const MOST_RESOURCES: usize = 1000;

/// The lists that a client can listen for: the member of the filter, and the notification.
const LISTS: [(&str, &str); 3] = [
    ("toolsListChanged", method::TOOLS_CHANGED),
    ("promptsListChanged", method::PROMPTS_CHANGED),
    ("resourcesListChanged", method::RESOURCES_CHANGED),
];

/// The member of the filter that names resources.
const RESOURCES: &str = "resourceSubscriptions";

/// What a client listens for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SubscriptionFilter {
    lists: BTreeSet<&'static str>,
    resources: BTreeSet<String>,
}

impl SubscriptionFilter {
    /// Parses the params of `subscriptions/listen`. The error is the reason.
    pub fn read(params: &RawValue) -> Result<SubscriptionFilter, String> {
        let filter = Members::read(params).and_then(|params| params.object(FILTER));
        let filter = filter.ok_or_else(|| format!("`{FILTER}` is missing or not an object"))?;
        let wants = |key: &str| filter.get(key).is_some_and(|value| value.get() == "true");
        let lists = LISTS.into_iter().filter(|(key, _)| wants(key)).map(|(_, method)| method).collect();
        let named = filter.get(RESOURCES).filter(|named| named.get() != "null");
        let resources: BTreeSet<String> = match named.map(|named| serde_json::from_str(named.get())) {
            None => BTreeSet::new(),
            Some(Ok(resources)) => resources,
            Some(Err(_)) => return Err(format!("`{RESOURCES}` is not a list of strings")),
        };
        if resources.len() > MOST_RESOURCES {
            return Err(format!("`{RESOURCES}` names more than {MOST_RESOURCES} resources"));
        }
        Ok(SubscriptionFilter { lists, resources })
    }

    /// The params with which the hub itself listens to a server: all lists, and these resources. `meta` is the hub's
    /// description of itself.
    pub fn of_hub(resources: &BTreeSet<String>, meta: &str) -> String {
        let mut filter = json!({});
        for (key, _) in LISTS {
            filter[key] = json!(true);
        }
        if !resources.is_empty() {
            filter[RESOURCES] = json!(resources);
        }
        object([(FILTER, filter.to_string().as_str()), (keys::META, meta)])
    }

    /// Whether the client wants this notification of a changed list.
    pub fn wants(&self, notification: &str) -> bool {
        self.lists.contains(notification)
    }

    /// The resources whose changes the client wants.
    pub fn resources(&self) -> &BTreeSet<String> {
        &self.resources
    }

    /// The first message on the request with this id.
    pub fn acknowledged(&self, id: &str) -> String {
        let mut filter = json!({});
        for (key, _) in LISTS.into_iter().filter(|(_, method)| self.wants(method)) {
            filter[key] = json!(true);
        }
        if !self.resources.is_empty() {
            filter[RESOURCES] = json!(self.resources);
        }
        notification(method::ACKNOWLEDGED, id, Some((FILTER, &filter)))
    }
}

/// The notification of a changed list, on the request with this id.
pub fn list_changed(method: &str, id: &str) -> String {
    notification(method, id, None)
}

/// The notification of a changed resource, on the request with this id.
pub fn resource_updated(uri: &str, id: &str) -> String {
    notification(method::RESOURCE_UPDATED, id, Some(("uri", &json!(uri))))
}

/// The result of a request that the server ends.
pub fn ended(id: &str) -> String {
    let complete = Value::from(COMPLETE).to_string();
    object([(keys::RESULT_TYPE, complete.as_str()), (keys::META, subscription(id).as_str())])
}

fn notification(method: &str, id: &str, more: Option<(&str, &Value)>) -> String {
    let (meta, more) = (subscription(id), more.map(|(key, value)| (key, value.to_string())));
    let more = more.iter().map(|(key, value)| (*key, value.as_str()));
    let params = object([(keys::META, meta.as_str())].into_iter().chain(more));
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

/// Keeps the bytes of the id.
fn subscription(id: &str) -> String {
    object([(keys::SUBSCRIPTION_ID, id)])
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn what_is_asked_for_is_acknowledged() {
        let filter = json!({"toolsListChanged": true, "promptsListChanged": false, "resourceSubscriptions": ["a://x"], "other": 1});
        let params = to_raw_value(&json!({"notifications": filter})).unwrap();
        let read = SubscriptionFilter::read(&params).unwrap();
        assert!(read.wants(method::TOOLS_CHANGED) && !read.wants(method::PROMPTS_CHANGED));
        let told: Value = serde_json::from_str(&read.acknowledged("7")).unwrap();
        assert_eq!(
            told["params"]["notifications"],
            json!({"toolsListChanged": true, "resourceSubscriptions": ["a://x"]})
        );
        assert_eq!(told["params"]["_meta"], json!({keys::SUBSCRIPTION_ID: 7}));
        for unusable in
            [json!({}), json!({"notifications": 1}), json!({"notifications": {"resourceSubscriptions": [1]}})]
        {
            assert!(SubscriptionFilter::read(&to_raw_value(&unusable).unwrap()).is_err(), "{unusable}");
        }
    }
}
