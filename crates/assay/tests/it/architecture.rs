//! The layering: which crate may depend on which. ARCHITECTURE.md draws the same picture; a new
//! arrow requires a change of both. That page stays short: details of a folder are in its README.

use assay_data::code;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Every crate of the workspace with the crates of the workspace that it may depend on.
const ARROWS: [(&str, &[&str]); 14] = [
    (
        "assay",
        &[
            "assay-analysis",
            "assay-data",
            "assay-harness",
            "assay-history",
            "assay-load",
            "assay-measure",
            "assay-ministat",
            "assay-profiles",
            "assay-report",
            "assay-suites",
        ],
    ),
    (
        "assay-farm",
        &[
            "assay-analysis",
            "assay-data",
            "assay-history",
            "assay-measure",
            "assay-report",
            "assay-suites",
        ],
    ),
    ("assay-harness", &["assay-data"]),
    ("assay-history", &["assay-analysis", "assay-data", "assay-report"]),
    ("assay-load", &["assay-data"]),
    ("assay-ministat", &[]),
    (
        "assay-mutate",
        &["assay-analysis", "assay-data", "assay-measure", "assay-report", "assay-suites"],
    ),
    ("assay-report", &["assay-analysis", "assay-data", "assay-profiles"]),
    ("assay-profiles", &["assay-data", "assay-stats"]),
    ("assay-measure", &["assay-data"]),
    ("assay-suites", &["assay-data"]),
    ("assay-analysis", &["assay-data", "assay-stats"]),
    ("assay-data", &[]),
    ("assay-stats", &[]),
];

/// Libraries that only these crates may depend on.
const CARRIED: [(&str, &[&str]); 17] = [
    ("askama", &["assay-report"]),
    ("tiny-skia", &["assay-report"]),
    ("ttf-parser", &["assay-report"]),
    ("clap", &["assay", "assay-farm", "assay-mutate", "assay-report"]),
    ("axum", &["assay-farm"]),
    ("tar", &["assay-farm"]),
    ("ureq", &["assay-farm"]),
    ("log", &["assay-farm"]),
    ("indicatif", &["assay"]),
    ("rustls", &["assay-farm", "assay-load"]),
    ("h2", &["assay-load"]),
    ("hdrhistogram", &["assay-data"]),
    ("libc", &["assay-measure"]),
    ("object", &["assay-measure"]),
    ("rusqlite", &["assay-history", "assay-suites"]),
    ("tree-sitter", &["assay-mutate"]),
    ("postgres", &["assay-history"]),
];

fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .map(|package| {
            let name = package["name"].as_str().expect("a name").to_owned();
            let normal = package["dependencies"].as_array().expect("dependencies").iter();
            // A dev-dependency is not an arrow.
            let normal = normal.filter(|d| d["kind"].is_null());
            (name, normal.map(|d| d["name"].as_str().expect("a name").to_owned()).collect())
        })
        .collect()
}

#[test]
fn arrows_only_point_down() {
    let found = dependencies();
    let known: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(found.keys().map(String::as_str).collect::<BTreeSet<_>>(), known);
    for (name, allowed) in ARROWS {
        let arrows: Vec<_> = found[name].iter().filter(|d| known.contains(d.as_str())).collect();
        assert!(arrows.iter().all(|d| allowed.contains(&d.as_str())), "{name} → {arrows:?}");
    }
}

#[test]
fn a_library_that_belongs_to_one_crate_stays_there() {
    let found = dependencies();
    for (library, owners) in CARRIED {
        let users: Vec<_> =
            found.iter().filter(|(_, d)| d.contains(library)).map(|(name, _)| name).collect();
        assert_eq!(users, owners, "{library}");
    }
}

/// Maximum length of ARCHITECTURE.md in words, and of its lines in columns.
const PAGE: (usize, usize) = (1_200, 100);

#[test]
fn the_page_of_the_architecture_has_every_crate_and_stays_short() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(top.join("ARCHITECTURE.md")).expect("the page");
    let words = page.split_whitespace().count();
    assert!(words <= PAGE.0, "{words} words");
    for line in page.lines() {
        assert!(line.chars().count() <= PAGE.1, "more than {} columns: {line}", PAGE.1);
    }
    for entry in std::fs::read_dir(top.join("crates")).expect("the crates").flatten() {
        let name = entry.file_name().into_string().expect("a name");
        let is_crate = entry.path().join("Cargo.toml").exists();
        assert!(!is_crate || page.contains(&format!("`{name}`")), "the page lacks {name}");
    }
}

