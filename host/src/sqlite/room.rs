//! Tells a disk that is full from a database that may not grow.

use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
};

/// Whether the disk takes more beside a database. SQLite reports a full disk and a full quota with the same code, and after
/// either it has rolled back what would tell them apart. False where there is no such file.
#[must_use]
pub fn is_left(database: &Path) -> bool {
    static SOME: [u8; 128 * 1024] = [1; 128 * 1024];
    if !database.exists() {
        return false;
    }
    let mut trial = database.as_os_str().to_owned();
    trial.push("-room");
    let trial = Path::new(&trial);
    let written = File::create(trial).and_then(|mut file| {
        file.write_all(&SOME)?;
        file.sync_data()
    });
    let removed = fs::remove_file(trial);
    written.and(removed).is_ok()
}
