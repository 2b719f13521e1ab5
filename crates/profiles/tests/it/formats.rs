//! Imports files of the real tools and reads back exported ones. `files/README.md` describes how
//! the files were created.

#![allow(clippy::unwrap_used, reason = "tests")]

use assay_data::Unit;
use assay_profiles::export::Format;
use assay_profiles::shares::Shares;
use assay_profiles::{Builder, Frame, Profile, import};
use proptest::prelude::*;
use std::path::Path;

fn read(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)).unwrap()
}

fn load(name: &str) -> Profile {
    import::load_bytes(&read(name), name).unwrap()
}

/// Returns the number of samples, and the first function with its samples.
fn first(name: &str) -> (u64, String, u64, u64) {
    let profile = load(name);
    let shares = Shares::of(&profile, 0.95);
    let first = &shares.functions[0].function;
    (profile.samples(), first.name.clone(), first.flat_samples, first.cum_samples)
}

const FILES: [&str; 8] = [
    "stackprof.json",
    "py-spy.speedscope.json",
    "py-spy.collapsed",
    "rbspy.speedscope.json",
    "rbspy.collapsed",
    "rbspy.pb.gz",
    "perf.script",
    "go.pb.gz",
];

#[test]
fn files_of_the_real_tools_hold_what_their_tools_say() {
    // stackprof's own text output: 46 (39.0 %) Object#numbers; samples 118, GC 25.
    assert_eq!(first("stackprof.json"), (118, "Object#numbers".to_owned(), 46, 46));
    assert_eq!(load("stackprof.json").collections(), 25);
    // py-spy printed "Samples: 56", of which one stack is empty, and "Samples: 50".
    assert_eq!(first("py-spy.speedscope.json").0, 55);
    assert_eq!(first("py-spy.collapsed"), (50, "numbers".to_owned(), 30, 30));
    // go tool pprof -top: 180ms 45.00% main.numbers, 250ms 62.50% cumulative.
    assert_eq!(first("go.pb.gz"), (40, "main.numbers".to_owned(), 18, 25));
    assert_eq!(first("perf.script"), (33, "squares".to_owned(), 32, 33));
    assert_eq!(first("rbspy.pb.gz").0, 43);
}

#[test]
fn the_rate_that_was_asked_for_and_the_one_that_came_are_known() {
    let ruby = load("stackprof.json");
    assert_eq!(ruby.asked_hz, Some(1000.0));
    assert!((ruby.delivered_hz.unwrap() - 1000.0).abs() < 10.0);
    let native = load("perf.script");
    assert_eq!(native.asked_hz, Some(199.0));
    assert!((native.delivered_hz.unwrap() - 199.0).abs() < 1.0);
    assert_eq!(native.tool.as_deref(), Some("perf 6.1.192"));
    assert!((load("go.pb.gz").asked_hz.unwrap() - 100.0).abs() < 1e-9);
}

#[test]
fn what_was_written_is_read_back_with_the_same_shares() {
    for name in FILES {
        let profile = load(name);
        for format in [Format::Pprof, Format::Speedscope, Format::Firefox, Format::Collapsed] {
            let written = format.write(&profile).unwrap();
            let again = import::load_bytes(&written, name).unwrap();
            assert_same_shares(&profile, &again, &format!("{name} as {format:?}"));
        }
    }
}

/// Checks that two profiles have the same functions with the same samples, and the same amounts if
/// both have the same unit.
fn assert_same_shares(one: &Profile, other: &Profile, what: &str) {
    let told = |profile: &Profile| {
        let mut all: Vec<(String, u64, u64)> = Shares::of(profile, 0.95)
            .functions
            .into_iter()
            .map(|f| (f.function.name, f.function.flat_samples, f.function.cum_samples))
            .collect();
        all.sort();
        all
    };
    // Collapsed stacks contain a file only along with a line, so functions of the same name may be
    // merged.
    if !what.ends_with("Collapsed") {
        assert_eq!(told(one), told(other), "{what}");
    }
    assert_eq!(one.samples(), other.samples(), "{what}");
    assert_eq!(one.collections(), other.collections(), "{what}");
    if one.unit == other.unit {
        let (a, b) = (one.amount(), other.amount());
        // The Firefox Profiler counts samples of one interval, so samples of different weights
        // match only approximately.
        let near = if what.ends_with("Firefox") { 0.05 } else { 0.01 };
        assert!((a - b).abs() <= near * a, "{what}: {a} and {b}");
    }
}

