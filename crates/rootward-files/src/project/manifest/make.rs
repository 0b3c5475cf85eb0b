//! `Makefile`: its targets, without expansion.

use super::Facts;

pub(super) fn read(text: &str) -> Facts {
    let mut facts = Facts::default();
    let mut seen = Vec::new();
    for line in text.lines() {
        // Recipes, comments and conditions are not rules.
        if line.starts_with([' ', '\t', '#', '.', '-']) {
            continue;
        }
        let Some((targets, rest)) = line.split_once(':') else { continue };
        if rest.starts_with('=') || rest.starts_with(":=") || targets.contains(['=', '$', '%']) {
            continue;
        }
        for target in targets.split_whitespace() {
            // Users do not run targets for intermediate files.
            if !target.contains(['/', '.']) && !seen.contains(&target) {
                facts.script("make", target, None);
                seen.push(target);
            }
        }
        if seen.len() >= super::MOST_COMMANDS {
            break;
        }
    }
    facts
}
