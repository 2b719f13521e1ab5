//! A pseudo terminal in which `assay` is started: sends keys, and reads the screen.

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Nothing here takes this long, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal with a program in it.
pub struct Terminal {
    keys: File,
    /// The other end, held open so that its modes can be checked after the program.
    other: File,
    shown: Arc<Mutex<Vec<u8>>>,
    child: Child,
}

impl Terminal {
    /// Starts a command in a terminal with `columns` columns.
    pub fn start(mut command: Command, columns: u16) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let name = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let other = File::options().read(true).write(true).open(name).unwrap();
        tcsetwinsize(&other, winsize(columns)).unwrap();
        let end = || other.try_clone().unwrap();
        command.stdin(end()).stdout(end()).stderr(end()).env_remove("COLUMNS");
        let child = command.spawn().unwrap();
        let keys = File::from(master);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (mut from, to) = (keys.try_clone().unwrap(), Arc::clone(&shown));
        // It ends when no process has the terminal open any more, which Linux reports as an error.
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = from.read(&mut bytes) {
                to.lock().unwrap().extend(&bytes[..read]);
            }
        });
        Self { keys, other, shown, child }
    }

    /// Returns the pid of the program.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sets the number of columns.
    pub fn resize(&mut self, columns: u16) {
        tcsetwinsize(&self.other, winsize(columns)).unwrap();
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Returns everything shown since the last match.
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    /// Waits until this is shown after the last match, and returns everything up to its end.
    #[track_caller]
    pub fn until_shown(&mut self, what: &str) -> String {
        let began = Instant::now();
        loop {
            let text = self.shown();
            if let Some(at) = text.find(what) {
                let end = at + what.len();
                let mut shown = self.shown.lock().unwrap();
                // Nothing is replaced: the text is valid UTF-8 up to a match.
                shown.drain(..end);
                return text[..end].to_owned();
            }
            assert!(began.elapsed() < PATIENCE, "waited in vain for `{what}`: {text}");
            sleep(Duration::from_millis(2));
        }
    }

    /// Waits for the end. Returns the status, the rest of what was shown, and whether the terminal
    /// echoes typed keys again.
    pub fn finish(mut self) -> (i32, String, bool) {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > PATIENCE {
                let _gone = self.child.kill();
                unreachable!("it hung and was killed: {}", self.shown());
            }
            sleep(Duration::from_millis(2));
        };
        let is_as_before = tcgetattr(&self.other)
            .unwrap()
            .local_modes
            .contains(LocalModes::ECHO | LocalModes::ISIG);
        let status = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap();
        (status, self.shown(), is_as_before)
    }
}

impl Drop for Terminal {
    /// No process outlives a failed test.
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

fn winsize(columns: u16) -> Winsize {
    Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}
