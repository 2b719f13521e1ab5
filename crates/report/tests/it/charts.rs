//! Plots and pages of synthetic samples: all are well-formed and of bounded size, and treat names
//! as plain text.
#![allow(clippy::unwrap_used, clippy::panic, reason = "in a test a failed unwrap is a failed test")]

use crate::common;

use assay_analysis::figures::{Figures, figures};
use assay_analysis::protocol::{ProtocolOptions, run};
use assay_analysis::{Analysis, Options, analyse};
use assay_data::{Metric, Samples};
use assay_report::benchmarks::DisplayOptions;
use assay_report::charts::{Chart, charts, file_names, png, scene::Ink, scene::Shape, svg};
use assay_report::html::{Data, Material, render};
use assay_report::json::Meta;
use common::Recipe;
use insta::assert_snapshot;

fn recordings(names: &[&str], series: &[Vec<f64>]) -> Samples {
    let mut samples = Samples::new(vec![Metric::wall()]);
    for (name, values) in names.iter().zip(series) {
        let subject = samples.add_subject(name);
        values.iter().for_each(|&v| samples.push_value(subject, v));
    }
    samples
}

fn noisy(n: u32, factor: f64) -> Vec<f64> {
    (0..n).map(|i| factor * 0.01 * (1.0 + 0.2 * common::noise(3, i))).collect()
}

fn analysed(samples: &Samples) -> (Analysis, Figures) {
    let analysis = analyse(samples, &Options::default()).unwrap();
    let figures = figures(samples, &analysis);
    (analysis, figures)
}

fn meta() -> Meta {
    Meta {
        verb: "run".to_owned(),
        tool: "assay 0.1.0".to_owned(),
        argv: vec!["assay".into(), "run".into()],
        file: None,
    }
}

fn page(samples: &Samples) -> String {
    let (analysis, figures) = analysed(samples);
    let (data, command) = (Data::of(samples, None), ["assay".to_owned(), "compare".to_owned()]);
    let meta = meta();
    let material = Material {
        analysis: &analysis,
        shown: DisplayOptions::default(),
        figures: &figures,
        rows: &[],
        data: &data,
        meta: &meta,
        command: &command,
        protocol: &[],
        summaries: &[],
        repeats: None,
        tests: &[],
    };
    render(material).unwrap()
}

/// Returns samples of every kind that plots must handle.
fn kinds() -> Vec<(&'static str, Samples)> {
    let two = |a: Vec<f64>, b: Vec<f64>| recordings(&["old", "new"], &[a, b]);
    let mut stalled = noisy(100, 1.0);
    stalled[50] = 1e6;
    vec![
        ("one value", recordings(&["only"], &[vec![1.0]])),
        ("one value each", two(vec![1.0], vec![2.0])),
        ("equal values", two(vec![3.0; 40], vec![3.0; 40])),
        ("zeros", two(vec![0.0; 12], vec![0.0; 12])),
        ("negative values", two(vec![-1.0, -2.0, -3.5, 4.0, 0.0, 1.0], noisy(8, -1.0))),
        ("five", two(noisy(5, 1.0), noisy(5, 1.3))),
        ("a stall", two(stalled, noisy(100, 1.1))),
        ("far apart", two(noisy(60, 1.0), noisy(60, 5000.0))),
        (
            "an offset",
            two(
                noisy(60, 1.0).iter().map(|v| v + 1e12).collect(),
                noisy(60, 1.0).iter().map(|v| v + 1e12).collect(),
            ),
        ),
        ("huge and tiny", two(vec![1e-300, 1e300, 1e10, 1.0, 2.0, 3.0], vec![1e-300; 9])),
        ("many", two(noisy(5000, 1.0), noisy(4000, 1.02))),
        ("blocks", Recipe::of(&["old", "new"], &[1.0, 0.97], 0.02, 42).samples()),
        ("three in blocks", Recipe::of(&["a", "b", "c"], &[1.0, 0.9, 1.3], 0.05, 30).samples()),
        ("two blocks", Recipe::of(&["old", "new"], &[1.0, 0.97], 0.02, 2).samples()),
        ("alone", Recipe::of(&["build"], &[1.0], 0.05, 57).samples()),
        ("a scan", common::scan_of_two_samples()),
        ("a load test", common::load_samples(6)),
        ("a load test of one block", common::load_samples(1)),
        ("a search", common::search_samples(6)),
        (
            "eleven",
            recordings(
                &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"],
                &(0..11).map(|k| noisy(40, 1.0 + f64::from(k) / 10.0)).collect::<Vec<_>>(),
            ),
        ),
    ]
}

fn parsed(xml: &str, what: &str) {
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Eof) => break,
            Ok(_) => {}
            Err(error) => panic!("{what}: {error} at {}", reader.buffer_position()),
        }
    }
}

fn of(samples: &Samples) -> Vec<Chart> {
    let (analysis, figures) = analysed(samples);
    charts(&analysis, &figures)
}

