//! Starting and stopping the server, and the whole life of a job.

use super::*;
use assay_farm::builds::shown::{self, BuildPage};
use assay_farm::builds::wire::{Build, Matrix, Page};
use std::os::unix::fs::PermissionsExt;

on_both![
    a_version_becomes_a_build_and_is_on_every_list,
    the_first_token_is_its_owners_alone_and_each_change_is_noted,
    two_servers_never_share_a_directory_and_one_that_ends_gives_it_back,
    tokens_are_made_and_taken_back_beside_the_server,
];

fn a_version_becomes_a_build_and_is_on_every_list(home: Home) {
    let server = Server::at(home, &[]);
    let token = server.farm("a", 1);
    let leased = server.leased("a", &token);
    assert_eq!((leased.version.name.as_str(), leased.project.name.as_str()), ("1.1", "rack"));
    assert_eq!(server.lease("a", &token).is(204).header("retry-after"), Some("2"));
    let id = leased.job.id;
    let beat = json!({"nonce": leased.nonce});
    server.post(&format!("/api/v1/jobs/{id}/heartbeat"), &token, &beat).is(200);
    let log = format!("/api/v1/jobs/{id}/log?nonce={}&offset=", leased.nonce);
    server.asks("PUT", &format!("{log}0"), &token, "", b"all ").is(200);
    server.asks("PUT", &format!("{log}4"), &token, "", b"green\n").is(200);
    let build: Build = server.end(&token, &leased, "k1").is(201).thing();
    assert_eq!((build.job, build.log_bytes, build.is_evidence), (Some(id), 10, false));
    let read = server.token("read", None, None);
    let get = |path: &str| server.get(path, &read);
    let builds: Page<Build> = get("/api/v1/builds?owner=rails&project=rack&state=passed").thing();
    assert_eq!(builds.items, std::slice::from_ref(&build));
    assert!(get("/api/v1/builds?state=failed").thing::<Page<Build>>().items.is_empty());
    get("/api/v1/builds?state=green").refuses(400, "bad_request");
    let matrix: Matrix = get("/api/v1/owners/rails/projects/rack/matrix").thing();
    assert_eq!(matrix.cells["1.1"][&build.of.target].build, build.id);
    let home: shown::Home = get("/api/v1/home").thing();
    assert_eq!(home.builds[&State::Passed], 1);
    let page: BuildPage = get(&format!("/api/v1/builds/{}/page", build.id)).thing();
    assert_eq!(page.leases[0].how.as_deref(), Some("handed_in"));
    assert_eq!(get(&format!("/api/v1/builds/{}/log?offset=4", build.id)).body, b"green\n");
    let followed = get(&format!("/api/v1/builds/{}/log/follow", build.id));
    let followed = String::from_utf8(followed.body).unwrap();
    assert!(followed.contains(r#""text":"all green\n""#), "{followed}");
    assert!(followed.contains("event: end"), "{followed}");
    // An answer that the client already has is not sent again.
    let first = get("/api/v1/home");
    let tag = format!("If-None-Match: {}\r\n", first.header("etag").unwrap());
    let again = server.asks("GET", "/api/v1/home", &read, &tag, b"");
    assert!(again.is(304).body.is_empty());
    server.lease("a", &token).is(204);
    assert_eq!(server.asks("HEAD", "/api/v1/home", &read, "", b"").is(200).body, b"");
}

fn the_first_token_is_its_owners_alone_and_each_change_is_noted(home: Home) {
    let server = Server::at(home, &[]);
    let file = server.data().join("admin-token");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(server.data().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    server.put("/api/v1/owners/rails", &server.admin, &json!({})).is(201);
    server.put("/api/v1/owners/rails", &server.admin, &json!({})).is(200);
    server.put("/api/v1/owners/rails", "assay_1_forged", &json!({})).refuses(401, "unauthorized");
    let audit = server.get("/api/v1/audit", &server.admin).is(200).json();
    let lines: Vec<(&str, u64)> = audit["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["who"].as_str().unwrap(), line["status"].as_u64().unwrap()))
        .collect();
    assert_eq!(lines, [("-", 401), ("first", 200), ("first", 201)]);
    assert!(!audit.to_string().contains(&server.admin));
    let about = server.get("/api/v1", "").is(200).json();
    assert_eq!(about["api"], 1);
    let document = server.get("/api/v1/openapi.json", "").is(200).json();
    assert_eq!(document["openapi"], "3.1.0");
}

fn two_servers_never_share_a_directory_and_one_that_ends_gives_it_back(home: Home) {
    let mut server = Server::at(home, &[]);
    let mut second = program();
    second.args(["serve", "--listen", "127.0.0.1:0"]).args(server.home.words());
    let second = second.output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    let told = String::from_utf8(second.stderr).unwrap();
    assert!(told.contains("another server is using this directory"), "{told}");
    server.signal("-TERM");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    (server.child, server.address) = start(&server.home, &[]);
    server.get("/api/v1/owners", &server.admin).is(200);
}

fn tokens_are_made_and_taken_back_beside_the_server(home: Home) {
    let server = Server::at(home, &[]);
    let run = |words: &[&str]| {
        let mut command = program();
        let command = command.args(words).args(server.home.words());
        let ended = command.output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap()
    };
    let secret = run(&["token", "add", "--scope", "agent", "--node", "a", "agent of a"]);
    let secret = secret.trim();
    server.hello("a", secret, "a").is(200);
    let listed = run(&["token", "list"]);
    assert!(listed.contains("agent of a") && listed.contains("node a"), "{listed}");
    assert!(!listed.contains(secret.rsplit('_').next().unwrap()));
    let rotated = run(&["token", "rotate", "2"]);
    server.hello("a", secret, "a").refuses(401, "unauthorized");
    server.hello("a", rotated.trim(), "a").is(200);
    run(&["token", "remove", "2"]);
    server.hello("a", rotated.trim(), "a").refuses(401, "unauthorized");
    let status = run(&["status"]);
    assert!(status.contains("0 queued, 0 running") && status.contains("ready"), "{status}");
    let json: Value = serde_json::from_str(&run(&["status", "--json"])).unwrap();
    assert_eq!(json["nodes"][0]["name"], "a");
}

#[test]
fn a_project_and_a_version_are_added_from_the_command_line() {
    let server = Server::new(&[]);
    let run = |words: &[&str], status: i32| {
        let mut command = program();
        let command = command
            .arg("add")
            .args(words)
            .args(["--server", &format!("http://{}", server.address)]);
        let ended = command.env("ASSAY_FARM_TOKEN", &server.admin).output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(status), "{told}");
        String::from_utf8(ended.stdout).unwrap() + &told
    };
    let words = ["alice/tidy", "--gem", "tidy", "--index", "http://127.0.0.1:1/", "--test"];
    let told = run(&[&words[..], &["rake test", "--need", "runtime.ruby=3"]].concat(), 0);
    assert_eq!(told, format!("alice/tidy: http://{}/alice/tidy\n", server.address));
    let path = "/api/v1/owners/alice/projects/tidy";
    let project = server.get(path, &server.admin).is(200).json();
    assert_eq!(project["origin"]["index"], "http://127.0.0.1:1/");
    assert_eq!(
        (&project["recipe"]["test"], &project["needs"]["runtime.ruby"]),
        (&json!("rake test"), &json!("3"))
    );
    let told = run(&["alice/tidy", "--version", "1.2", "--json"], 0);
    let mut values = serde_json::Deserializer::from_str(&told).into_iter::<Value>();
    let version = values.next().unwrap().unwrap();
    let waits = "no registered target meets runtime.ruby=3: it will be built once one does";
    assert!(told[values.byte_offset()..].contains(waits), "{told}");
    assert_eq!((&version["name"], &version["kind"]), (&json!("1.2"), &json!("release")));
    assert!(run(&["alice", "--git", "x"], 2).contains("OWNER/PROJECT"));
    assert!(run(&["bob/none", "--version", "1"], 2).contains("none"));
}
