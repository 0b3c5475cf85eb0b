//! Which message goes to which stream, and which messages are kept for replay.

use std::task::Waker;
use std::time::Duration;

use rootward_protocol::frame::Message;

use super::*;

/// Streams with a simulated clock.
struct Play {
    streams: Streams,
    limits: Limits,
    now: Instant,
    errors: Vec<String>,
}

impl Play {
    fn new(limits: Limits) -> Play {
        Play { streams: Streams::default(), limits, now: Instant::now(), errors: Vec::new() }
    }

    fn try_open(&mut self, requests: &[(&str, Option<&str>)]) -> Result<ReaderId, StreamError> {
        let open = |(key, token): &(&str, Option<&str>)| OpenRequest {
            key: (*key).into(),
            token: token.map(Into::into),
            cancelled: None,
        };
        let requests = requests.iter().map(open).collect();
        self.streams.open(requests, |id| Reader::new(id, Arc::default()), &self.limits, self.now)
    }

    fn request(&mut self, key: &str) -> ReaderId {
        self.try_open(&[(key, None)]).unwrap()
    }

    fn get(&mut self) -> ReaderId {
        self.try_open(&[]).unwrap()
    }

    fn says(&mut self, text: &str) {
        let Ok(Message::Single(envelope)) = Message::parse(text.as_bytes()) else { panic!("{text}") };
        let heading = Heading::of(&envelope).unwrap();
        let errors = self.streams.route(Bytes::from(text.to_owned()), &heading, &self.limits, self.now);
        self.errors.extend(errors.iter().map(|errors| String::from_utf8_lossy(errors).into_owned()));
    }

    /// What a reader gets now, and whether the stream ends there.
    fn heard(&mut self, id: ReaderId) -> (Vec<String>, bool) {
        let mut heard = Vec::new();
        loop {
            match self.streams.next(id, Waker::noop(), &self.limits) {
                Next::Message(position, message) => {
                    heard.push(format!("{position} {}", String::from_utf8_lossy(&message)));
                }
                Next::Pending => return (heard, false),
                Next::End => return (heard, true),
            }
        }
    }

    #[track_caller]
    fn check(&mut self, id: ReaderId, expect: &[&str], is_end: bool) {
        let (heard, end) = self.heard(id);
        assert_eq!((heard.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), end), (expect, is_end));
    }
}

const ASKS: &str = r#"{"id":"q","method":"roots/list"}"#;
const CHANGED: &str = r#"{"method":"notifications/tools/list_changed"}"#;
const LOGS: &str = r#"{"method":"notifications/message"}"#;

