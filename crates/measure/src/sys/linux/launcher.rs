//! The process of the launcher: its start, the socket to it and the page shared with it.
//!
//! It moves bytes and knows when the launcher is gone; what the bytes mean is `wire`'s, what to do
//! about a loss is `runner`'s. The launcher is started from a memory file, so that nothing need be
//! installed; where that is refused, from a private file that is removed at once.

#![expect(unsafe_code, reason = "mapping and reading the page that is shared with the launcher")]

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::{Errno, IoSlice, read};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    sendmsg, socketpair,
};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::wire::{REPLY_LENGTH, Reply, Request};

/// The program, built from `c/launcher.c` by the build script.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/launcher"));

const PAGE: usize = 4096;

/// How a wait for the launcher's answer ended.
pub(crate) enum Answer {
    /// The reply is there.
    Reply(Reply),
    /// A signal came first; the launcher is still at it.
    Signal,
    /// The launcher is gone.
    Gone,
}

/// A launcher at work.
pub(crate) struct Launcher {
    process: Child,
    socket: OwnedFd,
    page: Arc<Page>,
    /// What came of a reply so far; replies are small and come whole, but a stream owes nobody that.
    partial: [u8; REPLY_LENGTH],
    received: usize,
}

impl Launcher {
    /// Starts a launcher and greets it.
    pub(crate) fn start() -> io::Result<Self> {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let process = spawn(&theirs)?;
        drop(theirs);
        let file = memfd_create("assay-page", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, PAGE as u64)?;
        let page = Arc::new(Page::map(file.as_fd())?);
        let mut launcher =
            Self { process, socket: ours, page, partial: [0; REPLY_LENGTH], received: 0 };
        launcher.send(Request::Hello, &[], &[file.as_fd()])?;
        loop {
            match launcher.receive()? {
                Answer::Reply(Reply { failure: None, .. }) => return Ok(launcher),
                Answer::Reply(Reply { failure: Some((_, error)), .. }) => {
                    return Err(io::Error::from_raw_os_error(error));
                }
                Answer::Signal => {}
                Answer::Gone => return Err(io::Error::other("it ended as soon as it was started")),
            }
        }
    }

