//! TLS, HTTP/2 and large bodies against a real nginx, which counts its requests itself. If nginx is
//! not installed, the tests report that they were skipped.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

use crate::support::{adds_up, job, listener, run};
use assay_load::{ConnectionSettings, Failure, Handshakes, Load, Tally, Tls, Version};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

struct Nginx {
    child: Child,
    home: tempfile::TempDir,
    /// Ports for plain HTTP, TLS without sessions, and TLS with tickets and HTTP/2.
    ports: [u16; 3],
}

fn program() -> Option<PathBuf> {
    let mut places: Vec<PathBuf> = std::env::var_os("PATH")
        .map(|all| std::env::split_paths(&all).collect())
        .unwrap_or_default();
    places.push("/usr/sbin".into());
    places.into_iter().map(|place| place.join("nginx")).find(|path| path.is_file())
}

fn run_in(home: &Path, line: &[&str]) -> bool {
    let mut command = Command::new(line[0]);
    let done = command.args(&line[1..]).current_dir(home).stderr(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}

impl Nginx {
    /// Starts nginx; `None` if it is not installed.
    fn start() -> Option<Self> {
        let nginx = program()?;
        let home = tempfile::tempdir().unwrap();
        let certificate = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            "key.pem",
            "-out",
            "certificate.pem",
        ];
        if !run_in(home.path(), &certificate) {
            return None;
        }
        fs::create_dir(home.path().join("html")).unwrap();
        fs::write(home.path().join("html/small"), "x".repeat(1024)).unwrap();
        fs::write(home.path().join("html/large"), "y".repeat(1 << 20)).unwrap();
        let ports = [(); 3].map(|()| listener().0.local_addr().unwrap().port());
        let [plain, full, resumed] = ports;
        let text = format!(
            "worker_processes 1; daemon off; error_log stderr; pid nginx.pid;
            events {{ worker_connections 512; }}
            http {{
              access_log off; root html;
              client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
              uwsgi_temp_path uwsgi; scgi_temp_path scgi;
              keepalive_requests 50; ssl_certificate certificate.pem; ssl_certificate_key key.pem;
              ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache off;
              server {{ listen 127.0.0.1:{plain}; location = /status {{ stub_status; }} }}
              server {{ listen 127.0.0.1:{full} ssl; ssl_session_tickets off; }}
              server {{ listen 127.0.0.1:{resumed} ssl http2; ssl_session_tickets on; }}
            }}"
        );
        // Workers running as another user must be able to read the files.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(home.path(), open).unwrap();
        fs::write(home.path().join("nginx.conf"), text).unwrap();
        let mut command = Command::new(nginx);
        command.arg("-p").arg(home.path()).args(["-c", "nginx.conf"]);
        let child = command.stderr(Stdio::null()).spawn().ok()?;
        let own = Self { child, home, ports };
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", plain)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(20), "nginx does not listen");
            sleep(Duration::from_millis(10));
        }
        Some(own)
    }

    /// Returns the number of requests so far, including this query.
    fn requests(&self) -> u64 {
        let mut stream = TcpStream::connect(("127.0.0.1", self.ports[0])).unwrap();
        stream.write_all(b"GET /status HTTP/1.0\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let counts =
            text.lines().find(|line| line.split_whitespace().count() == 3 && line.starts_with(' '));
        counts.unwrap().split_whitespace().nth(2).unwrap().parse().unwrap()
    }

    /// Runs a closed test for a tenth of a second over 4 connections.
    fn load(&self, url: &str, connecting: ConnectionSettings) -> Tally {
        let mut connecting = connecting;
        connecting.tls.ca = Some(self.home.path().join("certificate.pem"));
        (connecting.timeout, connecting.connect_timeout) = (5.0, 5.0);
        self.ask(url, connecting)
    }

    fn ask(&self, url: &str, connecting: ConnectionSettings) -> Tally {
        let mut job = job(url, Load::Closed { connections: 4 }, 0.1, connecting.timeout);
        job.connecting = connecting;
        let before = self.requests();
        let tally = run(&job);
        adds_up(&tally);
        assert_eq!(tally.unknown, 0);
        // Requests may be in flight when the server reaches `keepalive_requests`; they are sent
        // again.
        let seen = self.requests() - before - 1;
        let lost = tally.connections.lost_idle;
        assert!(
            (tally.answered..=tally.answered + lost).contains(&seen) || tally.answered == 0,
            "{seen} seen, {} answered, {lost} lost",
            tally.answered
        );
        tally
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let id = self.child.id().to_string();
        let _asked = Command::new("kill").args(["-TERM", &id]).status();
        let _waited = self.child.wait();
    }
}

#[test]
fn a_real_server_is_loaded_in_every_way_and_counts_the_same() {
    let Some(nginx) = Nginx::start() else {
        eprintln!("skipped: there is no nginx, or no openssl");
        return;
    };
    let [plain, full, resumed] = nginx.ports;
    let with =
        |new: bool, http2: bool, handshakes: Handshakes, version: Version| ConnectionSettings {
            new,
            http2_streams: http2.then_some(8),
            tls: Tls { handshakes, version, ..Tls::default() },
            ..ConnectionSettings::default()
        };
    let kept = |http2| with(false, http2, Handshakes::Full, Version::Any);
    let fine =
        |tally: &Tally| assert!(tally.answered > 4 && tally.failures() == 0, "{:?}", tally.failed);
    // Connections are closed after 50 requests each: others replace them, and nothing fails.
    let tally = nginx.load(&format!("http://127.0.0.1:{plain}/small"), kept(false));
    fine(&tally);
    assert!(tally.connections.opened >= tally.answered / 50, "{:?}", tally.connections);
    let tally = nginx.load(&format!("http://127.0.0.1:{plain}/large"), kept(false));
    fine(&tally);
    assert!(tally.received > (tally.delivered.max(1) - 1) << 20, "{}", tally.received);
    for version in [Version::V12, Version::V13] {
        let url = format!("https://127.0.0.1:{full}/small");
        let tally = nginx.load(&url, with(true, false, Handshakes::Full, version));
        fine(&tally);
        let all = tally.connections;
        assert_eq!((all.full_handshakes, all.resumed_handshakes), (all.opened, 0), "{version:?}");
        let url = format!("https://127.0.0.1:{resumed}/small");
        let tally = nginx.load(&url, with(true, false, Handshakes::Resumed, version));
        fine(&tally);
        let all = tally.connections;
        assert!(all.resumed_handshakes > all.full_handshakes, "{version:?} {all:?}");
    }
    let tally = nginx.load(&format!("https://127.0.0.1:{full}/large"), kept(false));
    fine(&tally);
    for page in ["small", "large"] {
        let tally = nginx.load(&format!("https://127.0.0.1:{resumed}/{page}"), kept(true));
        fine(&tally);
    }
    // Without the file the issuer of the certificate is unknown.
    let tally = nginx.ask(&format!("https://127.0.0.1:{full}/small"), kept(false));
    assert_eq!((tally.answered, tally.failures()), (0, tally.failed_as(Failure::Tls)));
    assert!(tally.details.get(&Failure::Tls).is_some_and(|why| why.contains("certificate")));
}
