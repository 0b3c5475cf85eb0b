//! A thread pool with a shared stack of jobs, each of which may add more.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

pub(super) struct Pool<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
}

struct State<J> {
    /// Last in, first out: walks go deep first, which keeps few directories open.
    jobs: Vec<J>,
    working: usize,
    waiting: usize,
    stopped: bool,
}

/// Ends a job, even if it panics, so that other threads do not wait for it.
struct Done<'p, J: Send>(&'p Pool<J>);

impl<J: Send> Drop for Done<'_, J> {
    fn drop(&mut self) {
        self.0.done();
    }
}

impl<J: Send> Pool<J> {
    /// Runs `first` and all jobs added to it, with `threads` threads (0: one per core), until none is left.
    pub(super) fn run<W>(
        first: J,
        threads: usize,
        new_worker: impl Fn() -> W + Sync,
        work: impl Fn(J, &mut W, &Pool<J>) + Sync,
    ) {
        let state = State { jobs: vec![first], working: 0, waiting: 0, stopped: false };
        let pool = Pool { state: Mutex::new(state), changed: Condvar::new() };
        let threads = match threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let turn = || {
            let mut worker = new_worker();
            while let Some(job) = pool.take() {
                let _done = Done(&pool);
                work(job, &mut worker, &pool);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // If no thread can be started, this one does the work alone.
                let _ = thread::Builder::new().spawn_scoped(scope, turn);
            }
            turn();
        });
    }

    pub(super) fn add(&self, jobs: Vec<J>) {
        if jobs.is_empty() {
            return;
        }
        let mut state = self.lock();
        state.jobs.extend(jobs);
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// Drops the remaining jobs.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.jobs.clear();
        self.changed.notify_all();
    }

    fn take(&self) -> Option<J> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return None;
            }
            if let Some(job) = state.jobs.pop() {
                state.working += 1;
                return Some(job);
            }
            if state.working == 0 {
                self.changed.notify_all();
                return None;
            }
            state.waiting += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    fn done(&self) {
        let mut state = self.lock();
        state.working -= 1;
        if state.working == 0 && state.jobs.is_empty() {
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