    /// Sends a request, the bytes that belong to it and at most two descriptors.
    pub(crate) fn send(
        &self,
        request: Request,
        payload: &[u8],
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let bytes = request.to_bytes();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
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
        let mut rest = payload;
        while !rest.is_empty() {
            match rustix::net::send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(n) => rest = &rest[n..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Sleeps until the launcher answers, a signal comes or the launcher is gone.
    pub(crate) fn receive(&mut self) -> io::Result<Answer> {
        loop {
            match read(&self.socket, &mut self.partial[self.received..]) {
                Ok(0) | Err(Errno::CONNRESET) => return Ok(Answer::Gone),
                Ok(n) => self.received += n,
                Err(Errno::INTR) => return Ok(Answer::Signal),
                Err(error) => return Err(error.into()),
            }
            if self.received == REPLY_LENGTH {
                self.received = 0;
                return match Reply::from_bytes(&self.partial) {
                    Some(reply) => Ok(Answer::Reply(reply)),
                    None => Err(io::Error::other("it sent what it never sends")),
                };
            }
        }
    }

    /// The socket, to be polled beside other descriptors.
    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Kills the launcher; a run that it is about to start does not outlive it.
    pub(crate) fn kill(&mut self) -> io::Result<()> {
        self.process.kill()
    }

    /// The page on which the launcher names the group in flight.
    pub(crate) fn page(&self) -> &Arc<Page> {
        &self.page
    }

    /// The launcher's process id.
    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Launcher {
    /// Ends the launcher, and first whatever it has in flight.
    fn drop(&mut self) {
        if self.page.kill_group() {
            // It may be waiting for a process that cannot be waited for: no polite way then. That
            // it is already gone is the one error there is, and it is no harm.
            let _ = self.process.kill();
        }
        // The end of the stream is what tells it to leave.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        let _ = self.process.wait();
    }
}

/// The page shared with the launcher. It stays mapped as long as anybody may want to abort a run.
#[derive(Debug)]
pub(crate) struct Page {
    address: NonNull<AtomicI32>,
}

// SAFETY: the page is only ever accessed as one atomic integer, and unmapped by the last owner.
unsafe impl Send for Page {}
// SAFETY: as above.
unsafe impl Sync for Page {}

impl Page {
    fn map(file: BorrowedFd<'_>) -> io::Result<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let address = unsafe {
            mmap(null_mut(), PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0)?
        };
        let address = NonNull::new(address.cast()).expect("a mapping is never at address zero");
        Ok(Self { address })
    }

    /// The process group of the run in flight.
    fn group(&self) -> Option<Pid> {
        // SAFETY: the mapping lives as long as `self`, is aligned to a page, and both sides write
        // the integer in one piece.
        let group = unsafe { self.address.as_ref() }.load(Ordering::SeqCst);
        // 1 would be everybody: nobody's group, and not to be trusted from shared memory.
        Pid::from_raw(group).filter(|_| group > 1)
    }

    /// Kills what is in flight; false if nothing was.
    pub(crate) fn kill_group(&self) -> bool {
        let Some(group) = self.group() else { return false };
        // Both may fail only because the process is gone or has not made its group yet; hence both.
        let _ = kill_process_group(group, Signal::KILL);
        let _ = kill_process(group, Signal::KILL);
        true
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: the address and length are those of our own mapping, and nobody refers to it any
        // more. A failure would leave a page mapped, which harms nobody.
        let _ = unsafe { munmap(self.address.as_ptr().cast(), PAGE) };
    }
}

fn spawn(socket: &OwnedFd) -> io::Result<Child> {
    match spawn_from_memory(socket) {
        Ok(child) => Ok(child),
        // Hardened systems refuse to execute memory files, or have no /proc to name them by.
        Err(_) => spawn_from_file(socket, &std::env::temp_dir()),
    }
}

fn spawn_from_memory(socket: &OwnedFd) -> io::Result<Child> {
    let name = "assay-launcher";
    let file = match memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::EXEC) {
        // Kernels before 6.3 do not know that a memory file may be meant to be executed.
        Err(Errno::INVAL) => memfd_create(name, MemfdFlags::CLOEXEC)?,
        other => other?,
    };
    let mut file = fs::File::from(file);
    file.write_all(PROGRAM)?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    spawn_path(Path::new(&format!("/proc/self/fd/{number}")), socket)
}

fn spawn_from_file(socket: &OwnedFd, directory: &Path) -> io::Result<Child> {
    // The name need not be secret: a file that is there already is never used.
    let path = (0_u32..100)
        .map(|i| directory.join(format!("assay-launcher-{}-{i}", std::process::id())))
        .find_map(|path| write_private(&path))
        .ok_or_else(|| {
            io::Error::other(format!("cannot write a program in `{}`", directory.display()))
        })?;
    let mut spawned = spawn_path(&path, socket);
    for _ in 0..50 {
        // A thread that started a process meanwhile may hold our file open for writing there, for
        // as long as that process needs to reach its exec.
        if spawned.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::ExecutableFileBusy) {
            std::thread::sleep(std::time::Duration::from_millis(2));
            spawned = spawn_path(&path, socket);
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
            // Half a program is of no use; if it cannot even be removed there is nothing to do.
            let _ = fs::remove_file(path);
            None
        }
    }
}

fn spawn_path(path: &Path, socket: &OwnedFd) -> io::Result<Child> {
    Command::new(path)
        .arg0("assay-launcher")
        .env_clear()
        .stdin(Stdio::from(socket.try_clone()?))
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .spawn()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn the_launcher_also_starts_from_a_private_file_which_does_not_stay() {
        let directory = tempfile::tempdir().unwrap();
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .unwrap();
        let mut child = spawn_from_file(&theirs, directory.path()).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        drop((ours, theirs));
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn without_a_place_for_the_file_it_says_where() {
        let (_ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .unwrap();
        let error = spawn_from_file(&theirs, Path::new("/no/such")).unwrap_err();
        assert!(error.to_string().contains("/no/such"));
    }
}
