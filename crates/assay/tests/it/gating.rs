//! `assay gate`: the choice of runs to compare (branches, units, names, clocks), and the files with
//! the answer, for arbitrary names. How alarms are confirmed: `gating_confirmed.rs`; that the
//! answers are right: `analysis/src/history/gate/tests.rs`.

use crate::history::{history, recorded, repository, suite};
use crate::room::{Room, codes, finish, start};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A name that tries to be interpreted as markup or code.
const HOSTILE: &str =
    "|x|`<script>alert(1)</script> @everyone #1 ](http://evil.example) --> \"'&amp; $(rm) \u{202e}";
const IN_JSON: &str = "|x|`<script>alert(1)</script> @everyone #1 ](http://evil.example) --> \\\"'&amp; $(rm) \\u202e";

/// Returns a room with thirty runs of two benchmarks, the first of which has that name, then two
/// runs in which it is worse, and another one that is not stored.
fn hostile() -> Room {
    let room = repository();
    for run in 1..=30_u32 {
        let noise = |seed: u32| 1.0 + f64::from(run * seed % 23) / 460.0;
        suite(&room, "run.json", [100.0 * noise(7), 50.0 * noise(11)]);
        room.write("run.json", &room.read("run.json").replace("BM_Copy", IN_JSON));
        let words = ["add", "-q", "run.json", "--project", HOSTILE];
        history(&room, &words).ends(0);
    }
    for (name, time) in [("first.json", 128.0), ("second.json", 129.0), ("worse.json", 130.0)] {
        suite(&room, name, [time, 51.0]);
        room.write(name, &room.read(name).replace("BM_Copy", IN_JSON));
    }
    let words = ["add", "-q", "first.json", "second.json", "--project", HOSTILE];
    history(&room, &words).ends(0);
    room
}

#[test]
fn names_that_mean_harm_break_out_of_no_file() {
    let room = hostile();
    let files = ["c.md", "g.xml", "g.sarif", "b.svg", "g.json"];
    let exports = files.iter().flat_map(|file| ["--export", file]);
    let words: Vec<&str> = ["gate", "worse.json", "--all", "--project", HOSTILE, "--json"]
        .into_iter()
        .chain(exports)
        .collect();
    let json = room.run(&words).ends(1).complains("written: c.md").json();
    assert_eq!(serde_json::from_str::<Value>(&room.read("g.json")).unwrap(), json);
    comment(&room.read("c.md"));
    tests(&room);
    scanned(&serde_json::from_str(&room.read("g.sarif")).unwrap());
    badge(&room.read("b.svg"), "1 worse");
    // Input files are not overwritten, and the ending of a name selects the format.
    room.run(&["gate", "worse.json", "--export", "worse.json"]).ends(2).complains("is read");
    room.run(&["gate", "worse.json", "--export", "x.pdf"]).ends(2).complains(".sarif");
}

/// Checks that a comment has one marker, tables of one width, no foreign markup, and no mentions.
fn comment(text: &str) {
    let (mark, rest) = text.split_once('\n').unwrap();
    assert!(mark.starts_with("<!-- assay-gate: ") && mark.ends_with(" -->"), "{mark}");
    assert_eq!((mark.matches("-->").count(), mark.matches("--").count()), (1, 2), "{mark}");
    assert!(!rest.contains('<'), "{rest}");
    let bars = |line: &str| {
        let mut before = ' ';
        line.chars().filter(|&c| std::mem::replace(&mut before, c) != '\\' && c == '|').count()
    };
    let rows: Vec<&str> = rest.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 4, "{rest}");
    assert!(rows.iter().all(|row| bars(row) == 8), "{rest}");
    for (at, _) in rest.match_indices(['@', '#']) {
        let next = rest[at + 1..].chars().next().unwrap();
        assert!(!next.is_alphanumeric(), "{}", &rest[at..]);
    }
    assert!(
        !rest.replace("\\](", "").contains("](")
            && !rest.contains("://")
            && !rest.contains('\u{202e}'),
        "{rest}"
    );
    assert!(rest.contains("`BM_Sort` wall"), "{rest}");
}