#[test]
fn a_file_of_nobody_is_answered_with_what_is_known() {
    let told = |bytes: &[u8]| import::load_bytes(bytes, "x").unwrap_err().to_string();
    assert!(told(b"").contains("is empty"));
    assert!(told(b"def f\nend\n").contains("begins with `def f`"));
    assert!(told(b"{\"a\": 1}").contains("JSON with the fields a"));
    assert!(told(b"{\"a\": ").contains("line 1"));
    assert!(told(b"\xfd\xfe").contains("neither text nor"));
    assert!(told(b"\xff\xfe").contains("UTF-16"));
    assert!(told(&[0x1f, 0x8b, 8, 0]).contains("damaged"));
    assert!(told(b"a;b 3\nwhat").contains("line 2"));
}

#[test]
fn stackprofs_own_dump_is_known_and_not_loaded() {
    let error = import::load_bytes(b"\x04\x08{\x10:\x0cversionf\x081.2", "d.dump").unwrap_err();
    assert!(error.to_string().contains("stackprof --json DUMP"), "{error}");
}

#[test]
fn a_dump_without_stacks_says_how_to_get_them() {
    let text = String::from_utf8(read("stackprof.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value.as_object_mut().unwrap().remove("raw");
    let told = import::load_bytes(value.to_string().as_bytes(), "x").unwrap_err().to_string();
    assert!(told.contains("raw: true"), "{told}");
}

#[test]
fn a_few_bytes_that_unpack_to_many_are_refused() {
    use std::io::Write;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![b' '; 1 << 20];
    (0..520).for_each(|_| packed.write_all(&zeros).unwrap());
    let told = import::load_bytes(&packed.finish().unwrap(), "x").unwrap_err().to_string();
    assert!(told.contains("512 MiB"), "{told}");
}

/// Generates profiles as importers could create them.
fn any_profile() -> impl Strategy<Value = Profile> {
    let name = "[a-zA-Z_:#<> .]{0,3}[a-z]";
    let frame = (name, proptest::option::of("[a-z/]{1,5}[.]rb"), proptest::option::of(1u32..99))
        .prop_map(|(name, file, line)| Frame { name, line: line.filter(|_| file.is_some()), file });
    let stack = (proptest::collection::vec(frame, 1..6), 1u64..40);
    (proptest::collection::vec(stack, 1..12), proptest::bool::ANY).prop_map(|(stacks, timed)| {
        let mut builder = Builder::default();
        if timed {
            builder.profile.unit = Unit::Second;
            builder.profile.measure = "cpu".to_owned();
            builder.profile.asked_hz = Some(100.0);
        }
        for (frames, samples) in stacks {
            let frames = frames.into_iter().map(|frame| builder.frame(frame)).collect();
            let amount = samples as f64 * if timed { 0.01 } else { 1.0 };
            builder.add(frames, Vec::new(), samples, amount);
        }
        builder.build()
    })
}

proptest! {
    #[test]
    fn any_profile_is_read_back_with_the_same_shares(profile in any_profile()) {
        for format in [Format::Pprof, Format::Speedscope, Format::Firefox, Format::Collapsed] {
            let again = import::load_bytes(&format.write(&profile).unwrap(), "x").unwrap();
            // The Firefox Profiler supports only times.
            if format != Format::Firefox || profile.unit == Unit::Second {
                assert_same_shares(&profile, &again, &format!("{format:?}"));
            }
        }
    }

    #[test]
    fn shares_add_up_and_intervals_hold_them(profile in any_profile()) {
        let shares = Shares::of(&profile, 0.95);
        let sum: f64 = shares.functions.iter().map(|f| f.flat).sum();
        prop_assert!((sum - 1.0).abs() < 1e-9);
        for f in &shares.functions {
            prop_assert!(f.flat <= f.cum + 1e-12 && f.cum <= 1.0);
            let interval = f.flat_interval.unwrap();
            prop_assert!(interval.lower <= f.flat + 1e-9 && f.flat <= interval.upper + 1e-9);
        }
    }

    #[test]
    fn no_bytes_make_a_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        drop(import::load_bytes(&bytes, "x"));
    }

    #[test]
    fn no_damage_to_a_real_file_makes_a_parser_panic(
        file in 0..FILES.len(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = read(FILES[file]);
        if FILES[file].ends_with(".gz") {
            use std::io::Read;
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked).unwrap();
            bytes = unpacked;
        }
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        drop(import::load_bytes(&bytes, "x"));
        bytes.truncate(cut.index(bytes.len()));
        // Everything that can still be read can be evaluated and written.
        if let Ok(profile) = import::load_bytes(&bytes, "x") {
            let _shares = Shares::of(&profile, 0.95);
            for format in [Format::Pprof, Format::Text, Format::Collapsed] {
                format.write(&profile).unwrap();
            }
        }
    }
}
