//! Externally visible promises of docs/reference/stability.md: the information that a binary
//! reports about itself, and that it makes no connections.

use crate::room::{Room, data, finish};
use std::process::Command;

#[test]
fn a_binary_says_what_it_is() {
    let room = Room::new();
    let short = room.run(&["--version"]).ends(0).stdout;
    assert_eq!(short, format!("assay {}\n", env!("CARGO_PKG_VERSION")));
    let long = room.run(&["--version", "--verbose"]).ends(0).stdout;
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!(format!("{}\n", lines[0]), short);
    let names: Vec<&str> = lines[1..].iter().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(names, ["commit", "target", "features", "assay-mutate", "assay-farm"]);
    let commit = lines[1].strip_prefix("commit: ").unwrap();
    assert!(!commit.is_empty() && !commit.contains(' '), "{commit}");
    assert!(lines[2].contains(std::env::consts::ARCH), "{long}");
    for other in [["-V", "-v"], ["--verbose", "--version"], ["-V", "--verbose"]] {
        assert_eq!(room.run(&other).ends(0).stdout, long);
    }
    room.run(&["--verbose"]).ends(2);
}

/// No telemetry, no update check: no connection to another machine is opened, and no name is looked
/// up.
#[test]
fn what_measures_and_compares_opens_no_connection() {
    let traces = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    if !traces.is_ok_and(|ran| ran.status.success()) {
        println!("skipped: strace is not there, or may not trace");
        return;
    }
    let room = Room::new();
    for line in [
        "$ASSAY run --runs 2 --json true".to_owned(),
        format!("$ASSAY compare {} {}", data("lnorm_a.txt"), data("lnorm_b.txt")),
        format!("$ASSAY history add {} && $ASSAY history log", data("sorting.assay")),
        "$ASSAY --version --verbose".to_owned(),
        "$ASSAY help words".to_owned(),
    ] {
        let traced = format!("exec strace -f -qq -e trace=socket,connect -o trace sh -c '{line}'");
        finish(room.shell(&traced)).ends(0);
        let trace = room.read("trace");
        let connects = trace.lines().find(|line| line.contains("AF_INET"));
        assert_eq!(connects, None, "{line}");
    }
}
