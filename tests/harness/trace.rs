//! Watches every system call with which a program changes a folder, and kills it between any two.
//!
//! The program is the real one, unchanged: it is traced as a debugger traces it. What is recorded is what the kernel was
//! asked to do, with the bytes. `disk.rs` makes of it what a power loss would leave.
//!
//! Several threads change a folder at once. A thread stands still when it enters the kernel and when it leaves it, until the
//! tracer lets it go on; so a change is recorded before any thread can know that it is made, and what one thread does because
//! of another's change comes after it. Calls that overlap may have come in any order: a sync says what was changed before it was
//! asked for, and is held responsible for no more.
#![allow(
    unsafe_code,
    reason = "a child that asks to be traced, and the kernel's union of what a stop can be"
)]

use std::{
    collections::{HashMap, VecDeque},
    ffi::OsString,
    fs::{self, File},
    os::unix::{ffi::OsStringExt as _, fs::FileExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use nix::{
    errno::Errno,
    libc,
    sys::{
        ptrace::{self, Options},
        signal::{Signal, kill},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};

/// One change of the folder. Paths are relative to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A file that was not there.
    Create(PathBuf),
    /// A folder that was not there.
    Mkdir(PathBuf),
    Write {
        path: PathBuf,
        at: u64,
        bytes: Vec<u8>,
    },
    Truncate {
        path: PathBuf,
        length: u64,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Unlink(PathBuf),
    /// Of a file, or of a folder's names: of the first so many changes, all that were made when it was asked for.
    Sync {
        path: PathBuf,
        covers: usize,
    },
}

/// What a program wrote to standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// So many changes were made when it did.
    pub after: usize,
    pub text: String,
}

/// A moment between two changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The program has asked for the change, counted from 0, and it is not made.
    Before(usize),
    /// It is made, and the program does not know.
    After(usize),
}

/// How a traced program ended.
#[derive(Debug)]
pub struct Traced {
    pub changes: Vec<Change>,
    pub said: Vec<Said>,
    /// None: it was killed.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Whether this machine lets a process trace its child: a container may forbid it.
pub fn is_possible() -> bool {
    let mut command = Command::new("true");
    ask_to_be_traced(&mut command);
    match command.spawn() {
        Ok(mut child) => {
            // It waits for its tracer.
            child.kill().unwrap();
            child.wait().unwrap();
            true
        }
        Err(_) => false,
    }
}

/// Runs a program to its end and records what it changes in a folder.
pub fn record(command: Command, folder: &Path) -> Traced {
    Watch::of(command, folder).run()
}

/// Runs a program up to a moment, and kills it there.
#[track_caller]
pub fn kill_at(command: Command, folder: &Path, moment: Moment) -> Traced {
    let traced = Watch::of(command, folder).until(moment).run();
    assert_eq!(traced.code, None, "the program did not come to {moment:?}");
    traced
}

/// A program that is to be run, and how it is watched.
pub struct Watch {
    command: Command,
    folder: PathBuf,
    moment: Option<Moment>,
    syncs: Syncs,
}

/// How long syncs take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syncs {
    /// As long as the disk lets them.
    AsTheyDo,
    /// As long as another thread has anything to do that does not wait for them.
    Slow,
}

impl Watch {
    pub fn of(command: Command, folder: &Path) -> Self {
        Self {
            command,
            folder: folder.to_owned(),
            moment: None,
            syncs: Syncs::AsTheyDo,
        }
    }

    /// It is killed there, if it comes there.
    #[must_use]
    pub fn until(mut self, moment: Moment) -> Self {
        self.moment = Some(moment);
        self
    }

    #[must_use]
    pub fn with(mut self, syncs: Syncs) -> Self {
        self.syncs = syncs;
        self
    }

    #[expect(
        clippy::zombie_processes,
        reason = "the tracer waits for the whole process group"
    )]
    pub fn run(mut self) -> Traced {
        let output = tempfile::tempdir().unwrap();
        let file = |name: &str| output.path().join(name);
        self.command
            .stdin(Stdio::null())
            .stdout(File::create(file("stdout")).unwrap())
            .stderr(File::create(file("stderr")).unwrap())
            .process_group(0);
        ask_to_be_traced(&mut self.command);
        let child = self.command.spawn().unwrap();
        let leader = Pid::from_raw(child.id().try_into().unwrap());
        let mut tracer = Tracer {
            leader,
            folder: self.folder,
            memory: File::open(format!("/proc/{leader}/mem")).unwrap(),
            asked: HashMap::new(),
            changes: Vec::new(),
            said: Vec::new(),
            moment: self.moment,
            syncs: self.syncs,
            held: VecDeque::new(),
        };
        let code = tracer.follow();
        let text = |name: &str| String::from_utf8(fs::read(file(name)).unwrap()).unwrap();
        Traced {
            changes: tracer.changes,
            said: tracer.said,
            code,
            stdout: text("stdout"),
            stderr: text("stderr"),
        }
    }
}

