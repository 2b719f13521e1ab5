//! A private SSH server on a free port of the loopback interface, with its own keys. It ends when
//! the process that started it ends.

#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Stops the server when its standard input is closed, for whatever reason.
const WATCH: &str = r#""$@" > "$0" 2>&1 < /dev/null & server=$!; echo started; read -r _; kill $server; wait $server"#;

/// A running server.
pub struct Sshd {
    directory: TempDir,
    port: u16,
    _watching: Child,
}

impl Sshd {
    /// Starts a server; `None` if sshd is not installed, which is printed.
    pub fn start() -> Option<Self> {
        let program = Path::new("/usr/sbin/sshd");
        if !program.is_file() || Command::new("ssh").arg("-V").output().is_err() {
            println!("skipped: there is no sshd; sh scripts/tools.sh installs it for root");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).display().to_string();
        for key in ["host", "user"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]);
            assert!(keygen.status().unwrap().success());
        }
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n",
            at("host"),
            at("user.pub")
        );
        std::fs::write(at("config"), config).unwrap();
        // The directory for privilege separation, which does not exist if sshd was never started.
        let _there_already_or_not_root = std::fs::create_dir("/run/sshd");
        let mut watching = Command::new("sh");
        watching.args(["-c", WATCH, &at("said")]).arg(program).args([
            "-D",
            "-e",
            "-f",
            &at("config"),
        ]);
        let mut watching = watching.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(watching.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let said = std::fs::read_to_string(at("said")).unwrap_or_default();
            assert!(began.elapsed() < Duration::from_secs(60), "sshd does not listen: {said}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(Self { directory, port, _watching: watching })
    }

    /// Returns the command that connects to it.
    pub fn ssh(&self) -> String {
        format!(
            "ssh -F none -p {} -i {} -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR",
            self.port,
            self.directory.path().join("user").display()
        )
    }
}
