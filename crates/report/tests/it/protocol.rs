//! The protocol's screen fits every terminal, and its JSON conforms to the schema.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common;

use assay_analysis::protocol::{Protocol, ProtocolOptions, run};
use assay_analysis::{Analysis, Options, analyse};
use assay_data::{Metric, Samples, Threshold, Unit};
use assay_report::json::{Decision, Meta, Rigorous, schema};
use assay_report::protocol::render;
use assay_report::terminal::Screen;
use common::Recipe;
use unicode_width::UnicodeWidthStr;

fn protocol(samples: &Samples, threshold: Threshold) -> (Analysis, Vec<Protocol>) {
    let options = Options { threshold: Some(threshold), ..Options::default() };
    let analysis = analyse(samples, &options).unwrap();
    let asked = ProtocolOptions { resamples: 100, ..ProtocolOptions::default() };
    let chains = run(samples, &analysis, &asked);
    (analysis, chains)
}

/// Returns chains with every outcome.
fn all() -> Vec<(Analysis, Vec<Protocol>)> {
    let share = Threshold::Relative;
    let blocks = Recipe::of(&["sort-old", "sort-new"], &[1.0, 0.9], 0.02, 42).samples();
    let three =
        Recipe::of(&["a", "b with a long name and spaces", "c"], &[1.0, 0.9, 1.0], 0.02, 42);
    let apart = |shift: f64| {
        let values = move |s: usize, i: u32| 0.01 + s as f64 * shift + 1e-4 * common::noise(s, i);
        common::recordings(values, [200, 180], Metric::lower("value", Unit::Second))
    };
    let dependent = common::recordings(
        |s, i| 1.0 + f64::from(i) * 0.01 + s as f64,
        [60, 60],
        Metric::lower("value", Unit::Second),
    );
    vec![
        protocol(&blocks, share(0.02)),
        protocol(&blocks, share(1e-5)),
        protocol(&three.samples(), share(0.02)),
        protocol(&apart(-0.001), share(0.01)),
        protocol(&apart(0.0), Threshold::Absolute { value: 1e-4, unit: Unit::Second }),
        protocol(&dependent, share(0.01)),
        protocol(&Recipe::of(&["alone"], &[1.0], 0.02, 42).samples(), share(0.01)),
    ]
}

#[test]
fn every_screen_names_all_steps_and_fits() {
    for (analysis, chains) in all() {
        for width in [20, 50, 80, 120] {
            let screen = Screen { width, color: false, unicode: true, whole: false };
            let text = render(&analysis, &chains, &screen);
            assert!(text.lines().all(|line| line.width() <= width), "{width}: {text}");
            for step in ["1 validity", "2 power", "3 test", "4 effect"] {
                assert_eq!(text.matches(step).count(), chains.len(), "{text}");
            }
            assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
        }
        let ascii = Screen { width: 80, color: false, unicode: false, whole: false };
        assert!(render(&analysis, &chains, &ascii).is_ascii());
    }
}

#[test]
fn colour_is_added_to_the_same_text() {
    for (analysis, chains) in all() {
        let plain = Screen { width: 80, color: false, unicode: true, whole: false };
        let coloured = render(&analysis, &chains, &Screen { color: true, ..plain });
        assert!(coloured.contains('\u{1b}'));
        assert_eq!(without_escapes(&coloured), render(&analysis, &chains, &plain));
    }
}

fn without_escapes(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    first
        + &pieces
            .map(|piece| piece.split_once('m').map_or("", |(_, rest)| rest))
            .collect::<String>()
}

#[test]
fn its_json_is_as_the_schema_says() {
    let schema = schema::named("compare").unwrap().schema();
    for (analysis, chains) in all() {
        let rigorous = Some(Rigorous::new(&analysis, &chains));
        let found = Decision::of(&analysis, &Meta::default());
        let report = serde_json::to_value(Decision { rigorous, ..found }).unwrap();
        assert_eq!(report["rigorous"]["chains"].as_array().unwrap().len(), chains.len());
        let problems = common::schema::problems(&schema, &report);
        assert!(problems.is_empty(), "{problems:#?}");
    }
}