#[test]
fn every_plot_of_every_kind_of_samples_is_well_formed_and_has_its_words() {
    for (kind, samples) in kinds() {
        let charts = of(&samples);
        assert!(charts.len() >= 3, "{kind}");
        for chart in &charts {
            let what = format!("{kind}: {}", chart.name);
            assert!(!chart.title.is_empty() && chart.caption.len() > 40, "{what}");
            for text in [svg::standalone(chart), svg::inline(chart, chart.name)] {
                parsed(&text, &what);
                assert!(!text.contains("NaN") && !text.contains("inf\""), "{what}: {text}");
                assert!(
                    text.contains("<title")
                        && text.contains("<desc")
                        && text.contains("role=\"img\"")
                );
                assert!(text.len() < 120_000, "{what}: {} bytes", text.len());
            }
            let picture = png::render(&chart.scene, 1.0).unwrap();
            assert!(picture.starts_with(b"\x89PNG") && picture.len() < 200_000, "{what}");
        }
    }
}

#[test]
fn nothing_is_written_beyond_the_sheet_and_no_words_lie_on_others() {
    for (kind, samples) in kinds() {
        for chart in of(&samples) {
            let mut boxes: Vec<(f64, f64, f64, String)> = Vec::new();
            for shape in &chart.scene.shapes {
                let Shape::Words { place, text, anchor, size, .. } = shape else { continue };
                let wide = text.chars().count() as f64 * size * 0.5;
                let from = match anchor {
                    assay_report::charts::scene::Anchor::Start => place.0,
                    assay_report::charts::scene::Anchor::Middle => place.0 - wide / 2.0,
                    assay_report::charts::scene::Anchor::End => place.0 - wide,
                };
                let what = format!("{kind}, {}: `{text}`", chart.name);
                assert!(
                    from > -4.0 && from + wide < chart.scene.width + 4.0,
                    "{what} at {from} + {wide}"
                );
                assert!(place.1 > 0.0 && place.1 <= chart.scene.height, "{what}");
                for (x0, x1, y, other) in &boxes {
                    let apart =
                        from >= *x1 || from + wide <= *x0 || (place.1 - y).abs() >= size * 0.75;
                    assert!(apart, "{what} lies on `{other}`");
                }
                boxes.push((from, from + wide, place.1, text.clone()));
            }
        }
    }
}

#[test]
fn samples_in_blocks_are_drawn_block_by_block_and_recordings_are_not() {
    let names = |samples: &Samples| of(samples).iter().map(|c| c.name).collect::<Vec<_>>();
    let blocks = names(&Recipe::of(&["old", "new"], &[1.0, 0.97], 0.02, 42).samples());
    assert_eq!(
        blocks,
        [
            "raw",
            "density",
            "ecdf",
            "box",
            "correlogram",
            "differences",
            "blocks",
            "quantiles",
            "bootstrap",
            "bootstrap-normal",
            "power"
        ]
    );
    let recorded = names(&recordings(&["old", "new"], &[noisy(500, 1.0), noisy(500, 1.1)]));
    assert!(!recorded.contains(&"blocks") && recorded.contains(&"power"));
}

/// Returns the texts of a picture and the number of drawn elements, so that changes are noticed.
fn outline(chart: &Chart) -> String {
    let shape = |shape: &Shape| match shape {
        Shape::Words { text, .. } => format!("`{text}`"),
        Shape::Line { points, ink, .. } => format!("line of {} in {ink:?}", points.len()),
        Shape::Area { points, ink, .. } => format!("area of {} in {ink:?}", points.len()),
        Shape::Sticks { ends, ink, .. } => format!("{} bars in {ink:?}", ends.len()),
        Shape::Dots { places, ink, .. } => format!("{} dots in {ink:?}", places.len()),
    };
    let mut lines: Vec<(String, usize)> = Vec::new();
    let is_grid = |shape: &&Shape| matches!(shape, Shape::Line { ink: Ink::Grid, .. });
    for told in chart.scene.shapes.iter().filter(|shape| !is_grid(shape)).map(shape) {
        match lines.iter_mut().find(|(known, _)| *known == told) {
            Some((_, often)) => *often += 1,
            None => lines.push((told, 1)),
        }
    }
    let times = |often| if often > 1 { format!(" × {often}") } else { String::new() };
    let lines: Vec<String> =
        lines.into_iter().map(|(told, often)| format!("  {told}{}\n", times(often))).collect();
    format!("{}: {}\n{}\n{}\n", chart.name, chart.title, chart.caption, lines.concat())
}

#[test]
fn a_scan_a_load_test_and_a_search_have_pictures_of_their_own_first() {
    let own = |samples: &Samples| -> Vec<Chart> {
        of(samples).into_iter().take_while(|chart| chart.name != "raw").collect()
    };
    let scan = own(&common::scan_of_two_samples());
    let load = own(&common::load_samples(12));
    let search = own(&common::search_samples(12));
    let outlines: Vec<String> = scan.iter().chain(&load).chain(&search).map(outline).collect();
    assert_snapshot!("own_pictures", outlines.concat());
    let names: Vec<String> = file_names(&load);
    assert_eq!(
        names,
        [
            "over-parameter",
            "over-parameter-2",
            "over-parameter-3",
            "latency-quantiles",
            "latency-over-time",
            "failures-over-time"
        ]
    );
}

