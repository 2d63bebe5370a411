//! Appends of several tasks in one physical transaction.
//!
//! Leader and followers: who comes while nobody writes writes at once, for himself alone; who comes meanwhile waits, and one of those
//! who waited writes next, for all of them. So a task that is alone has no hop to another thread and waits for nobody, and of many
//! tasks all those whose records became known during one write and its sync share the next. Knows nothing of what is written.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::{
    core::ports::journal::StoredRecord,
    words::{error::Error, id::TaskId},
};

/// The records that one task appends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch<'a> {
    pub(super) task: &'a TaskId,
    pub(super) records: &'a [StoredRecord],
}

/// Writes some batches in one transaction. What it yields is each batch's own answer; an error is about the transaction, and nothing
/// was written.
pub(super) type Write<'w, A> = &'w dyn Fn(&[Batch<'_>]) -> Result<Vec<Result<A, Error>>, Error>;

/// Who waits to append, and for what answer.
pub(super) struct AppendQueue<A> {
    state: Mutex<State<A>>,
    moved: Condvar,
}

struct State<A> {
    writing: bool,
    waiting: Vec<Arc<Waiting<A>>>,
}

struct Waiting<A> {
    task: TaskId,
    records: Vec<StoredRecord>,
    answer: Mutex<Option<Answer<A>>>,
}

enum Answer<A> {
    Of(Result<A, Error>),
    /// The write for all failed: each tries by himself, and learns why.
    Alone,
}

impl<A> AppendQueue<A> {
    /// Nobody waits.
    pub(super) const fn new() -> Self {
        let state = State {
            writing: false,
            waiting: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            moved: Condvar::new(),
        }
    }

    /// Has a batch written, by this thread or by another one, and yields its answer.
    pub(super) fn append(&self, own: Batch<'_>, write: Write<'_, A>) -> Result<A, Error> {
        let mut state = self.lock();
        if state.writing {
            let waiting = Arc::new(Waiting {
                task: own.task.clone(),
                records: own.records.to_vec(),
                answer: Mutex::new(None),
            });
            state.waiting.push(Arc::clone(&waiting));
            while state.writing {
                let woken = self.moved.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                let answer = waiting.answer().take();
                match answer {
                    Some(Answer::Of(answer)) => return answer,
                    Some(Answer::Alone) => {
                        drop(state);
                        return alone(own, write);
                    }
                    None => {}
                }
            }
            state.waiting.retain(|other| !Arc::ptr_eq(other, &waiting));
        }
        let others = std::mem::take(&mut state.waiting);
        state.writing = true;
        drop(state);
        let turn = Turn {
            queue: self,
            others: &others,
        };
        let theirs = others.iter().map(|other| Batch {
            task: &other.task,
            records: &other.records,
        });
        let batches: Vec<_> = std::iter::once(own).chain(theirs).collect();
        match write(&batches) {
            Ok(mut answers) => {
                for (other, answer) in others.iter().zip(answers.split_off(1)) {
                    *other.answer() = Some(Answer::Of(answer));
                }
                single(answers)
            }
            Err(_) if !others.is_empty() => {
                drop(turn);
                alone(own, write)
            }
            Err(error) => Err(error),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn alone<A>(own: Batch<'_>, write: Write<'_, A>) -> Result<A, Error> {
    single(write(&[own])?)
}

fn single<A>(answers: Vec<Result<A, Error>>) -> Result<A, Error> {
    let mut answers = answers.into_iter();
    answers.next().expect("each batch has an answer")
}

impl<A> Waiting<A> {
    fn answer(&self) -> MutexGuard<'_, Option<Answer<A>>> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a write, however it ended: nobody is left without an answer.
struct Turn<'q, A> {
    queue: &'q AppendQueue<A>,
    others: &'q [Arc<Waiting<A>>],
}

impl<A> Drop for Turn<'_, A> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        for other in self.others {
            other.answer().get_or_insert(Answer::Alone);
        }
        state.writing = false;
        self.queue.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::{
            Barrier,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
        time::Duration,
    };

    use super::*;
    use crate::words::error::{Facts, Fault, Kind};

    #[derive(Debug, thiserror::Error)]
    #[error("refused")]
    struct Refused;

    impl Fault for Refused {
        fn facts(&self) -> Facts {
            Facts::new("refused", Kind::Conflict, "")
        }
    }

    fn task(id: &str) -> TaskId {
        id.parse().unwrap()
    }

    /// Appends of four tasks, the first of which writes while the others come, and is answered with `first`.
    fn together(
        first: impl Fn() -> Result<(), Error> + Sync,
        write: impl Fn(&[Batch<'_>]) -> Result<Vec<Result<(), Error>>, Error> + Sync,
    ) -> Vec<Option<Result<(), Error>>> {
        let queue = AppendQueue::new();
        let writing = Barrier::new(4);
        let is_first = AtomicUsize::new(0);
        let write = |batches: &[Batch<'_>]| {
            if is_first.fetch_add(1, Ordering::SeqCst) > 0 {
                return write(batches);
            }
            assert_eq!(batches.len(), 1, "who is alone writes for himself");
            writing.wait();
            while queue.lock().waiting.len() < 3 {
                thread::sleep(Duration::from_millis(1));
            }
            first().map(|()| vec![Ok(())])
        };
        thread::scope(|scope| {
            let (queue, write, writing) = (&queue, &write, &writing);
            let append = move |id: &str| {
                let (task, records) = (task(id), []);
                let batch = Batch {
                    task: &task,
                    records: &records,
                };
                catch_unwind(AssertUnwindSafe(|| queue.append(batch, write))).ok()
            };
            let leader = scope.spawn(move || append("t0"));
            let others: Vec<_> = (1..4)
                .map(|n| {
                    scope.spawn(move || {
                        writing.wait();
                        append(&format!("t{n}"))
                    })
                })
                .collect();
            std::iter::once(leader)
                .chain(others)
                .map(|thread| thread.join().unwrap())
                .collect()
        })
    }

    #[test]
    fn those_who_come_during_a_write_share_the_next_and_each_has_an_answer_of_its_own() {
        let writes = Mutex::new(Vec::new());
        let answers = together(
            || Ok(()),
            |batches| {
                writes.lock().unwrap().push(batches.len());
                let answer = |batch: &Batch<'_>| match batch.task.as_str() {
                    "t2" => Err(Refused.into()),
                    _ => Ok(()),
                };
                Ok(batches.iter().map(answer).collect())
            },
        );
        assert_eq!(*writes.lock().unwrap(), [3]);
        let refused: Vec<_> = answers
            .into_iter()
            .map(|answer| answer.unwrap().is_err())
            .collect();
        assert_eq!(refused, [false, false, true, false]);
    }

    #[test]
    fn after_a_write_that_failed_for_all_each_tries_by_himself() {
        let alone = AtomicUsize::new(0);
        let answers = together(
            || Err(Refused.into()),
            |batches| match batches {
                [batch] if batch.task.as_str() != "t3" => {
                    alone.fetch_add(1, Ordering::SeqCst);
                    Ok(vec![Ok(())])
                }
                _ => Err(Refused.into()),
            },
        );
        let refused = answers.iter().flatten().filter(|answer| answer.is_err());
        assert_eq!(refused.count(), 2, "the first and t3");
        assert_eq!(alone.into_inner(), 2);
    }

    #[test]
    fn a_panic_of_the_one_who_writes_leaves_nobody_waiting() {
        let answers = together(
            || panic!("this thread ends"),
            |batches| Ok(batches.iter().map(|_| Ok(())).collect()),
        );
        let panicked = answers.iter().filter(|answer| answer.is_none());
        assert_eq!(panicked.count(), 1);
        assert!(answers.iter().flatten().all(Result::is_ok));
    }
}
