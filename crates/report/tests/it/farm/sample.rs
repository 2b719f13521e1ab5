//! A synthetic farm: seven targets and five versions, one of which fails on Ruby 3.4 and is slower
//! on arm64. All untrusted text passes through one function.

use assay_analysis::farm::{
    self, Facts, Judged, Measured, Project, State, Target, TargetBuilds, judge,
};
use assay_analysis::{Interval, Verdict};
use assay_data::Better;
use assay_report::farm::*;
use assay_report::terminal::Screen;
use std::collections::BTreeMap;

const VERSIONS: usize = 5;

pub struct Sample {
    text: Box<dyn Fn(&str) -> String>,
    frame: Frame,
    project: Project,
    notes: Vec<VersionNote>,
    judged: Vec<Judged>,
    builds: BTreeMap<(usize, usize), i64>,
    latest: Vec<Line>,
}

/// State by version and target, one row per target.
const STATES: [&str; 7] = ["ppppp", "pppbp", "ppFFf", "ppipp", "p.ppp", "xxppp", "tp.lp"];

impl Sample {
    pub fn new(text: &dyn Fn(&str) -> String) -> Sample {
        // The function's results are stored, so that the function need not live as long.
        let mut made = BTreeMap::new();
        let mut t = |plain: &str| -> String {
            let value = text(plain);
            made.insert(plain.to_owned(), value.clone());
            value
        };
        let targets: Vec<Target> = [
            ("ruby 3.1.2, debian 12, x86_64", "runtime.ruby", "3.1.2", "x86_64"),
            ("ruby 3.3.0, debian 12, x86_64", "runtime.ruby", "3.3.0", "x86_64"),
            ("ruby 3.4.1, debian 13, x86_64", "runtime.ruby", "3.4.1", "x86_64"),
            ("ruby 3.1.2, debian 12, arm64", "runtime.ruby", "3.1.2", "arm64"),
            ("ruby 3.3.0, debian 12, arm64", "runtime.ruby", "3.3.0", "arm64"),
            ("python 3.11.2, debian 12, x86_64", "runtime.python", "3.11.2", "x86_64"),
            ("python 3.12.1, debian 12, x86_64", "runtime.python", "3.12.1", "x86_64"),
        ]
        .into_iter()
        .map(|(name, runtime, version, arch)| {
            let facts = [("arch", arch), ("kernel", "6.1.0-18-amd64"), (runtime, version)];
            let facts = facts.into_iter().map(|(name, value)| (t(name), t(value))).collect();
            Target { name: t(name), facts }
        })
        .collect();
        let versions: Vec<String> = (0..VERSIONS).map(|minor| t(&format!("1.{minor}.0"))).collect();
        let mut cells = Vec::new();
        let mut builds = BTreeMap::new();
        for (target, row) in STATES.iter().enumerate() {
            for (version, letter) in row.chars().enumerate() {
                let (last, passed, failed) = match letter {
                    'p' => (State::Passed, 1, 0),
                    'f' => (State::Failed, 0, 1),
                    'F' => (State::Failed, 0, 3),
                    'b' => (State::Failed, 2, 1),
                    'i' => (State::Infrastructure, 0, 0),
                    't' => (State::NotTested, 0, 0),
                    'x' => (State::InstallFailed, 0, 0),
                    'l' => (State::Lost, 0, 0),
                    _ => continue,
                };
                cells.push(TargetBuilds { version, target, last, passed, failed });
                builds.insert((version, target), (version * 7 + target + 1) as i64);
            }
        }
        let mut measured = Vec::new();
        for version in 1..VERSIONS {
            for target in 0..7 {
                for (number, name) in ["parse/large", "render"].into_iter().enumerate() {
                    let is_slower = version == 4 && number == 0 && matches!(target, 3 | 4);
                    let percent = if is_slower { 5.2 } else { 0.02 * target as f64 };
                    let ratio = |more: f64| 1.0 + (percent + more) / 100.0;
                    measured.push(Measured {
                        version,
                        base: Some(version - 1),
                        target,
                        benchmark: t(name),
                        metric: "wall".to_owned(),
                        better: Better::Lower,
                        verdict: if is_slower { Verdict::Slower } else { Verdict::Equivalent },
                        ratio: ratio(0.0),
                        interval: Interval { lower: ratio(-0.5), upper: ratio(0.5) },
                        n: 40,
                    });
                }
            }
        }
        let project = Project { targets, versions, cells, measured };
        let shown: Vec<usize> = (0..VERSIONS).rev().collect();
        let judged = judge(&project, &shown, &farm::Options::default());
        let notes = (0..VERSIONS)
            .map(|minor| VersionNote {
                time: format!("2026-11-{:02}T08:30:00Z", 10 + minor),
                is_gone: minor == 1,
            })
            .collect();
        let latest = vec![
            line(&mut t, 31, "1.4.0", "ruby 3.4.1, debian 13, x86_64", State::Failed, ""),
            line(&mut t, 30, "1.4.0", "ruby 3.1.2, debian 12, x86_64", State::Passed, ""),
            line(
                &mut t,
                29,
                "1.3.0",
                "python 3.11.2, debian 12, x86_64",
                State::InstallFailed,
                "no wheel for this platform",
            ),
            line(
                &mut t,
                28,
                "1.3.0",
                "ruby 3.1.2, debian 12, x86_64",
                State::Infrastructure,
                "no space left on the disk",
            ),
        ];
        // Texts that the pages request later.
        for plain in [
            "alice",
            "gem",
            "node-1",
            "Gem toolbox of rubygems.org",
            "test_parses",
            "bundle exec rake test",
            "drift: detects 9 %",
            "minitest 5.16",
        ] {
            t(plain);
        }
        let frame = Frame { tool: "assay-farm 0.1.0".to_owned(), root: String::new() };
        let text = Box::new(move |plain: &str| {
            made.get(plain).cloned().unwrap_or_else(|| plain.to_owned())
        });
        Sample { text, frame, project, notes, judged, builds, latest }
    }

