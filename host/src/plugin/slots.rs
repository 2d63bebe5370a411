//! How many calls run at the same time, and who waits.
//!
//! Owns the queue: bounded in length and in time; whoever waits for the same owner is served in the order of coming, owners in
//! rotation, so that none waits for all of another's. Never makes a sandbox. Used by `call.rs`, which holds a slot for as long
//! as the sandbox lives, and by `runtime.rs` for compilers. Whoever waits holds no sandbox and no lock of a database, so that
//! those who do come to their end.

use std::{
    collections::VecDeque,
    num::NonZeroU32,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{SyncSender, sync_channel},
    },
    time::Duration,
};

/// So many at the same time.
#[derive(Debug)]
pub(super) struct Slots {
    state: Mutex<State>,
    queue: usize,
}

#[derive(Debug)]
struct State {
    free: u32,
    /// One line for each owner who waits; the first is served next.
    lines: VecDeque<Line>,
    waiting: usize,
    /// The number of the next who waits.
    next: u64,
}

#[derive(Debug)]
struct Line {
    owner: u64,
    callers: VecDeque<(u64, SyncSender<Slot>)>,
}

/// The right to one of them; given on when it is dropped.
#[derive(Debug)]
pub(super) struct Slot(Arc<Slots>);

/// The queue is full, or the patience is at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Overloaded;

impl Slots {
    pub(super) fn new(slots: NonZeroU32, queue: NonZeroU32) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                free: slots.get(),
                lines: VecDeque::new(),
                waiting: 0,
                next: 0,
            }),
            queue: queue.get() as usize,
        })
    }

    /// A slot, at once or in turn.
    pub(super) fn take(
        self: &Arc<Self>,
        owner: u64,
        patience: Duration,
    ) -> Result<Slot, Overloaded> {
        let (number, turn) = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Ok(Slot(Arc::clone(self)));
            }
            if state.waiting >= self.queue {
                return Err(Overloaded);
            }
            // Room for one, so that giving a slot on never waits.
            let (mine, turn) = sync_channel(1);
            let number = state.next;
            state.next += 1;
            state.enqueue(owner, number, mine);
            (number, turn)
        };
        if let Ok(slot) = turn.recv_timeout(patience) {
            return Ok(slot);
        }
        self.state().leave(owner, number);
        // It may have come between the end of the patience and this.
        turn.try_recv().map_err(|_| Overloaded)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn enqueue(&mut self, owner: u64, number: u64, caller: SyncSender<Slot>) {
        self.waiting += 1;
        let caller = (number, caller);
        match self.lines.iter_mut().find(|line| line.owner == owner) {
            Some(line) => line.callers.push_back(caller),
            None => self.lines.push_back(Line {
                owner,
                callers: VecDeque::from([caller]),
            }),
        }
    }

    fn leave(&mut self, owner: u64, number: u64) {
        if let Some(line) = self.lines.iter_mut().find(|line| line.owner == owner) {
            let before = line.callers.len();
            line.callers.retain(|(waiting, _)| *waiting != number);
            self.waiting -= before - line.callers.len();
        }
        self.lines.retain(|line| !line.callers.is_empty());
    }

    /// The first of the first line, which then goes behind the others.
    fn pop(&mut self) -> Option<SyncSender<Slot>> {
        let mut line = self.lines.pop_front()?;
        let (_, caller) = line.callers.pop_front()?;
        self.waiting -= 1;
        if !line.callers.is_empty() {
            self.lines.push_back(line);
        }
        Some(caller)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.state();
            let next = state.pop();
            if next.is_none() {
                state.free += 1;
            }
            next
        };
        // A slot that nobody takes any more is dropped in its turn, outside the lock, and so given to the one after.
        if let Some(next) = next {
            drop(next.send(Self(Arc::clone(&self.0))));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn slots(slots: u32, queue: u32) -> Arc<Slots> {
        Slots::new(slots.try_into().unwrap(), queue.try_into().unwrap())
    }

    fn wait_until_waiting(slots: &Slots, count: usize) {
        while slots.state().waiting < count {
            thread::yield_now();
        }
    }

    /// The order in which callers of these owners, who come one after the other, are served.
    fn served(owners: &[u64]) -> Vec<usize> {
        let slots = slots(1, 8);
        let held = slots.take(9, LONG).unwrap();
        let (say, said) = mpsc::channel();
        let threads: Vec<_> = owners
            .iter()
            .enumerate()
            .map(|(number, &owner)| {
                let (of_thread, say) = (Arc::clone(&slots), say.clone());
                let thread = thread::spawn(move || {
                    let _slot = of_thread.take(owner, LONG).unwrap();
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
        let state = slots.state();
        assert_eq!((state.free, state.waiting), (1, 0));
        drop(state);
        said.try_iter().collect()
    }

    #[test]
    fn whoever_comes_first_is_served_first() {
        assert_eq!(served(&[1, 1, 1, 1, 1]), [0, 1, 2, 3, 4]);
    }

    /// M4: fair across tenants.
    #[test]
    fn owners_are_served_in_rotation() {
        assert_eq!(served(&[1, 1, 1, 1, 2, 3, 2]), [0, 4, 5, 1, 6, 2, 3]);
    }

    #[test]
    fn a_full_queue_and_the_end_of_patience_are_overload() {
        let slots = slots(1, 1);
        let held = slots.take(1, LONG).unwrap();
        let short = Duration::from_millis(1);
        assert_eq!(slots.take(1, short).unwrap_err(), Overloaded, "patience");
        assert_eq!(slots.state().waiting, 0);
        assert!(slots.state().lines.is_empty());
        let waiting = thread::spawn({
            let slots = Arc::clone(&slots);
            move || slots.take(1, LONG).map(drop)
        });
        wait_until_waiting(&slots, 1);
        assert_eq!(slots.take(2, LONG).unwrap_err(), Overloaded, "the queue");
        drop(held);
        assert_eq!(waiting.join().unwrap(), Ok(()));
        assert_eq!(slots.state().free, 1);
    }
}
