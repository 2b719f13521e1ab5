//! A suite in all its formats: the whole screen, file or page for fixed numbers. Review them before
//! accepting a change.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use crate::common;

use assay_analysis::Options;
use assay_analysis::figures::figures;
use assay_analysis::{Adjust, Analysis, analyse};
use assay_data::{Metric, Observation, Samples, Subject, Unit};
use assay_report::benchmarks::{DisplayOptions, Sort};
use assay_report::charts::{forest, svg};
use assay_report::html::{self, Data, Material};
use assay_report::json::{self, Meta};
use assay_report::terminal::Screen;
use assay_report::{csv, markdown, terminal};
use insta::assert_snapshot;

fn at(width: usize, shown: DisplayOptions) -> String {
    terminal::render(
        &common::suite(),
        shown,
        &Screen { width, color: false, unicode: true, whole: false },
    )
}

#[test]
fn the_screen_fits_whatever_the_width() {
    for width in [100, 80, 50, 24] {
        let text = at(width, DisplayOptions::default());
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{width}: {text}");
        assert_snapshot!(format!("suite_{width}"), text);
    }
}

#[test]
fn a_terminal_without_unicode_gets_ascii() {
    let screen = Screen { width: 80, color: false, unicode: false, whole: false };
    let text = terminal::render(&common::suite(), DisplayOptions::default(), &screen);
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn rows_come_in_the_order_that_was_asked_for() {
    let firsts = |sort| -> Vec<String> {
        let text = at(100, DisplayOptions { sort, all_metrics: true, ..DisplayOptions::default() });
        let table = text.split("\n\n").nth(1).unwrap();
        let first = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        table.lines().skip(1).take(6).map(first).collect()
    };
    assert_eq!(firsts(Sort::File)[..2], ["copy/n:2", "copy/n:16"]);
    assert_eq!(firsts(Sort::Name)[..4], ["close", "copy/n:2", "copy/n:16", "once"]);
    let by_effect = firsts(Sort::Effect);
    // With equal logarithms, 0.8 and 1.25 precede 0.9; equivalent rows come last.
    assert_eq!(by_effect[2], "copy/n:16");
    assert!(by_effect[5].starts_with("read_a"), "{by_effect:?}");
}

/// A benchmark's name and its values.
type Named<'a> = (&'a str, &'a [f64]);

/// Returns a suite of sides with these values of `wall` for each benchmark, and a counter that is
/// the same everywhere.
fn suite_of(sides: &[(&str, &[Named<'_>])]) -> Analysis {
    let metrics = vec![Metric::wall(), Metric::lower("allocations", Unit::One)];
    let mut samples = Samples::new(metrics);
    for (side, benchmarks) in sides {
        for (name, values) in *benchmarks {
            let (own, row) = (samples.side_named(side), samples.row_named(name));
            let name = format!("{side}: {name}");
            let subject = samples.add(Subject { side: own, row, name, ..Subject::default() });
            for value in *values {
                let values = vec![*value, 3.0];
                samples.push(Observation { subject, values, ..Observation::default() });
            }
        }
    }
    analyse(&samples, &Options::default()).unwrap()
}

/// Returns values around a size, unordered.
fn about(size: f64) -> Vec<f64> {
    (0..13).map(|i| size * (1.0 + 0.001 * f64::from(i * 8 % 13))).collect()
}

#[test]
fn the_headline_says_how_far_benchmarks_without_a_verdict_are_known() {
    let spread = |share: f64| -> Vec<f64> {
        (0..13).map(|i| 1e-3 * (1.0 + share * f64::from(i * 8 % 13))).collect()
    };
    /// Returns the line of the screen about rows without a direction.
    fn told(values: &[Vec<f64>]) -> Option<String> {
        let names = ["copy", "sort", "find", "read", "close"];
        let side: Vec<Named<'_>> =
            names.into_iter().zip(values).map(|(name, values)| (name, &values[..])).collect();
        let suite = suite_of(&[("old", &side), ("new", &side)]);
        let screen = Screen { width: 200, color: false, unicode: true, whole: false };
        let text = terminal::render(&suite, DisplayOptions::default(), &screen);
        text.lines().find(|line| line.contains("within ±")).map(|line| line.trim().to_owned())
    }
    let shares = |shares: &[f64]| shares.iter().map(|&share| spread(share)).collect::<Vec<_>>();
    let few = told(&shares(&[0.001, 0.0012, 0.001, 0.02, 0.05])).unwrap();
    let (most, named) = few.split_once("; ").unwrap();
    assert!(most.starts_with("3 of 5 benchmarks within ± ") && most.ends_with(" %"), "{few}");
    let named: Vec<&str> = named.split(" %").map(|one| one.trim_start_matches("; ")).collect();
    assert!(named[0].starts_with("read within ± ") && named[1].starts_with("close within ± "));
    let all = told(&shares(&[0.02, 0.021, 0.02, 0.021, 0.02])).unwrap();
    assert!(all.starts_with("all 5 benchmarks within ± ") && !all.contains(';'), "{all}");
    // If every benchmark has a verdict, or there is only one, the verdicts suffice.
    assert_eq!(told(&shares(&[0.0001, 0.0001])), None);
    assert_eq!(told(&shares(&[0.02])), None);
}

#[test]
fn a_ratio_that_points_away_from_the_medians_is_explained() {
    // The lower half is just below the others' median, the upper half far above it: the median
    // falls although most pairs rise.
    let places = (0..21).map(|i| i * 8 % 21 - 10);
    let old: Vec<f64> = places.clone().map(|i| 1e-3 * (1.0 + 0.01 * f64::from(i))).collect();
    let turned = |i: i32| if i <= 0 { 0.98 + 0.0005 * f64::from(i) } else { 1.15 };
    let new: Vec<f64> = places.map(|i| 1e-3 * turned(i)).collect();
    let plain = about(2e-3);
    let mut suite = suite_of(&[
        ("old", &[("copy", &old), ("sort", &plain)]),
        ("new", &[("copy", &new), ("sort", &about(1.5e-3))]),
    ]);
    let screen = Screen { width: 200, color: false, unicode: true, whole: false };
    let text = terminal::render(&suite, DisplayOptions::default(), &screen);
    let note = "copy: the ratio and the two medians disagree in direction: the ratio is the median of the ratios within all pairs";
    assert!(text.contains(note), "{text}");
    assert!(markdown::render(&suite, DisplayOptions::default()).contains(note));
    // Medians that differ more than the change, in the same direction.
    let sort = suite.comparisons.iter_mut().find(|c| c.medians.0 > 1.9e-3).unwrap();
    sort.medians.1 *= 0.8;
    let text = terminal::render(&suite, DisplayOptions::default(), &screen);
    let note = "sort: the ratio is the median of the ratios within all pairs";
    assert!(text.contains(note), "{text}");
    // If no medians are shown, there is nothing to explain.
    let screen = Screen { width: 30, ..screen };
    assert!(
        !terminal::render(&suite, DisplayOptions::default(), &screen)
            .contains("points the other way")
    );
    assert!(!at(100, DisplayOptions::default()).contains("points the other way"));
}

#[test]
fn three_sides_have_one_order_and_a_line_each_for_what_is_only_named() {
    let suite = suite_of(&[
        ("old", &[("copy", &about(1e-3)), ("sort", &about(2e-3))]),
        ("new", &[("copy", &about(0.9e-3)), ("sort", &about(2e-3))]),
        ("newer", &[("copy", &about(0.8e-3)), ("sort", &about(1e-3))]),
    ]);
    let screen = Screen { width: 100, color: false, unicode: true, whole: false };
    let text = terminal::render(&suite, DisplayOptions::default(), &screen);
    for line in [
        "also, new against old: no difference that matters in allocations\n",
        "also, newer against old: no difference that matters in allocations\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let rows: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    let rows: Vec<&&str> = rows.iter().filter(|row| ["copy", "sort"].contains(*row)).collect();
    assert_eq!(rows, [&"sort", &"copy", &"sort", &"copy"]);
}

#[test]
fn where_room_is_short_names_are_shortened_before_numbers_go() {
    let text = at(60, DisplayOptions::default());
    assert!(text.contains("copy/n:16"), "{text}");
    let head = text.lines().find(|line| line.starts_with("wall ")).unwrap();
    assert!(head.contains("old") && head.contains("new"), "{text}");
    assert!(text.contains("read_") && text.contains("…"), "{text}");
}

#[test]
fn how_the_error_is_shared_is_said() {
    let told = |adjust| {
        let suite = common::suite_adjusted(adjust);
        let screen = Screen { width: 200, color: false, unicode: true, whole: false };
        terminal::render(&suite, DisplayOptions::default(), &screen)
    };
    assert!(told(Adjust::Holm).contains("95 % confidence for all statements together"));
    assert!(
        told(Adjust::FalseDiscovery)
            .contains("on average at most 5 % of the reported differences are wrong")
    );
    assert!(told(Adjust::None).contains("95 % confidence for each by itself: of 6 equal ones"));
}

#[test]
fn json_holds_every_number_as_its_schema_says() {
    let value = json::Decision::of(&common::suite(), &Meta::default());
    let value = serde_json::to_value(value).unwrap();
    let row = |name: &str| {
        let rows = value["comparisons"].as_array().unwrap().iter();
        rows.clone().find(|row| row["row"] == name).unwrap().clone()
    };
    assert_eq!(
        (&row("sort")["verdict"], &row("sort")["against"]),
        (&"slower".into(), &"old".into())
    );
    assert_eq!(row("copy/n:2")["parameters"]["n"], 2);
    assert_eq!(row("once")["reason"], "too few: 1 and 1; 5 values a side can decide");
    assert_eq!(row("once")["no_interval"], "too_few");
    assert_eq!(value["verdict"], "slower");
    assert_eq!(value["only"][0]["rows"][0], "gone");
    assert!(value["only"].as_array().unwrap().iter().all(|only| only["metric"].is_null()));
    assert_eq!(value["means"][0]["faster"], 2);
    let schema = json::schema::named("bench").unwrap().schema();
    let problems = common::schema::problems(&schema, &value);
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn tables_for_spreadsheets_and_pull_requests() {
    let text = csv::render(&common::suite());
    let lines: Vec<&str> = text.lines().collect();
    let columns = lines[0].split(',').count();
    assert!(lines[0].starts_with("side,row,parameter_n,metric,"));
    // Both metrics of six benchmarks on both sides, and of one that is missing on one side.
    assert_eq!(lines.len(), 1 + 2 * (2 * 6 + 1));
    assert!(lines.iter().filter(|l| !l.contains('"')).all(|l| l.split(',').count() == columns));
    assert_snapshot!(
        "suite_markdown",
        markdown::render(&common::suite(), DisplayOptions::default())
    );
}

#[test]
fn the_page_holds_every_benchmark_and_loads_nothing() {
    let command = ["assay", "compare", "old.json", "new.json"].map(str::to_owned);
    let (analysis, samples) = (common::suite(), common::suite_samples());
    let (figures, data) = (figures(&samples, &analysis), Data::of(&samples, None));
    let page = html::render(Material {
        analysis: &analysis,
        shown: DisplayOptions::default(),
        figures: &figures,
        rows: &[],
        data: &data,
        meta: &Meta::default(),
        command: &command,
        protocol: &[],
        summaries: &[],
        repeats: None,
        tests: &[],
    });
    let page = page.unwrap();
    for text in [
        "copy/n:16",
        "id=\"plot-forest-0\"",
        "assay compare old.json new.json",
        "BENCHMARKS_MISSING",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org").count()
    );
    assert!(!page.contains("https://") && !page.contains("<script"));
}

#[test]
fn the_plot_has_a_line_for_every_ratio() {
    let charts = forest::charts(&common::suite(), Sort::Effect);
    let [only] = charts.as_slice() else { panic!("one side is compared") };
    let text = svg::standalone(only);
    for name in ["copy/n:2", "sort", "once"] {
        assert!(text.contains(name), "{name}");
    }
    assert!(!text.contains("gone"));
}
