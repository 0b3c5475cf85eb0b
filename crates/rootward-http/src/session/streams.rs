//! The streams of one legacy session, as pure state: which message goes to which stream, what is kept for resumption,
//! who reads.
//!
//! A stream is a log. A reader reads messages from it at its own pace. Read messages are kept for a while, so that a
//! client whose connection broke can resume. A reader that falls too far behind is cut off; its client can also
//! resume.

use std::collections::VecDeque;
use std::task::Waker;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rootward_protocol::frame::{Envelope, Kind};
use rootward_protocol::message::{INTERNAL_ERROR, error};
use rootward_protocol::method;
use smallvec::SmallVec;

use super::log::{Log, Next};
use super::reader::{Reader, ReaderId};
use crate::config::Limits;
use crate::event::EventId;
use crate::frames;

/// How long a cancelled request may still be answered.
const CANCEL_TIME: Duration = Duration::from_secs(5);

/// The streams of one session.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    next_number: u32,
    next_reader: u32,
    /// In the order in which they were opened.
    list: Vec<Stream>,
    /// Messages that no stream can take now.
    waiting: VecDeque<Bytes>,
    waiting_bytes: usize,
    ended: bool,
}

#[derive(Debug)]
struct Stream {
    number: u32,
    /// The requests that wait for an answer on this stream. A GET stream never has any.
    open: SmallVec<[OpenRequest; 1]>,
    is_listening: bool,
    log: Log,
    reader: Option<Reader>,
    /// Since when nobody reads it.
    left: Instant,
}

/// A request that waits for its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OpenRequest {
    /// Its id, in the form of [`rootward_protocol::frame::Id::key`].
    pub(crate) key: Box<str>,
    /// The key of its progress token.
    pub(crate) token: Option<Box<str>>,
    /// When the client cancelled it.
    pub(crate) cancelled: Option<Instant>,
}

/// Why a stream is not opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StreamError {
    /// The session has ended.
    Ended,
    /// The session already has the maximum number of streams.
    TooMany,
    /// A request with this id waits for its answer.
    SameId,
}

/// Where a message from the backend belongs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heading {
    /// To the request with this key.
    Answer(Box<str>),
    /// To the request with this progress token.
    Progress(Box<str>),
    /// To an open request, because it probably caused the message.
    Related,
    /// To a GET stream.
    Unrelated,
}

impl Heading {
    /// Where this message belongs. `None` for an answer without an id.
    pub(crate) fn of(envelope: &Envelope<'_>) -> Option<Heading> {
        Some(match envelope.kind() {
            Kind::Response | Kind::ErrorResponse => Heading::Answer(envelope.id()?.key()),
            Kind::Request => Heading::Related,
            Kind::Notification => match envelope.method().unwrap_or_default() {
                method::PROGRESS => frames::told_token(envelope).map_or(Heading::Related, Heading::Progress),
                method::TOOLS_CHANGED
                | method::PROMPTS_CHANGED
                | method::RESOURCES_CHANGED
                | method::RESOURCE_UPDATED => Heading::Unrelated,
                _ => Heading::Related,
            },
        })
    }
}

impl Stream {
    fn is_finished(&self) -> bool {
        self.open.is_empty() && !self.is_listening
    }

    fn waits_for_answer(&self) -> bool {
        !self.open.is_empty()
    }
}

impl Streams {
    /// Opens a stream for these requests; without requests, a GET stream. Messages that waited for a stream go to it.
    pub(crate) fn open(
        &mut self,
        requests: SmallVec<[OpenRequest; 1]>,
        reader: impl FnOnce(ReaderId) -> Reader,
        limits: &Limits,
        now: Instant,
    ) -> Result<ReaderId, StreamError> {
        if self.ended {
            return Err(StreamError::Ended);
        }
        if self.list.iter().filter(|stream| stream.waits_for_answer() || stream.reader.is_some()).count()
            >= limits.streams
        {
            return Err(StreamError::TooMany);
        }
        let known = self.list.iter().flat_map(|stream| &stream.open);
        let is_known = |key: &str| known.clone().any(|open| *open.key == *key);
        let is_twice =
            |(at, request): (usize, &OpenRequest)| requests[..at].iter().any(|other| other.key == request.key);
        // SECURITY: with two requests under one id, the answer to one could be taken for the other's
        // (test: an_id_is_open_once)
        if requests.iter().enumerate().any(is_twice) || requests.iter().map(|request| &*request.key).any(is_known) {
            return Err(StreamError::SameId);
        }
        let id = ReaderId { stream: self.next_number, reader: self.next_reader };
        self.next_number += 1;
        self.next_reader += 1;
        let is_listening = requests.is_empty();
        let mut log = Log::default();
        for message in self.waiting.drain(..) {
            log.push(message);
        }
        self.waiting_bytes = 0;
        self.list.push(Stream {
            number: id.stream,
            open: requests,
            is_listening,
            log,
            reader: Some(reader(id)),
            left: now,
        });
        Ok(id)
    }