fn ask_to_be_traced(command: &mut Command) {
    // SAFETY: a single system call, which is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| Ok(ptrace::traceme()?));
    }
}

struct Tracer {
    leader: Pid,
    folder: PathBuf,
    memory: File,
    /// What each thread has asked for.
    asked: HashMap<Pid, Change>,
    changes: Vec<Change>,
    said: Vec<Said>,
    moment: Option<Moment>,
    syncs: Syncs,
    /// Threads whose syncs are slow.
    held: VecDeque<Pid>,
}

/// What becomes of a thread that has stopped.
enum Next {
    GoOn,
    /// Its sync has not yet begun.
    Hold,
    /// This is the moment.
    Kill,
}

impl Tracer {
    /// Until all threads have ended; yields the exit code.
    fn follow(&mut self) -> Option<i32> {
        let mut code = None;
        let mut begun = false;
        let mut killed = false;
        while let Some(status) = self.next_stop() {
            let (thread, signal) = match status {
                WaitStatus::Exited(thread, exit) => {
                    if thread == self.leader {
                        code = Some(exit);
                    }
                    continue;
                }
                // It has just become the program that it is to be.
                WaitStatus::Stopped(thread, Signal::SIGTRAP) if !begun => {
                    begun = true;
                    let options = Options::PTRACE_O_TRACESYSGOOD
                        | Options::PTRACE_O_TRACECLONE
                        | Options::PTRACE_O_TRACEFORK
                        | Options::PTRACE_O_TRACEVFORK
                        | Options::PTRACE_O_EXITKILL;
                    ptrace::setoptions(thread, options).unwrap();
                    // What was open before belonged to the program that was replaced.
                    self.memory = File::open(format!("/proc/{}/mem", self.leader)).unwrap();
                    (thread, None)
                }
                // Nothing is of interest any more.
                WaitStatus::PtraceSyscall(thread) if killed => (thread, None),
                WaitStatus::PtraceSyscall(thread) => {
                    match self.stopped(thread) {
                        Next::GoOn => {}
                        Next::Hold => {
                            self.held.push_back(thread);
                            continue;
                        }
                        Next::Kill => {
                            kill(self.group(), Signal::SIGKILL).unwrap();
                            killed = true;
                            self.held.clear();
                        }
                    }
                    (thread, None)
                }
                // A new thread begins with this one, which is not for it.
                WaitStatus::Stopped(thread, Signal::SIGSTOP) => (thread, None),
                WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
                WaitStatus::PtraceEvent(thread, _, event) => {
                    assert_eq!(
                        event,
                        libc::PTRACE_EVENT_CLONE,
                        "what another process changes is not recorded"
                    );
                    (thread, None)
                }
                _ => continue,
            };
            resume(thread, signal);
        }
        code
    }