#[test]
fn no_metric_is_drawn_twice_over_the_parameter() {
    let mut closed = common::load_samples(6);
    closed.plan.as_mut().unwrap().primary = "rate_achieved".to_owned();
    let titles: Vec<String> = of(&closed).into_iter().take(2).map(|chart| chart.title).collect();
    assert_eq!(
        titles,
        ["Achieved rate over the requested rate", "P99 latency over the requested rate"]
    );
    assert_eq!(of(&closed)[2].name, "latency-quantiles");
}

#[test]
fn a_load_tests_page_has_its_tables() {
    let html = page(&common::load_samples(12));
    let (_, result) = html.split_once("<h2>Result</h2>").unwrap();
    let (tables, _) = result.split_once("<div class=\"plots\">").unwrap();
    let tables = &tables[tables.find("<h3>Requests").unwrap()..];
    assert_snapshot!("load_tables", tables.trim());
}

#[test]
fn a_name_is_nothing_but_a_name() {
    let evil = "<script>alert(1)</script>\" onload=\"x()' && {{7*7}} \u{202e}\u{1}";
    let mut samples = recordings(
        &[evil, "</pre></style><img src=x onerror=y>"],
        &[noisy(50, 1.0), noisy(50, 1.2)],
    );
    samples.environment.set("cpu_model", "<b onclick=1>");
    samples.argv = vec!["assay".into(), "run".into(), evil.into()];
    let html = page(&samples);
    // Our own script is the only one, and no text became an element.
    assert_eq!(html.matches("<script").count(), 1);
    for trace in ["<img", "<b onclick", "onload=\"x", "\u{202e}", "\u{1}"] {
        assert!(!html.contains(trace), "{trace}");
    }
    assert!(html.contains("{{7*7}}"));
    for chart in of(&samples) {
        parsed(&svg::standalone(&chart), chart.name);
    }
}

#[test]
fn a_page_loads_nothing_from_anywhere() {
    for (kind, samples) in kinds() {
        let html = page(&samples);
        for wanted in
            ["src=", "@import", "url(", "<link rel=\"stylesheet", "fetch(", "XMLHttpRequest"]
        {
            assert!(!html.contains(wanted), "{kind}: {wanted}");
        }
        let addresses =
            html.match_indices("http").map(|(at, _)| &html[at..html.len().min(at + 40)]);
        for address in addresses {
            assert!(address.starts_with("http://www.w3.org/2000/svg"), "{kind}: {address}");
        }
    }
}

#[test]
fn ids_on_a_page_are_its_own() {
    let html = page(&Recipe::of(&["a", "b", "c"], &[1.0, 0.9, 1.3], 0.05, 30).samples());
    let mut ids: Vec<&str> =
        html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[test]
fn a_page_of_seventy_thousand_values_holds_them_all_in_two_megabytes() {
    let (old, new) = (noisy(35_000, 1.0), noisy(35_000, 0.9));
    let samples = recordings(&["old", "new"], &[old.clone(), new]);
    let html = page(&samples);
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(html.contains(&format!("\n{:?},", old[34_999])));
    // Beyond a hundred thousand values the page gives their location instead.
    let more = recordings(&["old", "new"], &[noisy(70_000, 1.0), noisy(70_000, 0.9)]);
    let html = page(&more);
    assert!(html.len() < 400_000, "{} bytes", html.len());
    assert!(html.contains("140000 values are too many for a page"));
}

#[test]
fn a_protocol_stands_above_the_plots() {
    let samples = Recipe::of(&["old", "new"], &[1.0, 0.97], 0.02, 42).samples();
    let (analysis, figures) = analysed(&samples);
    let chains = run(&samples, &analysis, &ProtocolOptions::default());
    let (data, meta, command) = (Data::of(&samples, None), meta(), Vec::new());
    let (analysis, figures, data, meta) = (&analysis, &figures, &data, &meta);
    let html = render(Material {
        analysis,
        shown: DisplayOptions::default(),
        figures,
        rows: &[],
        data,
        meta,
        command: &command,
        protocol: &chains,
        summaries: &[],
        repeats: None,
        tests: &[],
    });
    let html = html.unwrap();
    let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(at("1 validity") < at("4 effect") && at("4 effect") < at("<svg"));
}

#[test]
fn sources_are_those_of_what_was_used() {
    let blocks = page(&Recipe::of(&["old", "new"], &[1.0, 0.97], 0.02, 42).samples());
    assert!(blocks.contains("Wilcoxon, F. (1945)") && !blocks.contains("Mann, H. B."));
    let recorded = page(&recordings(&["old", "new"], &[noisy(50, 1.0), noisy(50, 1.1)]));
    assert!(recorded.contains("Mann, H. B.") && !recorded.contains("Wilcoxon, F."));
    let alone = page(&recordings(&["only"], &[noisy(50, 1.0)]));
    assert!(!alone.contains("Hodges, J. L."));
}