    /// Resumes the stream after this event. `None` if it is no longer kept.
    pub(crate) fn resume(&mut self, after: EventId, reader: impl FnOnce(ReaderId) -> Reader) -> Option<ReaderId> {
        let stream = self.list.iter_mut().find(|stream| stream.number == after.stream)?;
        let id = ReaderId { stream: stream.number, reader: self.next_reader };
        self.next_reader += 1;
        if let Some(old) = stream.reader.take() {
            old.wake();
        }
        stream.log.rewind(after.position);
        if stream.is_listening {
            for message in self.waiting.drain(..) {
                stream.log.push(message);
            }
            self.waiting_bytes = 0;
        }
        stream.reader = Some(reader(id));
        Some(id)
    }

    /// Routes a message from the backend. Returns answers for the backend: errors for questions that nobody will
    /// receive.
    pub(crate) fn route(
        &mut self,
        message: Bytes,
        heading: &Heading,
        limits: &Limits,
        now: Instant,
    ) -> SmallVec<[Bytes; 1]> {
        let mut target = match heading {
            Heading::Answer(key) => {
                let found = self.list.iter().position(|stream| stream.open.iter().any(|open| open.key == *key));
                let Some(found) = found else { return SmallVec::new() };
                self.list[found].open.retain(|open| open.key != *key);
                Some(found)
            }
            Heading::Progress(token) => {
                let is_asked = |stream: &Stream| stream.open.iter().any(|open| open.token.as_ref() == Some(token));
                self.list.iter().position(is_asked)
            }
            Heading::Related | Heading::Unrelated => None,
        };
        if target.is_none() {
            let newest = |wanted: fn(&Stream) -> bool| {
                self.list.iter().rposition(|stream| stream.reader.is_some() && wanted(stream))
            };
            let (request, listening) = (newest(Stream::waits_for_answer), newest(|stream| stream.is_listening));
            target = if *heading == Heading::Unrelated { listening.or(request) } else { request.or(listening) };
        }
        match target {
            Some(target) => {
                self.append(target, message, limits, now);
                SmallVec::new()
            }
            None => self.wait(message, limits),
        }
    }

    fn append(&mut self, target: usize, message: Bytes, limits: &Limits, now: Instant) {
        let stream = &mut self.list[target];
        stream.log.push(message);
        if let Some(reader) = &stream.reader {
            if stream.log.is_over(limits.queue, limits.queue_bytes) {
                reader.cut();
                stream.reader = None;
                stream.left = now;
            } else {
                reader.wake();
            }
        }
        self.trim(limits);
    }

    /// Keeps a message until there is a stream. If there are too many, the oldest are dropped.
    fn wait(&mut self, message: Bytes, limits: &Limits) -> SmallVec<[Bytes; 1]> {
        self.waiting_bytes += message.len();
        self.waiting.push_back(message);
        let mut unheard = SmallVec::new();
        while self.waiting.len() > limits.replay || (self.waiting_bytes > limits.replay_bytes && self.waiting.len() > 1)
        {
            let Some(oldest) = self.waiting.pop_front() else { break };
            self.waiting_bytes -= oldest.len();
            if let Some(id) = frames::question_id(&oldest) {
                let says = "the client does not read questions";
                unheard.push(Bytes::from(error(&id, INTERNAL_ERROR, says, None)));
            }
        }
        unheard
    }