/// Checks that our own importer reads a test for each benchmark with its time, and the failure of
/// the worse one.
fn tests(room: &Room) {
    let text = room.read("g.xml");
    assert!(text.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{text}");
    room.write("g.assay", &room.run(&["convert", "g.xml", "--to", "assay"]).ends(0).stdout);
    let (named, runs) = (room.records("g.assay", "subject"), room.records("g.assay", "obs"));
    let names: Vec<&str> = named.iter().map(|own| own["name"].as_str().unwrap()).collect();
    assert!(names[0].contains("evil.example") && names[0].contains("\"'&amp; $(rm)"), "{names:?}");
    assert!(names[1].ends_with(": BM_Sort wall") && names.len() == 2, "{names:?}");
    assert_eq!((&runs[0]["outcome"]["exit"], &runs[1]["outcome"]), (&1.into(), &Value::Null));
    let sort = runs[1]["values"]["wall"].as_f64().unwrap();
    assert!((sort - 51e-9).abs() < 1e-9, "{sort}");
}

/// Checks the members that SARIF 2.1.0 requires, and those that code scanning needs to accept a
/// result.
fn scanned(sarif: &Value) {
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(run["tool"]["driver"]["name"] == "assay" && rules.len() == 3);
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2, "{sarif:#}");
    for result in results {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        // Results that are not failures have no level.
        assert_eq!(result["kind"] == "fail", result["level"] != "none");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "worse.json");
        assert!(result["partialFingerprints"]["assayGate/v1"].is_string());
    }
    let kinds: Vec<&Value> = results.iter().map(|result| &result["kind"]).collect();
    assert_eq!(kinds, ["fail", "pass"]);
}

/// Checks that a badge loads nothing, runs nothing, and has no foreign elements.
fn badge(text: &str, answer: &str) {
    assert!(text.contains(&format!(">{answer}</text>")), "{text}");
    for no in ["<script", "href", "<image", "<style", "onload"] {
        assert!(!text.contains(no), "{no}: {text}");
    }
    assert_eq!(text.matches("<text").count(), 2, "{text}");
    assert_eq!(text.matches('<').count(), text.matches('>').count(), "{text}");
}

#[test]
fn runs_of_other_branches_are_not_normal() {
    let room = repository();
    recorded(&room, 12, 1.0);
    let line = "git checkout -q -b side && for i in 1 2 3 4 5 6; do git -c user.name=a -c user.email=b \
                commit -q --allow-empty -m s$i; git tag s$i; done; git checkout -q main";
    finish(room.shell(line)).ends(0);
    for run in 1..=6 {
        suite(&room, "side.json", [160.0 + f64::from(run), 80.0]);
        history(&room, &["add", "-q", "side.json", "--rev", &format!("s{run}")]).ends(0);
    }
    suite(&room, "now.json", [101.0, 51.0]);
    let gate = |more: &[&str]| {
        room.run(&[&["gate", "now.json", "--detect", "30%", "--json"], more].concat())
    };
    let all = gate(&[]).json();
    assert_ne!(all["benchmarks"][0]["runs"], 10, "{all:#}");
    let main = gate(&["--branch", "main"]).ends(0).json();
    assert_eq!(main["benchmarks"][0]["runs"], 10, "{main:#}");
    assert!(codes(&main).contains(&"RUNS_LEFT_OUT"), "{main:#}");
    // A slow run on the branch is judged against the main line: its six runs neither make it normal
    // nor confirm it, but another slow run of the main line confirms it.
    suite(&room, "now.json", [161.0, 80.0]);
    let alone = gate(&["--branch", "main"]).ends(3).json();
    assert!(codes(&alone).contains(&"STANDS_OUT"), "{alone:#}");
    suite(&room, "slow.json", [160.0, 81.0]);
    history(&room, &["add", "-q", "slow.json", "--rev", "main"]).ends(0);
    gate(&["--branch", "main"]).ends(1);
    gate(&["--branch", "nowhere"]).ends(2).complains("origin/nowhere");
    finish(room.shell("git clone -q --depth 1 \"file://$PWD\" cut")).ends(0);
    let line = "cd cut && $ASSAY gate ../now.json --branch main --store ../.assay --project \"$(basename \"$(dirname \"$PWD\")\")\"";
    finish(room.shell(line)).ends(2).complains("--unshallow");
}

