//! The server is killed between and within requests, again and again: whatever it had said yes to is there, and every job ends exactly once.
//!
//! `ASSAY_KILLS` says how often; a few times without.

use super::*;
use assay_builds::wire::{Build, Job, Page};
use std::collections::BTreeMap;
use std::thread;

#[test]
fn a_server_that_is_killed_loses_no_build_and_ends_no_job_twice() {
    let kills: u32 = std::env::var("ASSAY_KILLS").ok().map_or(20, |text| text.parse().unwrap());
    let more = ["--rate", "1000"];
    let mut server = Server::new(&more);
    let token = server.farm("a", 8);
    let mut ended: BTreeMap<i64, Build> = BTreeMap::new();
    let mut next = 9;
    for round in 0..kills {
        // Something to do, that may be cut off anywhere.
        let path = format!("/api/v1/owners/rails/projects/rack/versions/1.{next}");
        next += 1;
        server.put(&path, &server.admin, &version(next)).is(201);
        let leased = server.leased("a", &token);
        assert!(!ended.contains_key(&leased.job.id), "job {} was given again", leased.job.id);
        let key = format!("k{round}");
        let log = format!("/api/v1/jobs/{}/log?nonce={}&offset=0", leased.job.id, leased.nonce);
        let told = thread::scope(|scope| {
            let sent = scope.spawn(|| {
                let body = serde_json::to_vec(&ending(&leased, &key)).unwrap();
                let path = format!("/api/v1/jobs/{}/result", leased.job.id);
                let head = format!(
                    "PUT {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                );
                let mut stream = TcpStream::connect(&server.address).ok()?;
                stream.write_all(&[head.as_bytes(), &body].concat()).ok()?;
                let mut answer = Vec::new();
                let _cut_off = stream.read_to_end(&mut answer);
                (!answer.is_empty()).then_some(answer)
            });
            // Before, within or after: each round a bit later.
            thread::sleep(Duration::from_micros(u64::from(round % 20) * 250));
            server.signal("-KILL");
            sent.join().unwrap()
        });
        server.kill(&more);
        if told.is_none() {
            // The agent asks again what it could not hand over: first the log, then the result.
            let late = server.asks("PUT", &log, &token, "", b"spooled");
            assert!(matches!(late.status, 200 | 409), "{late:?}");
        }
        let again = server.end(&token, &leased, &key);
        assert!(matches!(again.status, 200 | 201), "{again:?}");
        // What was said yes to was kept.
        assert!(told.is_none() || again.status == 200, "round {round}");
        ended.insert(leased.job.id, again.thing());
    }
    let admin = &server.admin;
    for (id, build) in &ended {
        let job: Job = server.get(&format!("/api/v1/jobs/{id}"), admin).thing();
        assert_eq!(job.build, Some(build.id), "{job:?}");
    }
    let mut found = Vec::new();
    let mut after = String::new();
    loop {
        let page = server.get(&format!("/api/v1/builds?limit=500&after={after}"), admin);
        let page: Page<Build> = page.thing();
        found.extend(page.items);
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    let mut jobs: Vec<i64> = found.iter().map(|build| build.job.unwrap()).collect();
    jobs.sort_unstable();
    assert_eq!(jobs, ended.keys().copied().collect::<Vec<_>>());
    let home = server.get("/api/v1/home", admin).json();
    assert_eq!(home["builds"]["passed"], ended.len());
}