    fn t(&self, plain: &str) -> String {
        (self.text)(plain)
    }

    fn matrix(&self) -> Matrix<'_> {
        Matrix {
            project: &self.project,
            notes: &self.notes,
            judged: &self.judged,
            builds: &self.builds,
        }
    }

    pub fn screen(&self, screen: &Screen) -> String {
        assay_report::farm::screen(&self.matrix(), screen)
    }
}

fn line(
    t: &mut dyn FnMut(&str) -> String,
    id: i64,
    version: &str,
    target: &str,
    state: State,
    reason: &str,
) -> Line {
    Line {
        id,
        owner: t("alice"),
        project: t("toolbox"),
        version: t(version),
        target: t(target),
        node: t("node-1"),
        kind: "test".to_owned(),
        state,
        fault: (state == State::Infrastructure).then(|| "disk".to_owned()),
        reason: if reason.is_empty() { String::new() } else { t(reason) },
        added: format!("2026-11-26T05:{id}:00.123Z"),
        seconds: 12.5,
        tests: if matches!(state, State::Passed | State::Failed) { 120 } else { 0 },
        failed: if state == State::Failed { 3 } else { 0 },
        is_evidence: false,
    }
}

/// Returns the log of a build: a line with colors, and one with untrusted text.
fn log(sample: &Sample) -> Vec<u8> {
    // Line ends and escape sequences would add lines and spans; they have their own tests.
    let text = sample.t("test_parses").replace(['\n', '\r', '\u{1b}', '\u{9b}'], "");
    let mut log = "\u{1b}[32mok\u{1b}[0m 1 - starts\n".to_owned();
    log += "Installing: 10 %\rInstalling: 100 %\n";
    log += &format!("\u{1b}[1;31mError\u{1b}[0m in {text}\n");
    log += "  expected 3, got 4\n\u{1b}]0;title\u{7}1 error, <b>119</b> & more\n";
    log.into_bytes()
}

