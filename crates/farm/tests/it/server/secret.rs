//! TLS with the user's own certificate, created and checked with openssl.
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

use super::*;

#[test]
fn with_a_certificate_the_server_speaks_tls_and_nothing_else() {
    let room = tempfile::tempdir().unwrap();
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(room.path())
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        println!("skipped: there is no openssl");
        return;
    }
    let (cert, key) = (room.path().join("cert.pem"), room.path().join("key.pem"));
    let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());
    let server = Server::new(&["--tls-cert", cert, "--tls-key", key]);
    let mut asking = Command::new("openssl")
        .args([
            "s_client",
            "-quiet",
            "-verify_return_error",
            "-CAfile",
            cert,
            "-connect",
            &server.address,
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let request = b"GET /api/v1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    asking.stdin.as_ref().unwrap().write_all(request).unwrap();
    let answered = answer(asking.stdout.take().unwrap());
    assert_eq!(answered.is(200).json()["api"], 1);
    asking.kill().unwrap();
    asking.wait().unwrap();
    // There is no answer without TLS.
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request).unwrap();
    let mut bytes = Vec::new();
    let _closed = stream.read_to_end(&mut bytes);
    assert!(!bytes.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&bytes));
    // An invalid key is detected at the start.
    std::fs::write(room.path().join("none.pem"), "no key").unwrap();
    let none = room.path().join("none.pem");
    let mut bad = program();
    bad.args(["serve", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key"]).arg(&none);
    let bad = bad.arg("--data").arg(room.path().join("farm")).output().unwrap();
    assert_eq!(bad.status.code(), Some(2));
    let told = String::from_utf8(bad.stderr).unwrap();
    assert!(told.contains("none.pem"), "{told}");
}
