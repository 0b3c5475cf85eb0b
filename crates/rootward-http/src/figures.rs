//! The front's own metrics in `/metrics`.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use rootward_protocol::method;
use tokio::sync::Notify;

/// Upper bounds of the duration buckets, in seconds.
const BOUNDS: [f64; 11] = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0];

/// The metrics of one front.
#[derive(Debug)]
pub(crate) struct Figures {
    registry: Registry,
    sessions: Gauge,
    pub(crate) connections: Gauge,
    pub(crate) streams: Gauge,
    requests: Family<RequestLabels, Counter>,
    pub(crate) calls: Counter,
    durations: Family<FamilyLabel, Histogram>,
    pub(crate) received: Counter<u64, AtomicU64>,
    pub(crate) sent: Counter<u64, AtomicU64>,
    /// Requests that shutdown waits for.
    running: AtomicUsize,
    pub(crate) finished: Notify,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct RequestLabels {
    family: &'static str,
    status: u32,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct FamilyLabel {
    family: &'static str,
}

impl Figures {
    pub(crate) fn new() -> Figures {
        let mut figures = Figures {
            registry: Registry::with_prefix("rootward_http"),
            sessions: Gauge::default(),
            connections: Gauge::default(),
            streams: Gauge::default(),
            requests: Family::default(),
            calls: Counter::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BOUNDS)),
            received: Counter::default(),
            sent: Counter::default(),
            running: AtomicUsize::new(0),
            finished: Notify::new(),
        };
        let registry = &mut figures.registry;
        registry.register("sessions", "Open legacy sessions", figures.sessions.clone());
        registry.register("connections", "Open connections", figures.connections.clone());
        registry.register("streams", "Open event streams", figures.streams.clone());
        registry.register("requests", "Requests by kind and status", figures.requests.clone());
        registry.register("calls", "Tool calls", figures.calls.clone());
        registry.register_with_unit(
            "request_duration",
            "Time from a request's head to the end of its answer",
            Unit::Seconds,
            figures.durations.clone(),
        );
        registry.register_with_unit("received", "Bytes read from clients", Unit::Bytes, figures.received.clone());
        registry.register_with_unit("sent", "Bytes written to clients", Unit::Bytes, figures.sent.clone());
        figures
    }

    pub(crate) fn count_request(&self, family: &'static str, status: u16, seconds: f64) {
        self.requests.get_or_create(&RequestLabels { family, status: u32::from(status) }).inc();
        self.durations.get_or_create(&FamilyLabel { family }).observe(seconds);
    }

    pub(crate) fn begin(&self) {
        self.running.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn finish(&self) {
        if self.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.finished.notify_one();
        }
    }

    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Acquire)
    }

    /// The metrics in Prometheus text format, including those of the backend.
    pub(crate) fn text(&self, sessions: usize, of_backend: &str) -> String {
        self.sessions.set(i64::try_from(sessions).unwrap_or(i64::MAX));
        let mut shown = String::new();
        if text::encode(&mut shown, &self.registry).is_err() {
            tracing::warn!("cannot write the metrics");
        }
        // The end mark must follow the last metric.
        let shown = shown.strip_suffix("# EOF\n").unwrap_or(&shown);
        let of_backend = of_backend.trim_end().trim_end_matches("# EOF").trim_end();
        let line = if of_backend.is_empty() { "" } else { "\n" };
        format!("{shown}{of_backend}{line}# EOF\n")
    }
}

/// The label for a method.
pub(crate) fn family(called: &str) -> &'static str {
    let known = [
        method::INITIALIZE,
        method::PING,
        "tools",
        "prompts",
        "resources",
        "completion",
        "logging",
        "tasks",
        "server",
        "subscriptions",
        "notifications",
    ];
    let begins = called.split('/').next().unwrap_or_default();
    known.into_iter().find(|family| *family == begins).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_few_families() {
        let check = |method: &str, expect: &str| assert_eq!(family(method), expect);
        check("tools/call", "tools");
        check("ping", "ping");
        check("notifications/roots/list_changed", "notifications");
        check("somebody's/own", "other");
        check("", "other");
    }

    #[test]
    fn the_figures_end_once() {
        let figures = Figures::new();
        figures.count_request("tools", 200, 0.1);
        let shown = figures.text(3, "# TYPE mine gauge\nmine 1\n# EOF\n");
        assert!(shown.contains("rootward_http_sessions 3\n"), "{shown}");
        assert!(shown.contains("rootward_http_requests_total{family=\"tools\",status=\"200\"} 1\n"), "{shown}");
        assert!(shown.ends_with("mine 1\n# EOF\n") && shown.matches("# EOF").count() == 1, "{shown}");
    }
}