    /// None: all have ended.
    fn next_stop(&mut self) -> Option<WaitStatus> {
        loop {
            let mut flags = WaitPidFlag::__WALL;
            if !self.held.is_empty() {
                flags |= WaitPidFlag::WNOHANG;
            }
            match waitpid(self.group(), Some(flags)) {
                Ok(WaitStatus::StillAlive) => {
                    // Twice: one that was seen to wait may have been woken by one that was not.
                    if self.all_others_wait() && self.all_others_wait() {
                        let first = self.held.pop_front().expect("somebody is held");
                        resume(first, None);
                    } else {
                        thread::yield_now();
                    }
                }
                Ok(status) => return Some(status),
                Err(Errno::ECHILD) => return None,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Whether every thread that is not held sleeps, or has ended.
    fn all_others_wait(&self) -> bool {
        let Ok(threads) = fs::read_dir(format!("/proc/{}/task", self.leader)) else {
            return true;
        };
        threads.flatten().all(|thread| {
            let id = thread.file_name().to_str().unwrap().parse().unwrap();
            let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            // proc(5): after the name in parentheses, which may contain some.
            let state = stat
                .rsplit_once(") ")
                .and_then(|(_, rest)| rest.chars().next());
            self.held.contains(&Pid::from_raw(id)) || matches!(state, None | Some('S' | 'Z'))
        })
    }

    /// A thread enters or leaves the kernel.
    fn stopped(&mut self, thread: Pid) -> Next {
        const ENTRY: u8 = 1;
        const EXIT: u8 = 2;
        let Ok(info) = ptrace::syscall_info(thread) else {
            return Next::GoOn;
        };
        match info.op {
            ENTRY => {
                // SAFETY: `op` says which member of the union is set.
                let entry = unsafe { info.u.entry };
                if entry.nr == libc::SYS_write as u64 && entry.args[0] == STANDARD_OUTPUT {
                    self.said.push(Said {
                        after: self.changes.len(),
                        text: String::from_utf8(self.bytes(entry.args[1], entry.args[2])).unwrap(),
                    });
                    return Next::GoOn;
                }
                let Some(change) = self.asked_for(thread, entry.nr, &entry.args) else {
                    return Next::GoOn;
                };
                let is_sync = matches!(change, Change::Sync { .. });
                self.asked.insert(thread, change);
                if self.moment == Some(Moment::Before(self.changes.len())) {
                    Next::Kill
                } else if is_sync && self.syncs == Syncs::Slow {
                    Next::Hold
                } else {
                    Next::GoOn
                }
            }
            EXIT => {
                let Some(mut change) = self.asked.remove(&thread) else {
                    return Next::GoOn;
                };
                // SAFETY: as above.
                let returned = unsafe { info.u.exit.sval };
                let Ok(returned) = usize::try_from(returned) else {
                    return Next::GoOn;
                };
                if let Change::Write { bytes, .. } = &mut change {
                    bytes.truncate(returned);
                }
                self.changes.push(change);
                if self.moment == Some(Moment::After(self.changes.len() - 1)) {
                    Next::Kill
                } else {
                    Next::GoOn
                }
            }
            _ => Next::GoOn,
        }
    }

    fn asked_for(&self, thread: Pid, number: u64, args: &[u64; 6]) -> Option<Change> {
        let fd = |at: usize| self.open_file(thread, args[at]);
        let named = |folder: usize, name: usize| self.named(thread, args[folder], args[name]);
        let here = |name: usize| self.named(thread, CURRENT_FOLDER, args[name]);
        let rename = |from: Option<PathBuf>, to: Option<PathBuf>| {
            Some(Change::Rename {
                from: from?,
                to: to?,
            })
        };
        let created = |path: Option<PathBuf>, flags: u64| {
            let path = path?;
            let creates = flags & libc::O_CREAT as u64 != 0;
            (creates && !self.folder.join(&path).exists()).then_some(Change::Create(path))
        };
        match i64::try_from(number).unwrap() {
            libc::SYS_pwrite64 => Some(Change::Write {
                path: fd(0)?,
                at: args[3],
                bytes: self.bytes(args[1], args[2]),
            }),
            libc::SYS_write => Some(Change::Write {
                path: fd(0)?,
                at: position(thread, args[0]),
                bytes: self.bytes(args[1], args[2]),
            }),
            libc::SYS_ftruncate => Some(Change::Truncate {
                path: fd(0)?,
                length: args[1],
            }),
            libc::SYS_fsync | libc::SYS_fdatasync => Some(Change::Sync {
                path: fd(0)?,
                covers: self.changes.len(),
            }),
            libc::SYS_renameat | libc::SYS_renameat2 => rename(named(0, 1), named(2, 3)),
            libc::SYS_unlinkat => Some(Change::Unlink(named(0, 1)?)),
            libc::SYS_mkdirat => Some(Change::Mkdir(named(0, 1)?)),
            libc::SYS_openat => created(named(0, 1), args[2]),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => rename(here(0), here(1)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink => Some(Change::Unlink(here(0)?)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir => Some(Change::Mkdir(here(0)?)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => created(here(0), args[1]),
            // Changes that nobody here makes, and that would be missed.
            libc::SYS_writev | libc::SYS_pwritev | libc::SYS_fallocate | libc::SYS_sendfile => {
                let path = fd(0)?;
                panic!("system call {number} on {} is not recorded", path.display())
            }
            libc::SYS_copy_file_range => {
                let path = fd(2)?;
                panic!("system call {number} on {} is not recorded", path.display())
            }
            libc::SYS_linkat => {
                let path = named(2, 3)?;
                panic!("a link {} is not recorded", path.display())
            }
            _ => {
                let _ = &here;
                None
            }
        }
    }

    fn group(&self) -> Pid {
        Pid::from_raw(-self.leader.as_raw())
    }

    /// The file behind a descriptor, if it has a name in the folder.
    fn open_file(&self, thread: Pid, fd: u64) -> Option<PathBuf> {
        let fd = i32::try_from(fd as i64).ok().filter(|fd| *fd >= 0)?;
        let path = fs::read_link(format!("/proc/{thread}/fd/{fd}")).ok()?;
        self.own(path)
    }

    fn named(&self, thread: Pid, folder: u64, name: u64) -> Option<PathBuf> {
        let name = PathBuf::from(OsString::from_vec(self.text(name)));
        let folder = if folder as i32 == CURRENT_FOLDER as i32 {
            fs::read_link(format!("/proc/{thread}/cwd")).ok()?
        } else {
            fs::read_link(format!("/proc/{thread}/fd/{}", folder as i32)).ok()?
        };
        self.own(folder.join(name))
    }

    /// What is of the folder, and stays.
    fn own(&self, path: PathBuf) -> Option<PathBuf> {
        let path = path.strip_prefix(&self.folder).ok()?;
        (!is_index(path)).then(|| path.to_owned())
    }

    fn bytes(&self, address: u64, length: u64) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(length).unwrap()];
        self.memory.read_exact_at(&mut bytes, address).unwrap();
        bytes
    }

    fn text(&self, address: u64) -> Vec<u8> {
        let mut text = vec![0; libc::PATH_MAX as usize];
        let read = self.memory.read_at(&mut text, address).unwrap_or(0);
        text.truncate(read);
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(0);
        text.truncate(end);
        text
    }
}

/// The index of a log is shared memory, made anew by whoever opens it first.
pub(crate) fn is_index(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"-shm")
}

/// Lets a thread go on up to its next stop.
fn resume(thread: Pid, signal: Option<Signal>) {
    match ptrace::syscall(thread, signal) {
        // It was killed meanwhile.
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(error) => panic!("{error}"),
    }
}

const STANDARD_OUTPUT: u64 = 1;

/// As the kernel is told that a name is relative to the current folder.
const CURRENT_FOLDER: u64 = libc::AT_FDCWD as u64;

fn position(thread: Pid, fd: u64) -> u64 {
    let info = fs::read_to_string(format!("/proc/{thread}/fdinfo/{fd}")).unwrap();
    let position = info.lines().find_map(|line| line.strip_prefix("pos:"));
    position.unwrap().trim().parse().unwrap()
}
