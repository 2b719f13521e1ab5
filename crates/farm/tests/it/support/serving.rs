//! The server of a farm, started as by users, with an administrator's token. It ends with the
//! process that started it.

#![allow(dead_code, reason = "not every test asks everything of it")]

use assay_farm::client::{Client, Token};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A running server.
pub struct Served {
    /// The directory of its data.
    pub directory: TempDir,
    /// Its address.
    pub address: String,
    /// A client with a token of scope `admin`.
    pub client: Client,
    server: Child,
}

impl Served {
    /// Starts a server with its own store.
    pub fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let mut server = Command::new(env!("CARGO_BIN_EXE_assay-farm"));
        server.args(["serve", "--listen", "127.0.0.1:0", "--log", "error", "--data"]).arg(&data);
        let mut server = server.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap());
        let mut address = String::new();
        assert_ne!(lines.read_line(&mut address).unwrap(), 0, "the server ended");
        let address = address.trim().to_owned();
        let token = Token::find(Some(&data.join("admin-token"))).unwrap();
        let client = Client::new(&address, token).unwrap();
        Self { directory, address, client, server }
    }

    /// Returns the path of its token file.
    pub fn token_file(&self) -> PathBuf {
        self.directory.path().join("data/admin-token")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _gone = self.server.kill().and_then(|()| self.server.wait().map(drop));
    }
}