#[test]
fn several_metrics_share_one_error() {
    let room = repository();
    recorded(&room, 30, 1.0);
    for time in [118.0, 119.0] {
        suite(&room, "before.json", [time, 51.0]);
        history(&room, &["add", "-q", "before.json", "--rev", "HEAD"]).ends(0);
    }
    suite(&room, "now.json", [120.0, 51.0]);
    let one = room.run(&["gate", "now.json", "--json"]).ends(1).json();
    let two = room.run(&["gate", "now.json", "--secondary", "cpu,wall", "--json"]).ends(1).json();
    let of = |json: &Value| json["benchmarks"].as_array().unwrap().len();
    assert_eq!((of(&one), of(&two)), (2, 4));
    assert_eq!(two["benchmarks"][2]["metric"], "cpu");
    let p = |json: &Value| json["benchmarks"][0]["p"].as_f64().unwrap();
    assert!((p(&two) / p(&one) - 2.0).abs() < 1e-9, "{} {}", p(&one), p(&two));
    assert_eq!(two["sentence"], "2 of 4 results are worse than normal");
    room.run(&["gate", "now.json", "--secondary", "x"]).ends(2).complains("no such metric");
}

#[test]
fn a_renamed_benchmark_keeps_its_past_and_another_unit_has_none() {
    let room = repository();
    recorded(&room, 30, 1.0);
    history(&room, &["alias", "BM_Copy", "BM_Bytes"]).ends(0);
    suite(&room, "now.json", [101.0, 51.0]);
    let old = room.json(&["gate", "now.json"]);
    room.write("now.json", &room.read("now.json").replace("BM_Copy", "BM_Bytes"));
    let new = room.json(&["gate", "now.json"]);
    assert_eq!(old["benchmarks"], new["benchmarks"]);
    assert_eq!(
        (&new["benchmarks"][0]["benchmark"], &new["findings"]),
        (&"BM_Bytes".into(), &Value::Array(vec![]))
    );
    // Sizes, then times: the same metric name for unrelated quantities.
    for run in 1..=8_u32 {
        room.write("size.txt", &format!("{}\n", 1000 + run));
        history(&room, &["add", "-q", "size.txt", "--metric", "size", "--unit", "B"]).ends(0);
    }
    let words = ["gate", "size.txt", "--metric", "size", "--unit", "ms", "--json"];
    let json = room.run(&words).ends(3).json();
    assert!(codes(&json).contains(&"RUNS_LEFT_OUT"), "{json:#}");
    assert_eq!(json["benchmarks"][0]["runs"], 0);
    // Runs with unknown revisions have a past, but not one on a branch. The last of the eight is
    // judged together with the new one.
    let words = ["gate", "size.txt", "--metric", "size", "--unit", "B", "--json"];
    assert_eq!(room.run(&words).json()["benchmarks"][0]["runs"], 7);
    let json = room.run(&[&words[..], &["--branch", "main"]].concat()).ends(3).json();
    assert_eq!(json["benchmarks"][0]["runs"], 0);
}

#[test]
fn clocks_that_go_back_do_not_change_which_runs_are_the_last() {
    let room = repository();
    recorded(&room, 30, 1.0);
    let slow = |name: &str| {
        suite(&room, name, [107.5, 51.0]);
        room.write(name, &room.read(name).replace("2026-05-01", "1990-05-01"));
    };
    for name in ["a.json", "b.json"] {
        let line = "git -c user.name=a -c user.email=b commit -q --allow-empty -m later";
        finish(room.shell(line)).ends(0);
        slow(name);
        // Two byte-identical runs would count as one.
        room.write(name, &room.read(name).replace("12:00:00", &format!("12:00:0{}", name.len())));
        history(&room, &["add", "-q", name, "--rev", "HEAD"]).ends(0);
    }
    slow("now.json");
    let json = room.run(&["gate", "now.json", "--json"]).ends(1).json();
    let copy = &json["benchmarks"][0];
    assert_eq!((&copy["standing"], &copy["together"]), (&"worse".into(), &true.into()), "{json:#}");
}

