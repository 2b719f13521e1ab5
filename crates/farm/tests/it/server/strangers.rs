//! Clients without permission: forged, expired and foreign tokens, wrong scopes, wrong versions,
//! too large and too frequent requests, and pages of other sites.

use super::*;

on_both![
    a_token_opens_what_it_is_for_and_nothing_else,
    what_is_not_understood_is_told_so,
    too_much_and_half_of_it_change_nothing,
];

fn a_token_opens_what_it_is_for_and_nothing_else(home: Home) {
    let server = Server::at(home, &[]);
    let agent = server.farm("a", 1);
    let (read, submit) = (server.token("read", None, None), server.token("submit", None, None));
    let owned = server.token("submit", None, Some("rails"));
    server.get("/api/v1/owners", "").refuses(401, "unauthorized");
    server.get("/api/v1/owners", &read).is(200);
    server.put("/api/v1/owners/x", &read, &json!({})).refuses(403, "forbidden");
    server.put("/api/v1/owners/x", &agent, &json!({})).refuses(403, "forbidden");
    server.put("/api/v1/owners/x", &submit, &json!({})).is(201);
    // Bound to an owner.
    server.put("/api/v1/owners/x", &owned, &json!({})).refuses(403, "forbidden");
    server.put("/api/v1/owners/x/projects/p", &owned, &json!({})).refuses(403, "forbidden");
    server.put("/api/v1/owners/rails/projects/new", &owned, &json!({})).is(201);
    let job = json!({"owner": "x", "project": "p", "version": "1", "kind": "test"});
    server.post("/api/v1/jobs", &owned, &job).refuses(403, "forbidden");
    // Bound to a node.
    server.hello("b", &agent, "b").refuses(403, "forbidden");
    server.lease("b", &agent).refuses(403, "forbidden");
    server.lease("a", &submit).refuses(403, "forbidden");
    server.get("/api/v1/tokens", &agent).refuses(403, "forbidden");
    server.get("/api/v1/audit", &submit).refuses(403, "forbidden");
    let drain = json!({"reason": "new disk"});
    server.post("/api/v1/nodes/a/drain", &submit, &drain).refuses(403, "forbidden");
    server.post("/api/v1/nodes/a/drain", &agent, &drain).is(200);
    server.lease("a", &agent).is(204);
    server.asks("POST", "/api/v1/nodes/a/resume", &server.admin, "", b"").is(200);
    server.lease("a", &agent).is(200);
    // Expired.
    let short = loop {
        let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(1);
        let new = json!({"name": "short", "scope": "read", "until": soon.to_string()});
        let answer = server.post("/api/v1/tokens", &server.admin, &new);
        // On a busy machine it may expire before it is created.
        if answer.status == 201 {
            break answer.thing::<MadeToken>().secret;
        }
        answer.refuses(400, "bad_request");
    };
    std::thread::sleep(Duration::from_millis(1_100));
    server.get("/api/v1/owners", &short).refuses(401, "unauthorized");
}

fn what_is_not_understood_is_told_so(home: Home) {
    let server = Server::at(home, &[]);
    let admin = &server.admin;
    let of = |version: &str| format!("Assay-Api: {version}\r\n");
    server.asks("GET", "/api/v1", "", &of("1"), b"").is(200);
    server.asks("GET", "/api/v1", "", &of("2"), b"").refuses(400, "wrong_version");
    server.get("/api/v2/owners", admin).refuses(404, "not_found");
    server.asks("DELETE", "/api/v1/owners", admin, "", b"").refuses(405, "bad_request");
    server.get("/api/v1/builds/x", admin).refuses(400, "bad_request");
    server.get("/api/v1/builds/9", admin).refuses(404, "not_found");
    server.get("/api/v1/owners?limit=0", admin).refuses(400, "bad_request");
    server.get("/api/v1/owners?after=%zz", admin).refuses(400, "bad_request");
    server.put("/api/v1/owners/..", admin, &json!({})).refuses(400, "bad_request");
    server.put("/api/v1/owners/a%00b", admin, &json!({})).refuses(400, "bad_request");
    server.put("/api/v1/owners/%3Cscript%3E", admin, &json!({})).refuses(400, "bad_request");
    let told = server.put("/api/v1/owners/nodes", admin, &json!({})).refuses(400, "bad_request");
    assert!(told.contains("/nodes/"), "{told}");
    server.put("/api/v1/owners/rails", admin, &json!({})).is(201);
    let bad = server.asks("PUT", "/api/v1/owners/rails/projects/p", admin, "", b"{nonsense");
    bad.refuses(400, "bad_request");
    let nowhere = server.put("/api/v1/owners/nobody/projects/p", admin, &json!({}));
    nowhere.refuses(404, "not_found");
}

