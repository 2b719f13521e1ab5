//! Starts the launcher's process, and manages its socket and the page shared with it.
//!
//! This module moves bytes and detects when the launcher is gone; `wire` interprets the bytes, and
//! `runner` handles the loss of a launcher. A [`Link`] consists only of the process and the socket.
//! The launcher is started from a memory file, so that nothing has to be installed. If that is
//! refused, it is started from a private file that is removed immediately.

#![expect(unsafe_code, reason = "mapping and reading the page that is shared with the launcher")]

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::iter;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::{Errno, IoSlice, read};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    sendmsg, socketpair,
    sockopt::{Timeout, set_socket_timeout},
};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::group::{Group, InFlight};
use crate::sys::memory;
use crate::wire::{MOST_DESCRIPTORS, REPLY_LENGTH, Reply, Request};

/// The program, built from `c/launcher.c` by the build script.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/launcher"));

const PAGE: usize = 4096;

/// Default interval at which a caller that waits for an answer checks whether the launcher is
/// stopped.
const PULSE: Duration = Duration::from_secs(1);
/// Time after which a stopped launcher that nobody continues is ended together with its run.
const MOST_STOPPED: Duration = Duration::from_secs(5);

/// Result of waiting for the launcher's answer.
pub(crate) enum Answer {
    /// The reply has arrived.
    Reply(Reply),
    /// A signal came first; the launcher is still working.
    Signal,
    /// The launcher is gone.
    Gone,
}

/// Reason for waking up while waiting for several descriptors.
enum WakeReason {
    Answer,
    Other,
    Nothing,
}

/// Destination of the process's output.
#[derive(Clone, Copy)]
enum OutputTarget {
    /// The output of `assay`, which commands inherit.
    Inherited,
    /// No output.
    Nowhere,
}

/// A process of the launcher's program, and the socket to it.
pub(crate) struct Link {
    process: Child,
    socket: OwnedFd,
    /// The part of a reply that has been received. Replies are small and arrive whole, but a stream
    /// does not guarantee that.
    partial: [u8; REPLY_LENGTH],
    received: usize,
    /// Current time limit for reading from the socket.
    pulse: Duration,
    /// True while the answer to a greeting is outstanding.
    greeting: bool,
}

/// A running launcher.
pub(crate) struct Launcher {
    link: Link,
    page: Arc<Page>,
}

impl Launcher {
    /// Starts a launcher and sends the greeting. The answer to it is not awaited, and arrives
    /// before the answer to the first request.
    pub(crate) fn start() -> io::Result<Self> {
        let mut launcher = Self::greet(Link::start(OutputTarget::Inherited)?)?;
        launcher.link.greeting = true;
        Ok(launcher)
    }

    /// Starts a launcher that runs nothing, but kills the process group recorded in its page when
    /// `assay` is gone, for any reason.
    pub(crate) fn start_as_guard() -> io::Result<Self> {
        let mut guard = Self::greet(Link::start_silent()?)?;
        match guard.link.acknowledged()? {
            None => Ok(guard),
            Some(error) => Err(io::Error::from_raw_os_error(error)),
        }
    }

    fn greet(link: Link) -> io::Result<Self> {
        let file = memory::file("assay-page")?;
        ftruncate(&file, PAGE as u64)?;
        let page = Arc::new(Page::map(file.as_fd())?);
        link.send(Request::Hello, &[], &[file.as_fd()])?;
        Ok(Self { link, page })
    }

    /// Returns the connection to the launcher.
    pub(crate) fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    /// Kills the launcher. If it is about to start a run, that run does not survive.
    pub(crate) fn kill(&mut self) -> io::Result<()> {
        self.link.process.kill()
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.link.process_id()
    }

    pub(crate) fn page(&self) -> &Arc<Page> {
        &self.page
    }
}

impl Link {
    /// Starts a process of the launcher's program that has no output.
    pub(crate) fn start_silent() -> io::Result<Self> {
        Self::start(OutputTarget::Nowhere)
    }

    fn start(talk: OutputTarget) -> io::Result<Self> {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        set_socket_timeout(&ours, Timeout::Recv, Some(PULSE))?;
        let process = spawn(&theirs, talk)?;
        Ok(Self {
            process,
            socket: ours,
            partial: [0; REPLY_LENGTH],
            received: 0,
            pulse: PULSE,
            greeting: false,
        })
    }

    /// Waits for an answer without data; returns the `errno` if the request failed.
    pub(crate) fn acknowledged(&mut self) -> io::Result<Option<i32>> {
        loop {
            match self.receive()? {
                Answer::Reply(reply) => return Ok(reply.failure.map(|(_, error)| error)),
                Answer::Signal => {}
                Answer::Gone => return Err(io::Error::other("it ended as soon as it was started")),
            }
        }
    }

    /// Makes the process exit, without waiting for it.
    pub(crate) fn dismiss(&self) {
        // The process exits at the end of the stream. If it has exited already, this is harmless.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
    }

