//! Metrics of this process, in Prometheus text format.

use std::collections::BTreeMap;
use std::fmt::Write;

use rootward_core::AuditEvent;

/// The counters.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Path decisions by denial code; the code is empty if allowed.
    decisions: BTreeMap<String, u64>,
    starts: u64,
}

impl Figures {
    /// Counts decisions.
    pub(super) fn decided(&mut self, events: &[AuditEvent]) {
        for event in events {
            let code = event.code.map(|code| code.to_string()).unwrap_or_default();
            *self.decisions.entry(code).or_default() += 1;
        }
    }

    /// Counts a started server process.
    pub(super) fn started(&mut self) {
        self.starts += 1;
    }

    /// All metrics; `running` yields the server name of each running process.
    pub(super) fn told<'r>(&self, clients: usize, running: impl Iterator<Item = &'r str>) -> String {
        let mut children: BTreeMap<&str, u64> = BTreeMap::new();
        running.for_each(|name| *children.entry(name).or_default() += 1);
        let mut told = String::new();
        let mut family = |name: &str, kind: &str, help: &str, samples: Vec<(String, u64)>| {
            let _ = writeln!(told, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in samples {
                let _ = writeln!(told, "{name}{labels} {value}");
            }
        };
        let clients = vec![(String::new(), u64::try_from(clients).unwrap_or(u64::MAX))];
        family("rootward_hub_clients", "gauge", "Clients and modern requests being served.", clients);
        let label = |name: &str, value: &str| format!("{{{name}=\"{}\"}}", escaped(value));
        let running = children.into_iter().map(|(name, count)| (label("server", name), count)).collect();
        family("rootward_children", "gauge", "Running server processes.", running);
        let starts = vec![(String::new(), self.starts)];
        family("rootward_child_starts_total", "counter", "Server processes started.", starts);
        let of_code = |(code, count): (&String, &u64)| {
            let decision = if code.is_empty() { "allow" } else { "deny" };
            (format!("{{decision=\"{decision}\",code=\"{}\"}}", escaped(code)), *count)
        };
        let decisions = self.decisions.iter().map(of_code).collect();
        family("rootward_decisions_total", "counter", "Path decisions.", decisions);
        told
    }
}

/// Escapes a label value.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_the_prometheus_format() {
        let decisions = BTreeMap::from([(String::new(), 3), ("outside_roots".to_owned(), 2)]);
        let mut figures = Figures { decisions, ..Figures::default() };
        figures.started();
        let told = figures.told(2, ["git", "a\"b", "git"].into_iter());
        for line in [
            "rootward_hub_clients 2",
            "rootward_children{server=\"git\"} 2",
            "rootward_children{server=\"a\\\"b\"} 1",
            "rootward_child_starts_total 1",
            "rootward_decisions_total{decision=\"allow\",code=\"\"} 3",
            "rootward_decisions_total{decision=\"deny\",code=\"outside_roots\"} 2",
            "# TYPE rootward_decisions_total counter",
        ] {
            assert!(told.lines().any(|told| told == line), "{line}: {told}");
        }
    }
}