#[test]
fn pages_of_others_and_names_that_may_be_anybodys_are_refused() {
    let server = Server::new(&[]);
    let raw = |host: &str, more: &str| {
        let text =
            format!("GET /api/v1 HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
        server.raw(text.as_bytes())
    };
    raw("127.0.0.1", "").is(200);
    raw("evil.example", "").refuses(403, "forbidden");
    raw("localhost", "Sec-Fetch-Site: cross-site\r\n").refuses(403, "forbidden");
    let answer = raw("localhost", "");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("assay-api"), Some("1"));
    let origin = "Origin: https://evil.example\r\n";
    let sent = server.asks("PUT", "/api/v1/owners/x", &server.admin, origin, b"");
    sent.refuses(403, "forbidden");
}

#[test]
fn who_asks_too_often_is_told_when_to_come_again() {
    let server = Server::new(&["--rate", "0.01"]);
    let read = |token: &str| server.get("/api/v1/owners", token);
    read(&server.admin).is(200);
    let told = read(&server.admin);
    told.refuses(429, "too_many");
    assert!(told.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    // Guessing is also slowed down, but known tokens are not.
    let mut guesses = (0..5_000).map(|n| read(&format!("assay_1_{n}")).status);
    assert_eq!(guesses.next(), Some(401));
    assert!(guesses.any(|status| status == 429), "nobody may guess for ever");
}

fn too_much_and_half_of_it_change_nothing(home: Home) {
    let server = Server::at(home, &[]);
    let admin = &server.admin;
    let large = vec![b' '; (1 << 20) + 1];
    server.asks("PUT", "/api/v1/owners/rails", admin, "", &large).refuses(413, "too_large");
    // The declared length is sufficient.
    let head = format!(
        "PUT /api/v1/jobs/1/samples HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: 99999999999\r\n\r\n",
        server.token("agent", Some("a"), None)
    );
    server.raw(head.as_bytes()).refuses(413, "too_large");
    // Bodies of unauthenticated clients are not read at all.
    let head = "PUT /api/v1/jobs/1/samples HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\nContent-Length: 9999\r\n\r\n";
    server.raw(head.as_bytes()).refuses(401, "unauthorized");
    // The connection is closed after half an upload.
    let body = br#"{"needs":{"os":"#;
    let head = format!(
        "PUT /api/v1/owners/rails/projects/rack HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {admin}\r\nContent-Length: 100\r\n\r\n"
    );
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    drop(stream);
    server.put("/api/v1/owners/rails", admin, &json!({})).is(201);
    let projects = server.get("/api/v1/owners/rails/projects", admin).json();
    assert_eq!(projects["items"], json!([]));
    // Half a result does not end a job, but the whole one does.
    let agent = server.farm("a", 1);
    let leased = server.leased("a", &agent);
    let whole = serde_json::to_vec(&ending(&leased, "k")).unwrap();
    let head = format!(
        "PUT /api/v1/jobs/{}/result HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {agent}\r\nContent-Length: {}\r\n\r\n",
        leased.job.id,
        whole.len()
    );
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.write_all(&[head.as_bytes(), &whole[..whole.len() / 2]].concat()).unwrap();
    drop(stream);
    assert_eq!(server.get("/api/v1/builds", admin).json()["items"], json!([]));
    server.end(&agent, &leased, "k").is(201);
}
