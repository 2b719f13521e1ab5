//! A private Slurm cluster with two virtual nodes on this machine. It ends when the process that
//! started it ends, for whatever reason. Also used by tests of other crates.

#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]
#![allow(dead_code, reason = "not every test that has one asks everything of it")]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running cluster.
pub struct Slurm {
    /// Its directory, which is removed with it.
    pub directory: PathBuf,
    _watching: Child,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Slurm {
    /// Starts a cluster; `None` if Slurm is not installed or may not be started, which is printed.
    pub fn start() -> Option<Self> {
        let is_there = |program: &str| {
            ["/usr/sbin", "/usr/bin"].iter().any(|place| Path::new(place).join(program).is_file())
        };
        let programs = ["slurmctld", "slurmd", "munged", "sbatch", "squeue", "srun"];
        if let Some(missing) = programs.iter().find(|program| !is_there(program)) {
            println!("skipped: there is no {missing}; sh scripts/tools.sh installs Slurm for root");
            return None;
        }
        let id = Command::new("id").arg("-u").output().unwrap();
        if id.stdout != b"0\n" {
            println!("skipped: only root can start a cluster of Slurm");
            return None;
        }
        let directory = tempfile::Builder::new().prefix("assay-slurm").tempdir().unwrap().keep();
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../farm/tests/it/support/slurm.sh");
        // Bound at the same time, so that they are three different ports.
        let free: Vec<_> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<String> =
            free.iter().map(|own| own.local_addr().unwrap().port().to_string()).collect();
        drop(free);
        let mut command = Command::new("sh");
        command.arg(script).arg(&directory).args(&ports).current_dir("/");
        let mut watching = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let asked = watching.stdin.take().unwrap();
        let answers = BufReader::new(watching.stdout.take().unwrap());
        let mut own = Self { directory, _watching: watching, asked, answers };
        own.hears("started");
        Some(own)
    }

    /// Returns a command that uses this cluster.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.directory.join("slurm.conf")).current_dir(&self.directory);
        command
    }

    /// Returns the output of a Slurm command.
    pub fn says(&self, line: &str) -> String {
        let mut words = line.split(' ');
        let output = self.command(words.next().unwrap()).args(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Kills the controller, as if the machine lost power.
    pub fn kill_controller(&mut self) {
        self.ask("kill");
    }

    /// Restarts the controller with its saved state.
    pub fn start_controller(&mut self) {
        self.ask("start");
    }

    fn ask(&mut self, word: &str) {
        writeln!(self.asked, "{word}").unwrap();
        self.hears(word);
    }

    fn hears(&mut self, answer: &str) {
        let mut said = String::new();
        self.answers.read_line(&mut said).unwrap();
        assert_eq!(said.trim(), answer);
    }
}
