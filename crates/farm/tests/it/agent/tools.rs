//! Shared code of the agent's tests: the agent as a process, and archives of versions to be tested.

use crate::agent::fake::Fake;
use assay_measure::sandbox::{Sandbox, SandboxError};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The token, which only the server may see.
pub const TOKEN: &str = "afarm-secret-0123456789";

/// Returns true if there is a sandbox, and a Python that its user can run; otherwise prints that
/// the test is skipped.
pub fn is_possible() -> bool {
    match Sandbox::find() {
        Ok(_) => {}
        Err(error @ (SandboxError::NoProgram { .. } | SandboxError::Refused { .. })) => {
            println!("skipped: {error}");
            return false;
        }
        Err(error) => panic!("{error}"),
    }
    let has = Path::new("/usr/bin/python3").exists();
    if !has {
        println!("skipped: there is no /usr/bin/python3");
    }
    has
}

/// Creates a directory that the sandbox's user can access.
pub fn place() -> TempDir {
    let own = tempfile::tempdir().unwrap();
    std::fs::set_permissions(own.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    own
}

/// An agent, which ends with the test.
pub struct Agent {
    child: Option<Child>,
}

pub fn agent(fake: &Fake, directory: &Path, more: &[&str]) -> Agent {
    agent_at(&fake.url(), TOKEN, directory, more)
}

pub fn agent_at(url: &str, secret: &str, directory: &Path, more: &[&str]) -> Agent {
    agent_with(url, secret, directory, more, None)
}

/// Starts an agent with a program that measures.
pub fn agent_with(
    url: &str,
    secret: &str,
    directory: &Path,
    more: &[&str],
    assay: Option<&Path>,
) -> Agent {
    let token = directory.join("token-of-the-test");
    std::fs::create_dir_all(directory).unwrap();
    std::fs::write(&token, secret).unwrap();
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay-farm"));
    command.envs(assay.map(|own| ("ASSAY", own)));
    if assay.is_none() {
        command.args(["agent", "--calibrate", "0"]);
    } else {
        command.arg("agent");
    }
    let child = command
        .args(["--name", "node", "--runtime", "python", "--server"])
        .arg(url)
        .arg("--token-file")
        .arg(&token)
        .arg("--directory")
        .arg(directory)
        .args(more)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("SECRET_OF_THE_AGENT", TOKEN)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    Agent { child: Some(child) }
}

impl Agent {
    pub fn id(&self) -> i32 {
        self.child.as_ref().unwrap().id().cast_signed()
    }

    /// Sends it SIGTERM. Returns its status and output.
    pub fn end(mut self) -> (Option<i32>, String) {
        let child = self.child.take().unwrap();
        signal(child.id().cast_signed(), "TERM");
        waited(child)
    }

    /// Waits until it ends by itself.
    pub fn ended(mut self) -> (Option<i32>, String) {
        waited(self.child.take().unwrap())
    }

    pub fn kill(mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _gone = child.kill();
            let _reaped = child.wait();
        }
    }
}

fn waited(mut child: Child) -> (Option<i32>, String) {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

pub fn signal(process: i32, name: &str) {
    let ran = Command::new("kill").args([format!("-{name}"), process.to_string()]).status();
    assert!(ran.unwrap().success());
}

/// Creates a compressed archive of a version.
pub fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o755);
        header.set_cksum();
        builder.append_data(&mut header, format!("p-1.0/{path}"), text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// Returns the processes of the machine whose command line contains this word.
pub fn processes(word: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir("/proc").unwrap().flatten().map(|own| own.path());
    all.filter(|own| {
        let line = std::fs::read(own.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(word)
    })
    .collect()
}
