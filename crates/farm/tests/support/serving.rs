//! The server of a farm, as users start it, with a token that may do everything. It ends with whoever started it.

#![allow(dead_code, reason = "not every test asks everything of it")]

use assay_farm::client::{Client, Token};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A server that runs.
pub struct Served {
    /// Where it has its data.
    pub directory: TempDir,
    /// Its address.
    pub address: String,
    /// Asks it, with a token of scope `admin`.
    pub client: Client,
    server: Child,
}

impl Served {
    /// Starts one with a store of its own.
    pub fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let program = env!("CARGO_BIN_EXE_assay-farm");
        let mut token = Command::new(program);
        token.args(["token", "add", "test", "--scope", "admin", "--data"]).arg(&data);
        let token = token.output().unwrap();
        assert!(token.status.success(), "{}", String::from_utf8_lossy(&token.stderr));
        let mut file = std::fs::OpenOptions::new();
        let mut file =
            file.write(true).create(true).mode(0o600).open(directory.path().join("token")).unwrap();
        std::io::Write::write_all(&mut file, &token.stdout).unwrap();
        let mut server = Command::new(program);
        server.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
        let mut server = server.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(server.stderr.take().unwrap());
        let mut address = String::new();
        while !address.contains("http://") {
            address.clear();
            assert_ne!(lines.read_line(&mut address).unwrap(), 0, "the server ended");
        }
        // What it says later goes nowhere, and does not stop it.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let from = address.find("http://").unwrap();
        let address = address[from..].split_whitespace().next().unwrap().to_owned();
        let secret = Token::of(std::str::from_utf8(&token.stdout).unwrap()).unwrap();
        let client = Client::new(&address, Some(secret)).unwrap();
        Self { directory, address, client, server }
    }

    /// The file that its token is in.
    pub fn token_file(&self) -> PathBuf {
        self.directory.path().join("token")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _gone = self.server.kill().and_then(|()| self.server.wait().map(drop));
    }
}
