//! Imports arbitrary bytes under every kind of option, which the first two bytes choose.
#![no_main]

use assay_data::Better;
use assay_data::import::{ColumnRef, ImportOptions, load_bytes};
use assay_fuzz::{NAME, check};
use libfuzzer_sys::fuzz_target;

const COLUMNS: [&str; 4] = ["1", "2", "name", "value"];
const UNITS: [&str; 4] = ["ns", "KiB", "/s", "parrots"];
const PATTERNS: [&str; 4] = [
    r"(?<value>[-+0-9.eE]+)",
    r"(?<name>\w+)[ =:]+(?<value>\S+?)(?<unit>[a-zA-Z]*)$",
    r"(?<value>\d+) (?<n>\w*) (?<name>.*)",
    r"(?<value>.*)",
];
const FILTERS: [&str; 4] = [".metric:wall OR .unit:1", "-a", "n:(1 OR 8)", "/^B/ .fullname:*e*"];

fuzz_target!(|bytes: &[u8]| {
    let [which, choice, text @ ..] = bytes else { return };
    let pick = |bit: u8, of: [&'static str; 4]| {
        let place = usize::from(choice >> (bit % 4 * 2) & 3);
        (which & (1 << bit) != 0).then(|| of[place].to_owned())
    };
    let column = |name: String| -> ColumnRef { name.parse().unwrap_or_else(|never| match never {}) };
    let options = ImportOptions {
        by: pick(0, COLUMNS).map(column),
        value: pick(1, COLUMNS).map(column),
        column: (which & 64 != 0).then_some(usize::from(choice & 7)),
        unit: pick(2, UNITS),
        metric: (which & 128 != 0).then(|| "wall".to_owned()),
        better: (choice & 64 != 0).then_some(Better::Higher),
        skip: if which & 32 != 0 { usize::from(choice >> 2) } else { 0 },
        pattern: pick(3, PATTERNS),
        filter: pick(4, FILTERS).map(|text| text.parse().expect("a filter of this list")),
    };
    check(load_bytes(text.to_vec(), NAME, &options), text);
});