fn answer(id: u32) -> String {
    format!(r#"{{"id":{id},"result":{{}}}}"#)
}

#[test]
fn an_answer_goes_to_its_request_and_ends_its_stream() {
    let mut play = Play::new(Limits::default());
    let (one, two) = (play.request("1"), play.request("2"));
    play.says(&answer(2));
    play.says(&answer(7));
    play.check(two, &[&format!("1 {}", answer(2))], true);
    play.check(one, &[], false);
    assert!(play.streams.is_done(two) && !play.streams.is_done(one));
}

#[test]
fn questions_go_to_the_newest_open_request() {
    let mut play = Play::new(Limits::default());
    let (get, one, two) = (play.get(), play.request("1"), play.request("2"));
    play.says(ASKS);
    play.check(two, &[&format!("1 {ASKS}")], false);
    play.says(&answer(2));
    play.says(LOGS);
    play.check(one, &[&format!("1 {LOGS}")], false);
    play.says(&answer(1));
    play.says(ASKS);
    play.check(get, &[&format!("1 {ASKS}")], false);
}

#[test]
fn messages_of_no_request_prefer_the_get_stream() {
    let mut play = Play::new(Limits::default());
    let one = play.request("1");
    play.says(CHANGED);
    play.check(one, &[&format!("1 {CHANGED}")], false);
    let get = play.get();
    play.says(CHANGED);
    play.check(get, &[&format!("1 {CHANGED}")], false);
    play.check(one, &[], false);
}

#[test]
fn progress_goes_to_the_request_that_asked_for_it() {
    let mut play = Play::new(Limits::default());
    let one = play.try_open(&[("1", Some(r#""t""#))]).unwrap();
    let two = play.request("2");
    let progress = r#"{"method":"notifications/progress","params":{"progressToken":"\u0074"}}"#;
    play.says(progress);
    play.check(one, &[&format!("1 {progress}")], false);
    play.check(two, &[], false);
}

#[test]
fn messages_without_a_stream_wait_within_bounds() {
    let mut play = Play::new(Limits { replay: 2, ..Limits::default() });
    play.says(ASKS);
    play.says(CHANGED);
    play.says(LOGS);
    assert_eq!(play.errors.len(), 1, "{:?}", play.errors);
    assert!(play.errors[0].contains(r#""id":"q","error""#), "{:?}", play.errors);
    let one = play.request("1");
    play.check(one, &[&format!("1 {CHANGED}"), &format!("2 {LOGS}")], false);
    let get = play.get();
    play.check(get, &[], false);
}

#[test]
fn an_id_is_open_once() {
    let mut play = Play::new(Limits { streams: 2, ..Limits::default() });
    play.request("1");
    assert_eq!(play.try_open(&[("1", None)]), Err(StreamError::SameId));
    assert_eq!(play.try_open(&[("2", None), ("2", None)]), Err(StreamError::SameId));
    play.says(&answer(1));
    play.request("1");
    assert_eq!(play.try_open(&[("3", None)]), Err(StreamError::TooMany));
}

#[test]
fn a_stream_is_resumed_where_it_broke() {
    let mut play = Play::new(Limits::default());
    let one = play.request("1");
    play.says(LOGS);
    play.says(ASKS);
    assert_eq!(play.heard(one).0.len(), 2);
    play.streams.leave(one, &play.limits, play.now);
    play.says(&answer(1));
    let resume = |play: &mut Play, position| {
        play.streams.resume(EventId { stream: one.stream, position }, |id| Reader::new(id, Arc::default()))
    };
    let again = resume(&mut play, 1).unwrap();
    play.check(again, &[&format!("2 {ASKS}"), &format!("3 {}", answer(1))], true);
    // A client may not have received even those messages.
    let last = resume(&mut play, 2).unwrap();
    play.check(again, &[], true);
    play.check(last, &[&format!("3 {}", answer(1))], true);
    play.streams.leave(last, &play.limits, play.now);
    play.now += Duration::from_mins(3);
    play.streams.sweep(&play.limits, play.now);
    assert_eq!(resume(&mut play, 0), None);
}

#[test]
fn replay_is_bounded() {
    let mut play = Play::new(Limits { replay: 2, ..Limits::default() });
    let one = play.request("1");
    (0..5).for_each(|_| play.says(LOGS));
    play.check(one, &["1", "2", "3", "4", "5"].map(|at| format!("{at} {LOGS}")).each_ref().map(String::as_str), false);
    let again = play.streams.resume(EventId { stream: one.stream, position: 0 }, |id| Reader::new(id, Arc::default()));
    play.check(again.unwrap(), &[&format!("4 {LOGS}"), &format!("5 {LOGS}")], false);
}

#[test]
fn a_reader_that_falls_behind_is_cut_off() {
    let mut play = Play::new(Limits { queue: 2, ..Limits::default() });
    let one = play.request("1");
    play.says(LOGS);
    play.says(LOGS);
    assert!(play.streams.has_reader());
    play.says(&answer(1));
    assert!(!play.streams.has_reader());
    play.check(one, &[], true);
    let again = play.streams.resume(EventId { stream: one.stream, position: 0 }, |id| Reader::new(id, Arc::default()));
    assert_eq!(play.heard(again.unwrap()).0.len(), 3);
}

#[test]
fn a_cancelled_request_may_be_answered_for_a_while() {
    let mut play = Play::new(Limits::default());
    let (one, two) = (play.request("1"), play.request("2"));
    play.streams.cancel("1", play.now);
    play.streams.cancel("2", play.now);
    play.says(&answer(1));
    play.streams.sweep(&play.limits, play.now);
    play.check(one, &[&format!("1 {}", answer(1))], true);
    play.check(two, &[], false);
    play.now += Duration::from_secs(5);
    play.streams.sweep(&play.limits, play.now);
    play.check(two, &[], true);
}

#[test]
fn the_end_answers_waiting_requests() {
    let mut play = Play::new(Limits::default());
    let (get, one) = (play.get(), play.request("1"));
    play.streams.end("over");
    let (heard, is_end) = play.heard(one);
    assert!(heard.len() == 1 && heard[0].contains("over") && is_end, "{heard:?}");
    play.check(get, &[], true);
    assert_eq!(play.try_open(&[]), Err(StreamError::Ended));
}
