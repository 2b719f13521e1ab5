//! Cleanup if `assay` is killed: a few lines of shell that wait, in a separate session, for the end
//! of this process; a regular end cancels them. They undo effects that neither a signal handler nor
//! the guard's files cover: directories, settings of servers, the user's own cleanup lines.
//!
//! Only SIGKILL to the shell itself, or the loss of the machine, prevents the cleanup.

use crate::sys::child;
use std::io;
use std::process::{Child, Command, Stdio};

/// Lines that run when this process is gone. Dropping the value cancels them.
#[derive(Debug)]
pub struct Afterwards {
    shell: Child,
}

impl Afterwards {
    /// Starts a `/bin/sh` that waits with these lines; `arguments` are their `$1` and so on,
    /// `variables` are added to the environment. They run in the current directory, and their
    /// output is discarded.
    ///
    /// # Errors
    ///
    /// If the shell can't be started.
    pub fn run(
        lines: &str,
        arguments: &[&str],
        variables: &[(String, String)],
    ) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        // Its input ends when this process ends, because no other process holds the other end.
        command.args(["-c", &format!("cat > /dev/null\n{lines}"), "assay-afterwards"]);
        command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        child::lead_a_session(&mut command);
        Ok(Self { shell: command.spawn()? })
    }
}

impl Drop for Afterwards {
    fn drop(&mut self) {
        // Kill its group, because `cat` waits for the same event, and do so before its input ends.
        // It is harmless if the group is already gone.
        child::kill_session(&self.shell);
        let _gone = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn what_is_forgotten_is_not_done_and_what_is_left_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("done");
        let name = path.to_str().unwrap();
        drop(Afterwards::run("touch \"$1\"", &[name], &[]).unwrap());
        assert!(!path.exists());
        let mut left = Afterwards::run("touch \"$1$END\"", &[name], &[("END".into(), "2".into())]);
        // Simulates the end of this process.
        drop(left.as_mut().unwrap().shell.stdin.take());
        let began = Instant::now();
        while !directory.path().join("done2").exists() {
            assert!(began.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
