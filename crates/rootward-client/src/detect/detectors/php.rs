//! `composer.json`: PHP packages.

use super::json;
use crate::detect::Kind;
use crate::detect::found::Found;

pub(super) fn read(_file: &str, text: &str) -> Vec<Found> {
    let manifest = json::object(text);
    let name = manifest.as_ref().and_then(json::name);
    let found = if name.is_some() { Found::certain } else { Found::likely };
    vec![found(Kind::PhpPackage).named(name)]
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn packages() {
        let check = |text: &str, name| check(read, "composer.json", text, &[(Kind::PhpPackage, name, 0)]);
        check(r#"{"name": "vendor/package"}"#, Some("vendor/package"));
        check(r#"{"require": {}}"#, None);
        check("{{", None);
    }
}
