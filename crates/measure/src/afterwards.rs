//! What is to be done should `assay` be killed: a few lines of a shell that waits for the end of this process, in a session of its own, and
//! does nothing when it is told that all is well. For what no signal and no file would undo: directories, settings of servers, users' own lines.
//!
//! Only SIGKILL to the shell itself, and the loss of the machine, are stronger.

use crate::sys::child;
use std::io;
use std::process::{Child, Command, Stdio};

/// Lines that will run when this process is gone. Dropping it forgets them.
#[derive(Debug)]
pub struct Afterwards {
    shell: Child,
}

impl Afterwards {
    /// Has `/bin/sh` wait with these lines; `arguments` are their `$1` and so on, `variables` are added to the environment. They run in the
    /// current directory, and what they print is thrown away.
    ///
    /// # Errors
    /// What the system says if it lets no shell start.
    pub fn run(
        lines: &str,
        arguments: &[&str],
        variables: &[(String, String)],
    ) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        // The end of its input is our end: nobody else holds the other side.
        command.args(["-c", &format!("cat > /dev/null\n{lines}"), "assay-afterwards"]);
        command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        child::lead_a_session(&mut command);
        Ok(Self { shell: command.spawn()? })
    }
}

impl Drop for Afterwards {
    fn drop(&mut self) {
        // Its group, because `cat` waits for the same; and before its input ends. That it is gone already is no harm.
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
        // As when this process is gone.
        drop(left.as_mut().unwrap().shell.stdin.take());
        let began = Instant::now();
        while !directory.path().join("done2").exists() {
            assert!(began.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
