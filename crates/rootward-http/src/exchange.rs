//! One request and its answer: for the metrics, and for shutdown, which waits for running requests.

use std::sync::Arc;
use std::time::Instant;

use crate::connection::Pace;
use crate::figures::Figures;

/// One request and its answer. It is over when this is dropped.
#[derive(Debug)]
pub(crate) struct Exchange {
    figures: Arc<Figures>,
    pace: Arc<Pace>,
    began: Instant,
    pub(crate) family: &'static str,
    pub(crate) status: u16,
    is_awaited: bool,
    is_stream: bool,
}

impl Exchange {
    pub(crate) fn new(figures: Arc<Figures>, pace: Arc<Pace>) -> Exchange {
        pace.begin();
        // The status if the client goes before its answer.
        Exchange {
            figures,
            pace,
            began: Instant::now(),
            family: "other",
            status: 499,
            is_awaited: false,
            is_stream: false,
        }
    }

    /// Makes shutdown wait for this request.
    pub(crate) fn awaited(&mut self) {
        if !std::mem::replace(&mut self.is_awaited, true) {
            self.figures.begin();
        }
    }

    /// The answer is a stream.
    pub(crate) fn streams(&mut self) {
        if !std::mem::replace(&mut self.is_stream, true) {
            self.figures.streams.inc();
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.pace.end();
        self.figures.count_request(self.family, self.status, self.began.elapsed().as_secs_f64());
        if self.is_stream {
            self.figures.streams.dec();
        }
        if self.is_awaited {
            self.figures.finish();
        }
    }
}
