//! Lanes: orders in one queue, from which each lane takes the next one as soon as it has ended its last.

use std::{
    sync::{Mutex, PoisonError},
    thread, vec,
};

use anyhow::Result;

/// Orders that nobody has taken yet.
pub(crate) struct Queue<O>(Mutex<vec::IntoIter<O>>);

impl<O> Queue<O> {
    pub(crate) fn new(orders: Vec<O>) -> Self {
        Self(Mutex::new(orders.into_iter()))
    }

    pub(crate) fn next(&self) -> Option<O> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next()
    }
}

/// Runs all orders on that many threads. A failed order ends its thread; the others go on.
pub(crate) fn on_threads<O: Send, D: Send>(
    orders: Vec<O>,
    lanes: u32,
    run: impl Fn(O) -> Result<D> + Sync,
) -> Result<Vec<D>> {
    let queue = Queue::new(orders);
    let lane = || -> Result<Vec<D>> { std::iter::from_fn(|| queue.next()).map(&run).collect() };
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        let mut done = Vec::new();
        for lane in lanes {
            match lane.join() {
                Ok(of_lane) => done.extend(of_lane?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(done)
    })
}

#[cfg(test)]
mod tests {
    use anyhow::ensure;

    use super::*;

    #[test]
    fn every_order_is_run_once_whatever_the_number_of_lanes() {
        for lanes in [1, 3, 20] {
            let mut done = on_threads((0..10).collect(), lanes, Ok).unwrap();
            done.sort_unstable();
            assert_eq!(done, (0..10).collect::<Vec<i32>>());
        }
    }

    #[test]
    fn a_failed_order_fails_all() {
        let run = |order: i32| {
            ensure!(order != 7, "seven");
            Ok(order)
        };
        assert!(on_threads((0..10).collect(), 2, run).is_err());
    }
}
