//! Lets tests run code between two system calls of a verb, to force an interleaving that is otherwise rare.

/// A moment between two system calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moment {
    /// `append` opened the file and has not written to it yet.
    OpenedToAppend,
    /// The new contents are written, but do not have their name yet.
    Written,
    /// `replace_version` found the expected version and has not replaced the file yet.
    VersionChecked,
    /// A file was created in place and is still empty.
    CreatedInPlace,
    /// A file was copied to another disk, and the source is still there.
    Copied,
}

#[cfg(not(test))]
pub(super) const fn reached(_: Moment) {}

#[cfg(test)]
pub(super) use test::{meanwhile, reached, waits_for_a_turn};

#[cfg(test)]
mod test {
    use std::cell::RefCell;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread::{self, JoinHandle};

    use super::Moment;

    type Act = Box<dyn FnOnce() + Send>;

    thread_local! {
        static NEXT: RefCell<Option<(Moment, Act)>> = const { RefCell::new(None) };
    }

    /// How often a thread had to wait for its turn.
    static WAITED: AtomicUsize = AtomicUsize::new(0);

    pub(in crate::grant) fn waits_for_a_turn() {
        WAITED.fetch_add(1, Ordering::SeqCst);
    }

    pub(in crate::grant) fn reached(moment: Moment) {
        let is_next = NEXT.with_borrow(|next| next.as_ref().is_some_and(|(waited_for, _)| *waited_for == moment));
        if is_next && let Some((_, act)) = NEXT.take() {
            act();
        }
    }

    /// The thread that runs in between.
    pub(in crate::grant) struct Other(JoinHandle<()>);

    impl Other {
        /// Waits for the thread to end. Fails if the moment never came.
        pub(in crate::grant) fn join(self) -> thread::Result<()> {
            NEXT.take();
            self.0.join()
        }
    }

    /// When this thread reaches `moment`, runs `act` in another thread until it finishes or waits for its turn.
    pub(in crate::grant) fn meanwhile(moment: Moment, act: impl FnOnce() + Send + 'static) -> Other {
        let (start, started) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let other = thread::spawn(move || {
            started.recv().expect("the moment came");
            act();
            drop(end);
        });
        let waited = WAITED.load(Ordering::SeqCst);
        let step_in = move || {
            start.send(()).expect("the other thread waits");
            while ended.try_recv() == Err(mpsc::TryRecvError::Empty) && WAITED.load(Ordering::SeqCst) == waited {
                thread::yield_now();
            }
        };
        NEXT.set(Some((moment, Box::new(step_in))));
        Other(other)
    }
}
