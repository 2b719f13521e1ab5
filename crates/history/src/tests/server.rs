//! Private PostgreSQL server for tests. Its files, including the socket for connections, are in a
//! directory that is removed when it ends. It stops when the process that started it ends, for
//! whatever reason. Tests of other crates also use it.

#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]
#![allow(dead_code, reason = "not every test that has one asks everything of it")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running server.
pub struct Server {
    programs: PathBuf,
    directory: PathBuf,
    _watching: Child,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server. Prints a message and returns `None` if PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            println!("skipped: there is no PostgreSQL; sh scripts/tools.sh installs it");
            return None;
        };
        let directory = tempfile::Builder::new().prefix("assay-postgres").tempdir().unwrap().keep();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../history/src/tests/server.sh");
        let mut command = Command::new("sh");
        command.arg(script).args([&programs, &directory]).current_dir("/");
        let mut watching = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let asked = watching.stdin.take().unwrap();
        let answers = BufReader::new(watching.stdout.take().unwrap());
        let mut server = Self { programs, directory, _watching: watching, asked, answers };
        server.hears("started");
        Some(server)
    }

    /// Creates a database and returns its address.
    pub fn database(&self, name: &str) -> String {
        let mut command = Command::new(self.programs.join("createdb"));
        command.args(["-U", "postgres", "-T", "template0", name]).arg("-h").arg(&self.directory);
        assert!(command.current_dir("/").status().unwrap().success());
        format!("postgres:///{name}?user=postgres&host={}", self.directory.display())
    }

    /// Stops the server, which closes its connections.
    pub fn stop(&mut self) {
        self.ask("stop", "stopped");
    }

    /// Kills all processes of the server, as a power failure would.
    pub fn kill(&mut self) {
        self.ask("kill", "killed");
    }

    /// Starts the server again with its previous contents.
    pub fn start_again(&mut self) {
        self.ask("start", "started");
    }

    fn ask(&mut self, word: &str, answer: &str) {
        writeln!(self.asked, "{word}").unwrap();
        self.hears(answer);
    }

    fn hears(&mut self, answer: &str) {
        let mut said = String::new();
        self.answers.read_line(&mut said).unwrap();
        assert_eq!(said.trim(), answer);
    }
}

/// Returns the directory with the programs of the latest installed version of PostgreSQL.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let programs = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    programs.filter(|programs| programs.join("initdb").is_file()).max()
}
