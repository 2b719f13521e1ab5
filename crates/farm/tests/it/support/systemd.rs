//! A private systemd, running on a copy of this machine's files. It ends with the process that
//! started it.

#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// A running systemd.
pub struct Systemd {
    _directory: TempDir,
    _watching: Child,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Systemd {
    /// Starts systemd with the programs of this directory in `/mnt`; `None` if that is impossible,
    /// which is printed.
    pub fn start(programs: &Path) -> Option<Self> {
        let needed = ["/lib/systemd/systemd", "/usr/bin/unshare", "/usr/bin/nsenter"];
        if let Some(missing) = needed.iter().find(|program| !Path::new(program).is_file()) {
            println!("skipped: there is no {missing}");
            return None;
        }
        let mut can = Command::new("unshare");
        can.args(["--mount", "--pid", "--fork", "--net", "--cgroup", "true"]).stderr(Stdio::null());
        let id = Command::new("id").arg("-u").output().unwrap();
        if id.stdout != b"0\n" || !can.status().unwrap().success() {
            println!("skipped: only root can start a systemd, where there may be namespaces");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("there");
        std::fs::create_dir(&root).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support/systemd.sh");
        let mut command = Command::new("sh");
        command.arg(script).arg(&root).arg(programs).current_dir("/");
        let mut watching = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let asked = watching.stdin.take().unwrap();
        let mut answers = BufReader::new(watching.stdout.take().unwrap());
        let mut said = String::new();
        answers.read_line(&mut said).unwrap();
        if said != "started\n" {
            println!("skipped: systemd does not start in namespaces here");
            drop(asked);
            watching.wait().unwrap();
            return None;
        }
        Some(Self { _directory: directory, _watching: watching, asked, answers })
    }

    /// Runs a shell line in it, and returns its output and status.
    pub fn does(&mut self, line: &str) -> (String, i32) {
        writeln!(self.asked, "{line}").unwrap();
        let mut said = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.answers.read_line(&mut line).unwrap(), 0, "it ended: {said}");
            match line.trim().strip_prefix("ended ") {
                Some(status) => return (said, status.parse().unwrap()),
                None => said += &line,
            }
        }
    }
}
