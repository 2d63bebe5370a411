//! Reads that end in time: SQLite asks now and then whether the time of the thread that reads is over.

use std::{cell::Cell, time::Duration};

use rusqlite::Connection;

use crate::words::stopwatch::Stopwatch;

/// After how many instructions SQLite asks. A step over one row of an index of words is a few of them, and takes long where a
/// phrase has many words.
const INSTRUCTIONS: i32 = 16;

thread_local! {
    static ENDS: Cell<Option<(Stopwatch, Duration)>> = const { Cell::new(None) };
}

/// Has the connection heed [`within`].
pub fn heed(connection: &mut Connection) -> Result<(), rusqlite::Error> {
    connection.progress_handler(INSTRUCTIONS, Some(is_late))
}

/// What is read on this thread within a time; none: a reading failed after it was over.
pub fn within<T, E>(time: Duration, read: impl FnOnce() -> Result<T, E>) -> Result<Option<T>, E> {
    ENDS.set(Some((Stopwatch::start(), time)));
    let result = read();
    let late = is_late();
    ENDS.set(None);
    match result {
        Err(_) if late => Ok(None),
        other => other.map(Some),
    }
}

fn is_late() -> bool {
    ENDS.get()
        .is_some_and(|(began, time)| began.elapsed() >= time)
}

#[cfg(test)]
mod tests {
    use super::{super::open, *};

    #[test]
    fn a_reading_that_is_late_is_interrupted_and_the_next_one_is_not() {
        const LONG: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file.sqlite");
        let mut connection = open::read_write(&file, open::BUSY, |_| Ok(())).unwrap();
        heed(&mut connection).unwrap();
        let read = |sql: &str| connection.query_row(sql, (), |row| row.get::<_, i64>(0));
        assert_eq!(within(Duration::from_millis(20), || read(LONG)), Ok(None));
        assert_eq!(
            within(Duration::ZERO, || read("SELECT 'x'")).ok(),
            Some(None)
        );
        assert_eq!(read("SELECT 1"), Ok(1));
        assert_eq!(
            within(Duration::from_secs(60), || read("SELECT 1")),
            Ok(Some(1))
        );
    }
}
