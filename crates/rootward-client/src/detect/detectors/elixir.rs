//! `mix.exs`: Elixir projects.

use crate::detect::Kind;
use crate::detect::found::Found;

/// A program; `app: :name` is what every project but an umbrella has.
pub(super) fn read(_file: &str, text: &str) -> Vec<Found> {
    let name = text.lines().find_map(|line| {
        let atom = line.trim().strip_prefix("app:")?.trim().strip_prefix(':')?;
        let end = atom.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(atom.len());
        Some(&atom[..end])
    });
    let found = if name.is_some() { Found::certain } else { Found::likely };
    vec![found(Kind::ElixirProject).named(name)]
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn projects() {
        let check = |text: &str, name| check(read, "mix.exs", text, &[(Kind::ElixirProject, name, 0)]);
        check("  def project do\n    [\n      app: :my_app,\n      version: \"1\"", Some("my_app"));
        check("apps_path: \"apps\",", None);
        check("", None);
    }
}
