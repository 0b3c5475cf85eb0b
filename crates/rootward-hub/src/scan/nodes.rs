//! The parts of a tool's schema that may apply to one value.

use super::schema::{Format, NOT_LISTED, Node};
use super::words::KeySays;

/// Maximum number of nodes for one value. No real schema comes near it.
const MOST: usize = 4;

/// The nodes that may apply to a value. There are several only if a key is listed in another case: a server that
/// ignores case takes the listed one, any other server does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nodes<'n>([Option<&'n Node>; MOST]);

/// Whether the schema or the user lists a key as it was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Listed {
    /// It does, or it lists no such key at all.
    AsSent,
    /// It lists the key in another case only.
    ButForCase,
}

impl<'n> Nodes<'n> {
    /// No schema applies.
    pub(super) const NONE: Nodes<'static> = Nodes([None; MOST]);

    pub(super) fn new(node: Option<&'n Node>) -> Nodes<'n> {
        let mut nodes = Nodes::NONE;
        nodes.0[0] = node;
        nodes
    }

    fn iter(&self) -> impl Iterator<Item = &'n Node> {
        self.0.iter().copied().flatten()
    }

    /// Whether a node has a property.
    pub(super) fn any(&self, has: fn(&Node) -> bool) -> bool {
        self.iter().any(has)
    }

    /// The nodes for the property `key`; `None` if there are too many.
    pub(super) fn property(&self, key: &str) -> Option<(Nodes<'n>, Listed)> {
        let (mut found, mut count, mut is_unlisted) = (Nodes::NONE, 0, false);
        let mut how = Listed::AsSent;
        let mut add = |node: &'n Node| {
            if found.iter().any(|known| std::ptr::eq(known, node)) {
                return Some(());
            }
            *found.0.get_mut(count)? = Some(node);
            count += 1;
            Some(())
        };
        for node in self.iter() {
            for listed in node.alike(key) {
                how = Listed::ButForCase;
                node.property(listed).map_or(Some(()), &mut add)?;
            }
            match node.property(key) {
                Some(node) => add(node)?,
                None => is_unlisted = true,
            }
        }
        // To one of several readings, the value has no schema.
        if is_unlisted && count > 0 {
            let place = found.0.get_mut(count)?;
            *place = Some(&NOT_LISTED);
        }
        Some((found, how))
    }

    /// The nodes for the members of a list, and what `format` says about these; `of_list` applies to members that say
    /// nothing.
    pub(super) fn items(&self, of_list: Format) -> (Nodes<'n>, Format) {
        let own = |list: &Node| list.items.as_deref().map(|items| items.format);
        let said = |list| own(list).filter(|format| *format != Format::Unsaid).unwrap_or(of_list);
        let format = self.iter().map(said).reduce(Format::stricter).unwrap_or(of_list);
        // The list's schema applies to its members, unless they have their own.
        let of_items = |list: &'n Node| {
            let items = list.items.as_deref();
            items.filter(|items| items.is_described_as_path || !list.is_described_as_path).unwrap_or(list)
        };
        (Nodes(self.0.map(|list| list.map(of_items))), format)
    }

    /// What `format` says. If several nodes differ, the one that makes the value a path.
    pub(super) fn format(&self) -> Format {
        self.iter().map(|node| node.format).reduce(Format::stricter).unwrap_or(Format::Unsaid)
    }

    /// What the key indicates. If the listed names and the key differ, the strictest.
    pub(super) fn says(&self, of_key: impl Fn() -> KeySays) -> KeySays {
        let says = |node: &Node| node.says.unwrap_or_else(&of_key);
        self.iter().map(says).reduce(KeySays::stricter).unwrap_or_else(of_key)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_in_another_case_has_both_readings() {
        let check = |schema: serde_json::Value, keys: &[&str], expect: Option<Format>| {
            let top = Node::read(&schema);
            let nodes = keys.iter().try_fold(Nodes::new(Some(&top)), |nodes, key| Some(nodes.property(key)?.0));
            assert_eq!(nodes.map(|nodes| nodes.format()), expect, "{schema} {keys:?}");
        };
        let dated = json!({"properties": {"when": {"format": "date"}, "path": {"format": "path"}}});
        check(dated.clone(), &["when"], Some(Format::Other));
        check(dated.clone(), &["When"], Some(Format::Unsaid));
        check(dated.clone(), &["PATH"], Some(Format::Path));
        check(dated.clone(), &["none"], Some(Format::Unsaid));
        let free =
            json!({"properties": {"opts": dated}, "additionalProperties": {"properties": {"to": {"format": "path"}}}});
        check(free.clone(), &["opts", "when"], Some(Format::Other));
        check(free.clone(), &["Opts", "when"], Some(Format::Unsaid));
        check(free.clone(), &["Opts", "Path"], Some(Format::Path));
        check(free.clone(), &["Opts", "to"], Some(Format::Path));
        check(free, &["opts", "to"], Some(Format::Unsaid));
        let several = |names: &[&str]| json!({"properties": names.iter().map(|name| (*name, json!({}))).collect::<std::collections::BTreeMap<_, _>>()});
        check(several(&["aaa", "AAA", "aAa"]), &["Aaa"], Some(Format::Unsaid));
        check(several(&["aaa", "AAA", "aAa", "aaA", "AaA"]), &["Aaa"], None);
        check(several(&["aaa", "AAA", "aAa", "aaA", "AaA"]), &["AAA"], Some(Format::Unsaid));
    }
}