    /// Drops what exceeds the limits: the oldest messages of the oldest streams.
    fn trim(&mut self, limits: &Limits) {
        let kept = |stream: &Stream| stream.log.kept(stream.reader.is_some());
        let (mut count, mut bytes) = self
            .list
            .iter()
            .map(kept)
            .fold((0, 0), |(count, bytes), (more, more_bytes)| (count + more, bytes + more_bytes));
        let mut at = 0;
        while (count > limits.replay || bytes > limits.replay_bytes) && at < self.list.len() {
            let stream = &mut self.list[at];
            if kept(stream).0 == 0 {
                at += 1;
                continue;
            }
            bytes -= stream.log.drop_first();
            count -= 1;
            if stream.is_finished() && stream.reader.is_none() && stream.log.is_empty() {
                self.list.remove(at);
            }
        }
    }

    /// The next message for a reader. If there is none, the waker is called when there may be.
    pub(crate) fn next(&mut self, id: ReaderId, waker: &Waker, limits: &Limits) -> Next {
        let Some(stream) = self.list.iter_mut().find(|stream| stream.number == id.stream) else { return Next::End };
        let is_finished = stream.is_finished();
        let Some(reader) = stream.reader.as_mut().filter(|reader| reader.id == id) else { return Next::End };
        match stream.log.take() {
            Some((position, message)) => {
                self.trim(limits);
                Next::Message(position, message)
            }
            None if is_finished || self.ended => Next::End,
            None => {
                reader.wait(waker);
                Next::Pending
            }
        }
    }

    /// Whether all answers of a stream have been read.
    pub(crate) fn is_done(&self, id: ReaderId) -> bool {
        let stream = self.list.iter().find(|stream| stream.number == id.stream);
        stream.is_none_or(|stream| stream.is_finished() && stream.log.is_read())
    }

    /// A reader leaves. Unread messages are kept for its client to resume.
    pub(crate) fn leave(&mut self, id: ReaderId, limits: &Limits, now: Instant) {
        let Some(at) = self.list.iter().position(|stream| stream.number == id.stream) else { return };
        let stream = &mut self.list[at];
        if stream.reader.as_ref().is_some_and(|reader| reader.id == id) {
            stream.reader = None;
            stream.left = now;
            if stream.log.is_empty() && !stream.waits_for_answer() {
                self.list.remove(at);
            }
            self.trim(limits);
        }
    }

    /// Removes a stream and its messages.
    pub(crate) fn forget(&mut self, id: ReaderId) {
        self.list.retain(|stream| stream.number != id.stream);
    }

    /// The client cancels a request. The backend may answer it or not.
    pub(crate) fn cancel(&mut self, key: &str, now: Instant) {
        let open = self.list.iter_mut().flat_map(|stream| &mut stream.open).find(|open| *open.key == *key);
        if let Some(open) = open {
            open.cancelled.get_or_insert(now);
        }
    }

    /// Drops streams that nobody resumed, and cancelled requests that the backend did not answer.
    pub(crate) fn sweep(&mut self, limits: &Limits, now: Instant) {
        for stream in &mut self.list {
            let before = stream.open.len();
            stream
                .open
                .retain(|open| open.cancelled.is_none_or(|when| now.saturating_duration_since(when) < CANCEL_TIME));
            if stream.open.len() < before
                && let Some(reader) = &stream.reader
            {
                reader.wake();
            }
        }
        self.list.retain(|stream| {
            let is_stale = now.saturating_duration_since(stream.left) >= limits.replay_time;
            stream.reader.is_some() || stream.waits_for_answer() || !is_stale
        });
    }

    /// Ends all streams: waiting requests get an error.
    pub(crate) fn end(&mut self, says: &str) {
        self.ended = true;
        for stream in &mut self.list {
            for open in std::mem::take(&mut stream.open) {
                stream.log.push(Bytes::from(error(&open.key, INTERNAL_ERROR, says, None)));
            }
            stream.is_listening = false;
            if let Some(reader) = &stream.reader {
                reader.wake();
            }
        }
        self.waiting.clear();
    }

    /// Whether somebody reads a stream.
    pub(crate) fn has_reader(&self) -> bool {
        self.list.iter().any(|stream| stream.reader.is_some())
    }
}
