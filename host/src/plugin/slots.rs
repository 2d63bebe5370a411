//! How many sandboxes exist at the same time, and who waits for one.
//!
//! Owns the queue: first come, first served, bounded in length and in time. Never makes a sandbox. Used by `call.rs`,
//! which holds a slot for as long as the sandbox lives. Whoever waits holds no sandbox and no lock of a database, so that
//! those who do come to their end.

use std::{
    collections::VecDeque,
    num::{NonZeroU32, NonZeroU64},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{SyncSender, sync_channel},
    },
    time::Duration,
};

/// The slots of one engine.
#[derive(Debug)]
pub(super) struct Slots {
    state: Mutex<State>,
    queue: usize,
    patience: Duration,
}

#[derive(Debug)]
struct State {
    free: u32,
    waiting: VecDeque<(u64, SyncSender<Slot>)>,
    /// The number of the next who waits.
    next: u64,
}

/// The right to one sandbox; given on when it is dropped.
#[derive(Debug)]
pub(super) struct Slot(Arc<Slots>);

/// The queue is full, or the patience is at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Overloaded;

impl Slots {
    pub(super) fn new(sandboxes: NonZeroU32, queue: NonZeroU32, millis: NonZeroU64) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                free: sandboxes.get(),
                waiting: VecDeque::new(),
                next: 0,
            }),
            queue: queue.get() as usize,
            patience: Duration::from_millis(millis.get()),
        })
    }

    /// A slot, at once or in turn.
    pub(super) fn take(self: &Arc<Self>) -> Result<Slot, Overloaded> {
        let (number, turn) = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Ok(Slot(Arc::clone(self)));
            }
            if state.waiting.len() >= self.queue {
                return Err(Overloaded);
            }
            // Room for one, so that giving a slot on never waits.
            let (mine, turn) = sync_channel(1);
            let number = state.next;
            state.next += 1;
            state.waiting.push_back((number, mine));
            (number, turn)
        };
        if let Ok(slot) = turn.recv_timeout(self.patience) {
            return Ok(slot);
        }
        self.state()
            .waiting
            .retain(|(waiting, _)| *waiting != number);
        // It may have come between the end of the patience and this.
        turn.try_recv().map_err(|_| Overloaded)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.state();
            let next = state.waiting.pop_front();
            if next.is_none() {
                state.free += 1;
            }
            next
        };
        // A slot that nobody takes any more is dropped in its turn, outside the lock, and so given to the one after.
        if let Some((_, next)) = next {
            drop(next.send(Self(Arc::clone(&self.0))));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    fn slots(sandboxes: u32, queue: u32, millis: u64) -> Arc<Slots> {
        Slots::new(
            sandboxes.try_into().unwrap(),
            queue.try_into().unwrap(),
            millis.try_into().unwrap(),
        )
    }

    fn wait_until_waiting(slots: &Slots, count: usize) {
        while slots.state().waiting.len() < count {
            thread::yield_now();
        }
    }

    #[test]
    fn whoever_comes_first_is_served_first() {
        let slots = slots(1, 8, 60_000);
        let held = slots.take().unwrap();
        let (say, said) = mpsc::channel();
        let threads: Vec<_> = (0..5)
            .map(|number| {
                let (of_thread, say) = (Arc::clone(&slots), say.clone());
                let thread = thread::spawn(move || {
                    let _slot = of_thread.take().unwrap();
                    say.send(number).unwrap();
                });
                wait_until_waiting(&slots, number + 1);
                thread
            })
            .collect();
        drop(held);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(said.try_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(slots.state().free, 1);
    }

    #[test]
    fn a_full_queue_and_the_end_of_patience_are_overload() {
        let slots = slots(1, 1, 1);
        let held = slots.take().unwrap();
        assert_eq!(slots.take().unwrap_err(), Overloaded, "patience");
        assert!(slots.state().waiting.is_empty());
        drop(held);
        assert_eq!(slots.state().free, 1);

        let slots = self::slots(1, 1, 60_000);
        let held = slots.take().unwrap();
        let waiting = thread::spawn({
            let slots = Arc::clone(&slots);
            move || slots.take().map(drop)
        });
        wait_until_waiting(&slots, 1);
        assert_eq!(slots.take().unwrap_err(), Overloaded, "the queue");
        drop(held);
        assert_eq!(waiting.join().unwrap(), Ok(()));
        assert_eq!(slots.state().free, 1);
    }
}