#[test]
fn what_is_not_known_says_what_it_takes() {
    let room = repository();
    recorded(&room, 3, 1.0);
    suite(&room, "now.json", [101.0, 51.0]);
    let all = |json: &Value| json["benchmarks"].as_array().unwrap().clone();
    let few = room.run(&["gate", "now.json", "--json"]).ends(3).json();
    assert!(all(&few).iter().all(|b| b["more_runs"] == 2), "{few:#}");
    finish(room.shell("git tag -d $(git tag -l 't*')")).ends(0);
    recorded(&room, 27, 1.0);
    // At first the existing runs are not enough, but a few more would be; then no number of runs is
    // enough. At 95 % the limit is the requirement of two worse runs, which more runs do not
    // change.
    let sure = |more: &[&str]| {
        room.run(&[&["gate", "now.json", "--confidence", "99.9%", "--json"], more].concat())
    };
    let known = sure(&[]).json();
    let detect = all(&known)[0]["detectable"].as_f64().unwrap() * 99.5;
    let detect = format!("{detect:.4}%");
    let some = sure(&["--detect", &detect]).ends(3).json();
    assert!(all(&some)[0]["more_runs"].as_u64().is_some_and(|n| n > 0), "{some:#}");
    let none = sure(&["--detect", "1%"]).ends(3).json();
    assert!(all(&none).iter().all(|b| b["more_runs"].is_null()), "{none:#}");
    assert!(codes(&none).contains(&"TOO_FEW_RUNS"), "{none:#}");
    // For values without a logarithm only equality can be decided, and that is reported.
    for run in 1..=8_u32 {
        room.write("zero.txt", &format!("{}\n0\n0\n", run % 2));
        history(&room, &["add", "-q", "zero.txt"]).ends(0);
    }
    room.write("zero.txt", "3\n3\n");
    let zeros = room.run(&["gate", "zero.txt", "--json"]).ends(3).json();
    assert!(codes(&zeros).contains(&"NOT_POSITIVE"), "{zeros:#}");
}

/// The script of the guide, and a simulated forge.
struct Forge {
    room: Room,
    child: std::process::Child,
    port: u16,
}

impl Forge {
    fn start() -> Self {
        let room = Room::new();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let forge = here.join("tests/it/gate-forge.py");
        let mut command = room.shell(&format!("exec python3 '{}'", forge.display()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().parse().unwrap();
        Self { room, child, port }
    }

    fn post(&self, forge: &str, file: &str, token: &str) -> std::process::Command {
        let script: PathBuf =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gate/comment.sh");
        let mut command = self.room.shell(&format!("sh '{}' {file} {forge}", script.display()));
        let address = format!("http://127.0.0.1:{}", self.port);
        command.env("GITHUB_API_URL", &address).env("CI_API_V4_URL", &address);
        command.env("GITHUB_REPOSITORY", "o/n").env("PULL_REQUEST", "7");
        command.env("CI_PROJECT_ID", "9").env("CI_MERGE_REQUEST_IID", "7");
        command.env("GITHUB_TOKEN", token).env("GITLAB_TOKEN", token).env("no_proxy", "*");
        command
    }
}

impl Drop for Forge {
    fn drop(&mut self) {
        // The forge exits at the end of its input.
        drop(self.child.stdin.take());
        let _ended = self.child.wait();
    }
}

#[test]
fn the_script_makes_one_comment_and_edits_it_from_then_on() {
    for (kind, edit) in [("github", "PATCH"), ("gitlab", "PUT")] {
        let forge = Forge::start();
        let mark = "<!-- assay-gate: parser -->";
        forge.room.write("c.md", &format!("{mark}\n**\"worse\"** $(touch harm) \\ `x`\n"));
        finish(forge.post(kind, "c.md", "secret")).ends(0).shows("made comment 1130");
        forge.room.write("c.md", &format!("{mark}\nit is normal again\n"));
        finish(forge.post(kind, "c.md", "secret")).ends(0).shows("edited comment 1130");
        assert_eq!(forge.room.read("kept"), forge.room.read("c.md"));
        let requests = forge.room.read("requests");
        let of = |method: &str| requests.lines().filter(|line| line.starts_with(method)).count();
        // Our comment is the first of the second page.
        assert_eq!((of("POST"), of(edit), of("GET")), (1, 1, 4), "{requests}");
        // Another project has its own comment.
        forge.room.write("d.md", "<!-- assay-gate: parser2 -->\nx\n");
        finish(forge.post(kind, "d.md", "secret")).ends(0).shows("made comment 1131");
        // Failures are reported, and nothing is left behind.
        assert_ne!(start(forge.post(kind, "c.md", "wrong")).finish().status, 0);
        forge.room.write("e.md", "no mark\n");
        finish(forge.post(kind, "e.md", "secret")).ends(2).complains("no mark");
        assert!(!forge.room.path("harm").exists());
        let left = std::fs::read_dir(forge.room.path(".")).unwrap().flatten();
        assert!(
            left.map(|entry| entry.file_name())
                .all(|name| !name.to_string_lossy().starts_with("tmp."))
        );
    }
}
