//! Screens of load tests: the answer of a search and the capacities below it, and the fate of the
//! connections.

use crate::common;

use assay_analysis::Analysis;
use assay_data::{Finding, Severity, code};
use assay_report::benchmarks::DisplayOptions;
use assay_report::remarks::Remarks;
use assay_report::terminal::{Screen, render};

fn screen(analysis: &Analysis, remarks: Remarks) -> String {
    let shown = DisplayOptions { remarks, ..DisplayOptions::default() };
    render(analysis, shown, &Screen { width: 100, color: false, unicode: true, whole: false })
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_search_says_which_server_sustains_more_and_little_below_that() {
    let mut analysis = common::analysed(&common::search_samples(12));
    analysis.environment.set("load", "the highest rate that meets the goals");
    for name in ["a", "b", "c"] {
        let message = format!("{name} was a problem of many words, so that its line is a long one");
        analysis.findings.push(Finding::new(code::GENERATOR_LIMIT, message).at(Severity::Warning));
    }
    let text = screen(&analysis, Remarks::Usual);
    let (answer, rest) = text.split_once("\n\n").expect("an answer with something below it");
    let answer = on_one_line(answer);
    assert!(answer.starts_with("thin sustains 3"), "{text}");
    let goals = "fewer requests per second with p90 below 200ms and errors below 0.1% than unicorn";
    assert!(answer.contains(goals), "{text}");
    // Each of several warnings gets a line below the table.
    assert!(rest.lines().count() <= 7, "{text}");
    let row = |name: &str| {
        rest.lines().find(|line| line.trim().starts_with(name)).map(on_one_line).unwrap_or_default()
    };
    assert!(row("capacity").starts_with("capacity p50 there p99 there"), "{text}");
    assert!(row("unicorn").starts_with("unicorn 9") && row("unicorn").contains("/s ["), "{text}");
    assert!(row("thin").starts_with("thin ") && row("thin").contains(" … "), "{text}");
    // Everything else can be shown.
    let whole = screen(&analysis, Remarks::All);
    assert!(on_one_line(&whole).contains("load: the highest rate that meets"), "{whole}");
    assert!(whole.contains("capacity") && whole.contains("answered"), "{whole}");
}

#[test]
fn connections_are_described_as_the_servers_treated_them() {
    let mut analysis = common::analysed(&common::load_samples(6));
    let said = |analysis: &Analysis| on_one_line(&screen(analysis, Remarks::Usual));
    for (name, fact) in [
        ("load", "requests at each rate"),
        ("load_protocol", "HTTP/1.1"),
        ("load_connections", "kept alive where the server allows it"),
    ] {
        analysis.environment.set(name, fact);
    }
    let mut count = |side: usize, name: &str, count: u64| {
        let Analysis { answers, subjects, .. } = &mut analysis;
        let own = answers.iter_mut().filter(|own| subjects[own.subject].side == side);
        own.for_each(|own| {
            own.counts.insert(name.to_owned(), count);
        });
        said(&analysis)
    };
    count(0, "sent", 300);
    count(1, "sent", 300);
    count(0, "connections", 10);
    assert!(count(1, "connections", 10).contains("HTTP/1.1, connections kept alive"));
    // A server may close a connection after many requests.
    assert!(count(0, "closed_by_server", 10).contains("HTTP/1.1, connections kept alive"));
    count(1, "connections", 300);
    let one = count(1, "closed_by_server", 297);
    assert!(one.contains("HTTP/1.1 requested; thin closes each connection"), "{one}");
    count(0, "connections", 300);
    let both = count(0, "closed_by_server", 300);
    assert!(both.contains("HTTP/1.1 requested; the servers close each connection"), "{both}");
}
