//! Profiles on screens of any width, as JSON, as a picture and as a page, for arbitrary function
//! names.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common;

use assay_data::Unit;
use assay_profiles::difference::Difference;
use assay_profiles::shares::Shares;
use assay_profiles::{Builder, Frame, Profile, checks, import};
use assay_report::json::{ProfileDifference, ProfileShares};
use assay_report::profile::differential::{self, Differential};
use assay_report::profile::{
    Measured, Overhead, ProfileReport, difference, differential_page, flame, page, screen,
};
use assay_report::remarks::Remarks;
use assay_report::terminal::Screen;
use proptest::prelude::*;

fn with_report<T>(profile: &Profile, use_it: impl FnOnce(&ProfileReport<'_>) -> T) -> T {
    let shares = Shares::of(profile, 0.95);
    let findings = checks::findings(profile);
    let measured = |estimate, low, high| Measured { estimate, interval: Some((low, high)) };
    let overhead = Overhead {
        blocks: 6,
        whole: vec![("wall".to_owned(), measured(1.02, 0.99, 1.05))],
        start_and_end: Some(measured(0.05, 0.04, 0.06)),
        sample: Some(measured(3e-6, 2e-6, 4e-6)),
        samples: 200.0,
    };
    use_it(&ProfileReport {
        profile,
        shares: &shares,
        findings: &findings,
        overhead: Some(&overhead),
        live: true,
        top: 20,
    })
}

#[test]
fn the_json_is_as_its_schema_says() {
    let old = import::load_bytes(b"main;a 3\nmain;(marking) 1\n", "old").unwrap();
    let new = import::load_bytes(b"main;a 30\nmain;b 10\n", "new").unwrap();
    let value = with_report(&old, |r| common::checked("profile", &ProfileShares::of(r)));
    assert_eq!(value["functions"][0]["flat"]["estimate"], 0.75);
    assert_eq!(value["garbage_collection"]["estimate"], 0.25);
    assert_eq!(value["overhead"]["ratios"][0]["ratio"]["upper"], 1.05);
    assert_eq!(value["findings"][0]["code"], "PROFILE_FEW");
    let found = Difference::of(&old, &new, 0.95).unwrap();
    let findings = checks::findings(&old);
    let difference = ProfileDifference::of(&found, &findings);
    let value = common::checked("profile-difference", &difference);
    assert_eq!(value["sides"][0]["samples"], 4);
    let b = &value["functions"].as_array().unwrap().iter().find(|f| f["name"] == "b").unwrap();
    assert_eq!(b["shares"], serde_json::json!({"of": 0.25, "against": 0.0}));
}

#[test]
fn one_is_not_many_and_a_column_has_one_unit() {
    let shape = Screen { width: 120, color: false, unicode: true, whole: false };
    let one = import::load_bytes(b"main;a 1\n", "one").unwrap();
    let text = with_report(&one, |r| {
        screen::render(&ProfileReport { top: 1, ..*r }, Remarks::All, &shape)
    });
    assert!(text.contains("1 sample") && !text.contains("1 samples"), "{text}");
    assert!(text.contains("and 1 more function with"), "{text}");
    let mut times = import::load_bytes(b"a 12000000\nb 12000\nc 5976\nd 996\n", "times").unwrap();
    times.unit = Unit::Second;
    times.stacks.iter_mut().for_each(|stack| stack.amount *= 1e-6);
    let text = with_report(&times, |r| screen::render(r, Remarks::All, &shape));
    let table = text.split_once("flat%").unwrap().1;
    assert!(table.contains(" s ") && !table.contains(" ms") && !table.contains("µs"), "{text}");
}

#[test]
fn a_large_overhead_is_a_multiple() {
    let measured = |estimate, low, high| Measured { estimate, interval: Some((low, high)) };
    let overhead = |ratio| Overhead {
        blocks: 6,
        whole: vec![("wall".to_owned(), ratio)],
        start_and_end: None,
        sample: None,
        samples: 200.0,
    };
    let profile = import::load_bytes(b"a 5\n", "x").unwrap();
    let told = |ratio| {
        let overhead = overhead(ratio);
        let shape = Screen { width: 200, color: false, unicode: true, whole: false };
        with_report(&profile, |r| {
            let report = ProfileReport { overhead: Some(&overhead), ..*r };
            screen::render(&report, Remarks::All, &shape)
        })
    };
    let large = told(measured(41.4, 30.3, 52.5));
    assert!(large.contains("time 41.40 × [30.30 … 52.50]"), "{large}");
    let small = told(measured(1.02, 0.99, 1.05));
    assert!(small.contains("time +2.0 % [-1.0 … +5.0]"), "{small}");
}

#[test]
fn boxes_of_a_differential_flame_graph_are_coloured_only_where_a_change_is_known() {
    let old = "main;parse 412\nmain;escape 310\nmain;read 96\nmain;gone 82\n";
    let new = "main;parse 526\nmain;escape 153\nmain;read 101\n";
    let [old, new] = [("old", old), ("new", new)]
        .map(|(name, text)| import::load_bytes(text.as_bytes(), name).unwrap());
    let found = Difference::of(&old, &new, 0.95).unwrap();
    let picture = differential::svg(&Differential::of_files([&old, &new], &found));
    let fill_of = |name: &str| {
        let behind = picture.split_once(&format!("<g><title>{name}: ")).unwrap().1;
        let fill = behind.split_once("fill=\"").unwrap().1;
        fill.split('"').next().unwrap().to_owned()
    };
    let (more, less, unknown) = (fill_of("parse"), fill_of("escape"), fill_of("read"));
    assert_eq!(["#e8763a", "#5a97d3", "#c4c8cd"], [more.as_str(), &less, &unknown]);
    // The tooltip has both shares, the difference, its interval and the verdict.
    assert!(
        picture.contains("own share 45.8 % → 67.4 %, +21.7 points [+17.0 … +26.2]: larger"),
        "{picture}"
    );
    assert!(picture.contains(">parse +21.7</text>"), "the change is written, not only coloured");
    assert!(picture.contains("because the second has no such calls: gone (9.1 % of the first)"));
    for words in ["takes more", "takes less", "no change is known", "width: share of new"] {
        assert!(picture.contains(words), "{words}");
    }
}

proptest! {
    #[test]
    fn no_name_breaks_a_screen_a_picture_or_a_page(
        names in proptest::collection::vec("\\PC{0,40}|[<>&\"'\u{1b}\n;]{1,9}", 1..9),
        width in 20usize..140,
        unicode in any::<bool>(),
    ) {
        let mut builder = Builder::default();
        builder.profile.name = names[0].clone();
        for (index, name) in names.iter().enumerate() {
            builder.add_frames([Frame::named("main"), Frame::named(name)], index as u64 + 1);
        }
        let profile = builder.build();
        let shape = Screen { width, color: false, unicode, whole: false };
        let text = with_report(&profile, |report| screen::render(report, Remarks::All, &shape));
        let found = Difference::of(&profile, &profile, 0.95).unwrap();
        let both = text + &difference::render(&found, &[], 0, Remarks::All, &shape);
        prop_assert!(!both.chars().any(|c| c.is_control() && c != '\n'));
        let plain = names.iter().all(|name| name.is_ascii());
        prop_assert!(unicode || !plain || both.is_ascii(), "{}", both);
        let both = Differential::of_files([&profile, &profile], &found);
        for picture in [flame::svg(&profile), differential::svg(&both)] {
            let mut reader = quick_xml::Reader::from_str(&picture);
            loop {
                match reader.read_event() {
                    Ok(quick_xml::events::Event::Eof) => break,
                    Ok(_) => {}
                    Err(error) => return Err(TestCaseError::fail(format!("{error}: {picture}"))),
                }
            }
        }
        let html = with_report(&profile, |report| page::render(report, "assay")).unwrap();
        let of_both = differential_page::render(&both, &[], 0, "assay").unwrap();
        // The data and the script: no name can end either.
        for html in [html, of_both] {
            prop_assert_eq!(html.matches("</script").count(), 2);
        }
    }
}