    /// Makes the process exit, and waits for it.
    pub(crate) fn end(&mut self) -> io::Result<ExitStatus> {
        self.dismiss();
        if self.is_stopped()
            && let Some(process) = self.process_handle()
        {
            let _ = kill_process(process, Signal::CONT);
        }
        self.process.wait()
    }

    /// Kills the process before it can do anything more, and waits for it.
    pub(crate) fn kill(&mut self) {
        // The only possible error is that it is gone already, which is harmless.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Sends a request, its payload and a few descriptors.
    pub(crate) fn send(
        &self,
        request: Request,
        payload: &[u8],
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        // In one piece, so that the launcher is woken once.
        let bytes = [&request.to_bytes()[..], payload].concat();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(io::Error::other("too many descriptors for one request"));
        }
        let mut sent = 0;
        while sent < bytes.len() {
            let rest = [IoSlice::new(&bytes[sent..])];
            match sendmsg(&self.socket, &rest, &mut control, SendFlags::NOSIGNAL) {
                Ok(n) => {
                    sent += n;
                    control.clear();
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Sleeps until the launcher answers, a signal arrives, or the launcher is gone. A launcher
    /// that was stopped and not continued for five seconds is killed.
    pub(crate) fn receive(&mut self) -> io::Result<Answer> {
        self.receive_watching(PULSE, &[], &mut || true)
    }

    /// Like [`Self::receive`]; also calls `look` whenever there has been no answer for `every`, or
    /// one of `also` is readable. If `look` returns false, `also` is no longer watched.
    pub(crate) fn receive_watching(
        &mut self,
        every: Duration,
        mut also: &[BorrowedFd<'_>],
        look: &mut dyn FnMut() -> bool,
    ) -> io::Result<Answer> {
        if self.pulse != every {
            set_socket_timeout(&self.socket, Timeout::Recv, Some(every))?;
            self.pulse = every;
        }
        let mut stopped = Duration::ZERO;
        loop {
            let come =
                if also.is_empty() { Ok(WakeReason::Answer) } else { self.what_comes(also, every) };
            let come = match come {
                Ok(WakeReason::Answer) => read(&self.socket, &mut self.partial[self.received..]),
                Ok(WakeReason::Nothing) => Err(Errno::AGAIN),
                Ok(WakeReason::Other) => {
                    if !look() {
                        also = &[];
                    }
                    continue;
                }
                Err(error) => Err(error),
            };
            match come {
                Ok(0) | Err(Errno::CONNRESET) => return Ok(Answer::Gone),
                Ok(n) => self.received += n,
                Err(Errno::INTR) => return Ok(Answer::Signal),
                Err(Errno::AGAIN) => {
                    stopped = if self.is_stopped() { stopped + every } else { Duration::ZERO };
                    if stopped >= MOST_STOPPED {
                        self.kill();
                        return Ok(Answer::Gone);
                    }
                    if !look() {
                        also = &[];
                    }
                }
                Err(error) => return Err(error.into()),
            }
            if self.received == REPLY_LENGTH {
                self.received = 0;
                match Reply::from_bytes(&self.partial) {
                    Some(Reply { failure: None, .. }) if self.greeting => self.greeting = false,
                    Some(reply) => return Ok(Answer::Reply(reply)),
                    None => return Err(io::Error::other("it sent an unexpected message")),
                }
            }
        }
    }

    /// Sleeps until the launcher answers, one of `also` is readable, or `every` has passed.
    fn what_comes(&self, also: &[BorrowedFd<'_>], every: Duration) -> Result<WakeReason, Errno> {
        let mut polled: Vec<PollFd<'_>> = iter::once(self.socket.as_fd())
            .chain(also.iter().copied())
            .map(|own| PollFd::from_borrowed_fd(own, PollFlags::IN))
            .collect();
        let every = Timespec::try_from(every).map_err(|_| Errno::INVAL)?;
        let come = poll(&mut polled, Some(&every))?;
        Ok(match polled[0].revents().is_empty() {
            false => WakeReason::Answer,
            true if come > 0 => WakeReason::Other,
            true => WakeReason::Nothing,
        })
    }

    fn is_stopped(&self) -> bool {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let process = self.process_handle();
        process.is_some_and(|process| matches!(waitid(WaitId::Pid(process), options), Ok(Some(_))))
    }

    fn process_handle(&self) -> Option<Pid> {
        Pid::from_raw(self.process.id().cast_signed())
    }

    /// Returns the socket, for polling together with other descriptors.
    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Launcher {
    /// Kills the process group in flight, if any, and the launcher with it. Otherwise dropping the
    /// link ends the launcher.
    fn drop(&mut self) {
        if self.page.kill_group() {
            // The launcher may be waiting for a process that cannot be waited for, so it is killed.
            // The only possible error is that it is already gone, which is harmless.
            let _ = self.link.process.kill();
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The failure to wait for one of our own processes cannot be reported to anyone.
        let _ = self.end();
    }
}

/// The page shared with the launcher. It stays mapped as long as anyone may want to abort a run.
#[derive(Debug)]
pub(crate) struct Page {
    address: NonNull<Group>,
}

// SAFETY: the page is only ever accessed as one atomic integer, and unmapped by the last owner.
unsafe impl Send for Page {}
// SAFETY: as above.
unsafe impl Sync for Page {}

impl Page {
    fn map(file: BorrowedFd<'_>) -> io::Result<Self> {
        // SAFETY: a new mapping at an address that the kernel chooses touches none of our memory.
        let address = unsafe {
            mmap(null_mut(), PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0)?
        };
        let address = NonNull::new(address.cast()).expect("a mapping is never at address zero");
        Ok(Self { address })
    }
}

/// The page contains one process group, the one in flight.
impl Deref for Page {
    type Target = Group;

    fn deref(&self) -> &Group {
        // SAFETY: the mapping lives as long as `self` and is aligned to a page, and both sides
        // write the integer in one piece.
        unsafe { self.address.as_ref() }
    }
}

impl InFlight for Page {
    fn group(&self) -> &Group {
        self
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: the address and length are those of our own mapping, and nothing refers to it any
        // more. A failure would leave a page mapped, which is harmless.
        let _ = unsafe { munmap(self.address.as_ptr().cast(), PAGE) };
    }
}

fn spawn(socket: &OwnedFd, talk: OutputTarget) -> io::Result<Child> {
    match spawn_from_memory(socket, talk) {
        Ok(child) => Ok(child),
        // Hardened systems refuse to execute memory files, or have no `/proc` that gives them a
        // path.
        Err(_) => spawn_from_file(socket, talk, &std::env::temp_dir()),
    }
}

fn spawn_from_memory(socket: &OwnedFd, talk: OutputTarget) -> io::Result<Child> {
    let name = "assay-launcher";
    let file = match memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::EXEC) {
        // Kernels before 6.3 do not have the flag for executable memory files.
        Err(Errno::INVAL) => memfd_create(name, MemfdFlags::CLOEXEC)?,
        other => other?,
    };
    let mut file = fs::File::from(file);
    file.write_all(PROGRAM)?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    spawn_path(Path::new(&format!("/proc/self/fd/{number}")), socket, talk)
}

fn spawn_from_file(socket: &OwnedFd, talk: OutputTarget, directory: &Path) -> io::Result<Child> {
    // The name need not be secret: an existing file is never used.
    let path = (0_u32..100)
        .map(|i| directory.join(format!("assay-launcher-{}-{i}", std::process::id())))
        .find_map(|path| write_private(&path))
        .ok_or_else(|| {
            io::Error::other(format!("cannot write a program in `{}`", directory.display()))
        })?;
    let mut spawned = spawn_path(&path, socket, talk);
    for _ in 0..50 {
        // A process that another thread has started in the meantime may hold our file open for
        // writing until it calls exec.
        if spawned.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::ExecutableFileBusy) {
            std::thread::sleep(std::time::Duration::from_millis(2));
            spawned = spawn_path(&path, socket, talk);
        }
    }
    let removed = fs::remove_file(&path);
    let child = spawned?;
    removed.map(|()| child)
}

fn write_private(path: &Path) -> Option<PathBuf> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(path).ok()?;
    match file.write_all(PROGRAM) {
        Ok(()) => Some(path.to_owned()),
        Err(_) => {
            // A partial program is useless; if it cannot even be removed there is nothing to do.
            let _ = fs::remove_file(path);
            None
        }
    }
}

fn spawn_path(path: &Path, socket: &OwnedFd, talk: OutputTarget) -> io::Result<Child> {
    let output = || match talk {
        OutputTarget::Inherited => Stdio::inherit(),
        OutputTarget::Nowhere => Stdio::null(),
    };
    Command::new(path)
        .arg0("assay-launcher")
        .env_clear()
        .stdin(Stdio::from(socket.try_clone()?))
        .stdout(output())
        .stderr(output())
        .spawn()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use crate::emulated::{Emulated, ignored_under_emulation};

    #[test]
    fn the_launcher_also_starts_from_a_private_file_which_does_not_stay() {
        // While another thread is starting a process, the file may be busy; that is an error of the
        // exec.
        if ignored_under_emulation(Emulated::Vfork) {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .unwrap();
        let mut child =
            spawn_from_file(&theirs, OutputTarget::Inherited, directory.path()).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        drop((ours, theirs));
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn without_a_place_for_the_file_it_says_where() {
        let (_ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .unwrap();
        let error =
            spawn_from_file(&theirs, OutputTarget::Nowhere, Path::new("/no/such")).unwrap_err();
        assert!(error.to_string().contains("/no/such"));
    }
}