/// Returns all pages by name, with links that begin with `root`.
pub fn pages(sample: &Sample, root: &str) -> Vec<(&'static str, String)> {
    let frame = Frame { root: root.to_owned(), ..sample.frame.clone() };
    let (alice, toolbox, node_1) = (sample.t("alice"), sample.t("toolbox"), sample.t("node-1"));
    let sums = [(State::Passed, 9_412_345), (State::Failed, 1_204), (State::Infrastructure, 17)];
    let newest = VersionLine {
        name: sample.t("1.4.0"),
        time: "2026-11-14T08:30:00Z".to_owned(),
        states: vec![(State::Passed, 6), (State::Failed, 1)],
    };
    let projects = [
        ProjectLine {
            owner: alice.clone(),
            name: toolbox.clone(),
            builds: sums.to_vec(),
            newest: Some(newest),
            last: Some("2026-11-26T05:31:00Z".to_owned()),
        },
        ProjectLine {
            owner: alice.clone(),
            name: sample.t("gem"),
            builds: Vec::new(),
            newest: None,
            last: None,
        },
    ];
    let origin = sample.t("Gem toolbox of rubygems.org");
    let jobs = [
        JobLine {
            id: 7,
            version: sample.t("1.4.0"),
            kind: "bench".to_owned(),
            target: sample.t("ruby 3.1.2, debian 12, arm64"),
            progress: "leased".to_owned(),
            node: Some(node_1.clone()),
            attempts: 2,
        },
        JobLine {
            id: 8,
            version: sample.t("1.4.0"),
            kind: "test".to_owned(),
            target: sample.t("python 3.12.1, debian 12, x86_64"),
            progress: "queued".to_owned(),
            node: None,
            attempts: 0,
        },
    ];
    let project_page = ProjectPage {
        frame: &frame,
        owner: &alice,
        name: &toolbox,
        origin: &origin,
        builds: &sums,
        matrix: sample.matrix(),
        next: Some("41"),
        history: Some("index.html"),
        jobs: &jobs,
        latest: &sample.latest,
    };
    let benchmark_name = sample.t("parse/large");
    let facts: Facts = sample.project.targets[2].facts.clone();
    let failures = [sample.t("test_parses")];
    let compared = [Compared {
        benchmark: benchmark_name.clone(),
        metric: "wall".to_owned(),
        verdict: "slower".to_owned(),
        ratio: 1.052,
        lower: 1.047,
        upper: 1.057,
        n: 40,
    }];
    let leases = [
        Lease {
            node: node_1.clone(),
            began: "2026-11-26T05:20:00Z".to_owned(),
            ended: Some("2026-11-26T05:25:00Z".to_owned()),
            how: Some("expired".to_owned()),
        },
        Lease {
            node: node_1.clone(),
            began: "2026-11-26T05:30:00Z".to_owned(),
            ended: None,
            how: None,
        },
    ];
    let log = log(sample);
    let (repeat, framework, base) =
        (sample.t("bundle exec rake test"), sample.t("minitest 5.16"), sample.t("1.3.0"));
    let build_page = BuildPage {
        frame: &frame,
        line: &sample.latest[0],
        facts: &facts,
        framework: Some(&framework),
        skipped: 2,
        assertions: Some(402),
        failures: &failures,
        repeat: &repeat,
        base: Some(&base),
        compared: &compared,
        has_samples: true,
        leases: &leases,
        others: &sample.latest[1..2],
        log: &log,
        log_before: 300_000,
        log_cut: 2_000_000,
    };
    let job_page = JobPage {
        frame: &frame,
        id: 7,
        owner: &alice,
        project: &toolbox,
        version: &base,
        kind: "bench",
        progress: "leased",
        build: None,
        leases: &leases,
        log: b"begins\n",
        log_before: 0,
        follow: None,
    };
    let ended_page = JobPage {
        progress: "done",
        build: Some(&sample.latest[0]),
        leases: &leases[..1],
        ..job_page
    };
    let targets: Vec<String> =
        sample.project.targets[..3].iter().map(|target| target.name.clone()).collect();
    let reason = sample.t("drift: detects 9 %");
    let calibrations = [
        Calibration {
            time: "2026-11-26T04:00:00Z".to_owned(),
            false_alarms: 0.21,
            comparisons: 100,
            detects: 1.09,
            is_fit: false,
            reason: reason.clone(),
        },
        Calibration {
            time: "2026-11-25T04:00:00Z".to_owned(),
            false_alarms: 0.04,
            comparisons: 100,
            detects: 1.015,
            is_fit: true,
            reason: String::new(),
        },
    ];
    let node_page = NodePage {
        frame: &frame,
        name: &node_1,
        tool: "assay-farm 0.1.0",
        seen: "2026-11-26T06:09:30Z",
        clock_ahead: -75.0,
        drained: Some(&reason),
        targets: &targets,
        jobs: &[7],
        calibrations: &calibrations,
        latest: &sample.latest,
    };
    vec![
        (
            "home",
            home(&Home {
                frame: &frame,
                builds: &sums,
                queued: (1000, 3),
                most: 1000,
                projects: &projects,
                next: Some("17"),
                latest: &sample.latest,
            })
            .unwrap(),
        ),
        ("project", project(&project_page).unwrap()),
        ("matrix", matrix_page(&project_page).unwrap()),
        (
            "benchmark",
            benchmark(&BenchmarkPage {
                frame: &frame,
                owner: &alice,
                name: &toolbox,
                benchmark: &benchmark_name,
                metric: "wall",
                project: &sample.project,
                judged: &sample.judged[..2],
                history: Some("benchmarks/parse-large-0a1b2c3d.html"),
            })
            .unwrap(),
        ),
        (
            "waterfall",
            waterfall(&Waterfall { frame: &frame, builds: &sample.latest, next: Some("27") })
                .unwrap(),
        ),
        ("build", build(&build_page).unwrap()),
        ("job", job(&job_page).unwrap()),
        ("job_done", job(&ended_page).unwrap()),
        ("node", node(&node_page).unwrap()),
        ("refused", refused(&frame, 401, &sample.t("drift: detects 9 %")).unwrap()),
    ]
}
