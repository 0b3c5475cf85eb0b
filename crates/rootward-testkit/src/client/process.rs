//! A program whose standard input and output are pipes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::line::{Line, Received};

/// A running program. Dropping this kills it.
#[derive(Debug)]
pub struct Process {
    /// The process; its input and output are taken.
    pub child: Child,
    /// Its standard input; `None` once closed.
    pub input: Option<ChildStdin>,
    output: Output,
    errors: Option<File>,
}

/// Who reads the program's output.
#[derive(Debug)]
enum Output {
    /// A thread, at once: the program never blocks on a full pipe.
    Thread(Receiver<String>),
    /// The caller, one line at a time: meanwhile the pipe fills up.
    Caller(BufReader<ChildStdout>),
    /// Nobody: the pipe is closed.
    Nobody,
}

impl Process {
    /// Starts a program and reads its output as it arrives.
    pub fn start(command: &mut Command) -> io::Result<Process> {
        let mut process = Process::start_unread(command)?;
        let (sender, lines) = channel();
        if let Output::Caller(output) = std::mem::replace(&mut process.output, Output::Thread(lines)) {
            thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        }
        Ok(process)
    }

    /// Starts a program and reads its output only in [`Line::receive`], which then waits without a timeout.
    pub fn start_unread(command: &mut Command) -> io::Result<Process> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| io::Error::other(format!("cannot start {command:?}: {error}")))?;
        let input = child.stdin.take();
        let output = child.stdout.take().map(|output| BufReader::with_capacity(1 << 12, output));
        Ok(Process { child, input, output: output.map_or(Output::Nobody, Output::Caller), errors: None })
    }

    /// Sets the file that receives the program's standard error, so that failures can show it.
    #[must_use]
    pub fn with_errors(mut self, errors: File) -> Process {
        self.errors = Some(errors);
        self
    }

    /// Closes both pipes at once, as the kernel does when a client is killed. The output stays open if a thread reads it.
    pub fn hang_up(&mut self) {
        (self.input, self.output) = (None, Output::Nobody);
    }
}

impl Line for Process {
    fn send(&mut self, frame: &str) -> io::Result<()> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        input.write_all(format!("{frame}\n").as_bytes())
    }

    fn receive(&mut self, patience: Duration) -> io::Result<Received> {
        Ok(match &mut self.output {
            Output::Thread(lines) => match lines.recv_timeout(patience) {
                Ok(line) => Received::Frame(line),
                Err(RecvTimeoutError::Timeout) => Received::Silence,
                Err(RecvTimeoutError::Disconnected) => Received::End,
            },
            Output::Caller(output) => output.lines().next().transpose()?.map_or(Received::End, Received::Frame),
            Output::Nobody => Received::End,
        })
    }

    fn close(&mut self) -> io::Result<()> {
        self.input = None;
        Ok(())
    }

    fn complaint(&mut self) -> String {
        let mut text = Vec::new();
        let read = self.errors.as_mut().map(|errors| errors.rewind().and_then(|()| errors.read_to_end(&mut text)));
        match read {
            Some(Err(error)) => error.to_string(),
            _ => String::from_utf8_lossy(&text).trim().to_owned(),
        }
    }
}

impl Drop for Process {
    /// A test that failed leaves no program behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
