//! Watches every system call with which a program changes a folder, and kills it between any two.
//!
//! The program is the real one, unchanged: it is traced as a debugger traces it. What is recorded is what the kernel was
//! asked to do, with the bytes. `disk.rs` makes of it what a power loss would leave.
#![allow(
    unsafe_code,
    reason = "a child that asks to be traced, and the kernel's union of what a stop can be"
)]

use std::{
    collections::HashMap,
    ffi::OsString,
    fs::{self, File},
    os::unix::{ffi::OsStringExt as _, fs::FileExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
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
    /// Of a file, or of a folder's names.
    Sync(PathBuf),
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
    /// None: it was killed.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a program to its end and records what it changes in a folder.
pub fn record(command: Command, folder: &Path) -> Traced {
    run(command, folder, None)
}

/// Runs a program up to a moment, and kills it there.
#[track_caller]
pub fn kill_at(command: Command, folder: &Path, moment: Moment) -> Traced {
    let traced = run(command, folder, Some(moment));
    assert_eq!(traced.code, None, "the program did not come to {moment:?}");
    traced
}

#[expect(
    clippy::zombie_processes,
    reason = "the tracer waits for the whole process group"
)]
fn run(mut command: Command, folder: &Path, moment: Option<Moment>) -> Traced {
    let output = tempfile::tempdir().unwrap();
    let file = |name: &str| output.path().join(name);
    command
        .stdin(Stdio::null())
        .stdout(File::create(file("stdout")).unwrap())
        .stderr(File::create(file("stderr")).unwrap())
        .process_group(0);
    // SAFETY: a single system call, which is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| Ok(ptrace::traceme()?));
    }
    let child = command.spawn().unwrap();
    let leader = Pid::from_raw(child.id().try_into().unwrap());
    let mut tracer = Tracer {
        leader,
        folder: folder.to_owned(),
        memory: File::open(format!("/proc/{leader}/mem")).unwrap(),
        asked: HashMap::new(),
        changes: Vec::new(),
        moment,
    };
    let code = tracer.follow();
    let text = |name: &str| String::from_utf8(fs::read(file(name)).unwrap()).unwrap();
    Traced {
        changes: tracer.changes,
        code,
        stdout: text("stdout"),
        stderr: text("stderr"),
    }
}

struct Tracer {
    leader: Pid,
    folder: PathBuf,
    memory: File,
    /// What each thread has asked for.
    asked: HashMap<Pid, Change>,
    changes: Vec<Change>,
    moment: Option<Moment>,
}

impl Tracer {
    /// Until all threads have ended; yields the exit code.
    fn follow(&mut self) -> Option<i32> {
        let mut code = None;
        let mut begun = false;
        loop {
            let group = Pid::from_raw(-self.leader.as_raw());
            let status = match waitpid(group, Some(WaitPidFlag::__WALL)) {
                Ok(status) => status,
                Err(Errno::ECHILD) => return code,
                Err(error) => panic!("{error}"),
            };
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
                        | Options::PTRACE_O_EXITKILL;
                    ptrace::setoptions(thread, options).unwrap();
                    // What was open before belonged to the program that was replaced.
                    self.memory = File::open(format!("/proc/{}/mem", self.leader)).unwrap();
                    (thread, None)
                }
                WaitStatus::PtraceSyscall(thread) => {
                    if self.stopped(thread) {
                        kill(group, Signal::SIGKILL).unwrap();
                    }
                    (thread, None)
                }
                // A new thread begins with this one, which is not for it.
                WaitStatus::Stopped(thread, Signal::SIGSTOP) => (thread, None),
                WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
                WaitStatus::PtraceEvent(thread, ..) => (thread, None),
                _ => continue,
            };
            match ptrace::syscall(thread, signal) {
                // It was killed meanwhile.
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// A thread enters or leaves the kernel. True: this is the moment.
    fn stopped(&mut self, thread: Pid) -> bool {
        const ENTRY: u8 = 1;
        const EXIT: u8 = 2;
        let Ok(info) = ptrace::syscall_info(thread) else {
            return false;
        };
        match info.op {
            ENTRY => {
                // SAFETY: `op` says which member of the union is set.
                let entry = unsafe { info.u.entry };
                let Some(change) = self.asked_for(thread, entry.nr, &entry.args) else {
                    return false;
                };
                self.asked.insert(thread, change);
                self.moment == Some(Moment::Before(self.changes.len()))
            }
            EXIT => {
                let Some(mut change) = self.asked.remove(&thread) else {
                    return false;
                };
                // SAFETY: as above.
                let returned = unsafe { info.u.exit.sval };
                let Ok(returned) = usize::try_from(returned) else {
                    return false;
                };
                if let Change::Write { bytes, .. } = &mut change {
                    bytes.truncate(returned);
                }
                self.changes.push(change);
                self.moment == Some(Moment::After(self.changes.len() - 1))
            }
            _ => false,
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
            libc::SYS_fsync | libc::SYS_fdatasync => Some(Change::Sync(fd(0)?)),
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

    /// What is of the folder, and stays: the index of a log is shared memory, made anew by whoever opens it first.
    fn own(&self, path: PathBuf) -> Option<PathBuf> {
        let is_index = path.as_os_str().as_encoded_bytes().ends_with(b"-shm");
        let path = path.strip_prefix(&self.folder).ok()?;
        (!is_index).then(|| path.to_owned())
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

/// As the kernel is told that a name is relative to the current folder.
const CURRENT_FOLDER: u64 = libc::AT_FDCWD as u64;

fn position(thread: Pid, fd: u64) -> u64 {
    let info = fs::read_to_string(format!("/proc/{thread}/fdinfo/{fd}")).unwrap();
    let position = info.lines().find_map(|line| line.strip_prefix("pos:"));
    position.unwrap().trim().parse().unwrap()
}