/// Files that may create a random number generator: the shared stream, and the code that draws for
/// plans and recipes.
const GENERATORS: [&str; 6] = [
    "analysis/src/calibration.rs",
    "analysis/src/design/random.rs",
    "analysis/src/mock/draw.rs",
    "analysis/src/spread.rs",
    "load/src/schedule.rs",
    "stats/src/resampling.rs",
];

/// Returns every Rust file below the crates, with its relative path and its text.
fn files() -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    let mut open = vec![crates.clone()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).expect("a directory").flatten() {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != "target" {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let place = path.strip_prefix(&crates).expect("below the crates");
                let text = std::fs::read_to_string(&path).expect("a file of text");
                found.push((place.to_string_lossy().into_owned(), text));
            }
        }
    }
    found
}

#[test]
fn random_numbers_have_few_sources_and_tests_none_of_their_own() {
    let draws = |text: &str| text.lines().any(|l| l.trim_start().starts_with("use rand_pcg::"));
    let found: BTreeSet<String> =
        files().into_iter().filter(|(_, text)| draws(text)).map(|(place, _)| place).collect();
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), GENERATORS);
}

/// Path prefixes of files that may open or accept connections; docs/reference/stability.md lists
/// the occasions. No other file connects anywhere: there is no telemetry, and no check for new
/// versions.
const CONNECTED: [&str; 8] = [
    "assay/src/verbs/history/serve.rs",
    "assay/src/verbs/history/server.rs",
    "assay/src/verbs/load/serving.rs",
    "farm/src/",
    "history/src/server.rs",
    "load/src/",
    "measure/src/servers.rs",
    "measure/src/servers/",
];
/// Names that open or accept connections; sockets within the machine do not count.
const CONNECTS: [&str; 7] = [
    "TcpListener",
    "TcpStream",
    "ToSocketAddrs",
    "UdpSocket",
    ".connect(NoTls)",
    "AddressFamily::INET",
    "SocketAddrAny",
];

#[test]
fn nobody_opens_a_connection_that_was_not_asked_for() {
    for (place, text) in files() {
        let product = text.split("#[cfg(test)]\nmod ").next().expect("a first part");
        let is_product = place.contains("/src/") && !place.contains("/src/tests/");
        let is_allowed = CONNECTED.iter().any(|own| place.starts_with(own));
        if is_product && !is_allowed {
            let found = CONNECTS.iter().find(|word| product.contains(**word));
            assert_eq!(found, None, "{place}: docs/reference/stability.md says who connects");
        }
    }
}

/// Crates of the programs, which may use the console.
const PROGRAMS: [&str; 3] = ["assay/", "farm/", "mutate/"];

#[test]
fn only_programs_use_the_console() {
    for (place, text) in files() {
        let is_own = place.starts_with("report/src/console");
        let is_program = PROGRAMS.iter().any(|own| place.starts_with(own));
        if !is_own && !is_program {
            let used =
                ["assay_report::console", "crate::console"].iter().find(|n| text.contains(**n));
            assert_eq!(used, None, "{place}: libraries return what is to be printed");
        }
    }
}

#[test]
fn every_code_of_the_catalogue_is_used() {
    let product = |(place, text): (String, String)| {
        // Code that runs test suites is not itself a test.
        let runs_tests = ["assay/src/tests/", "assay/src/verbs/tests"];
        let is_test = place.contains("tests") && !runs_tests.iter().any(|own| place.contains(own));
        let is_product = place.contains("/src/") && !is_test && !place.ends_with("finding/code.rs");
        let first = text.split("#[cfg(test)]\nmod ").next().expect("a first part").to_owned();
        is_product.then_some(first)
    };
    let product: String = files().into_iter().filter_map(product).collect();
    let made: BTreeSet<&str> = product
        .split("Finding::new(")
        .skip(1)
        .map(|after| after.split(',').next().expect("a code").trim())
        .map(|code| code.rsplit("::").next().expect("a name"))
        .collect();
    let unused: Vec<&str> =
        code::ALL.iter().map(|code| code.name).filter(|name| !made.contains(name)).collect();
    assert!(unused.is_empty(), "nobody makes {unused:?}");
}
