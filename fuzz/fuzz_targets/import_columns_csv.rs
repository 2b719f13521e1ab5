//! Imports arbitrary bytes under every kind of option. Every imported value must be finite and
//! belong to a subject.
#![no_main]

use assay_data::import::{ColumnRef, ImportOptions, load_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let column = |bit: u8, number| (choice & bit != 0).then_some(ColumnRef::Number(number));
    let options = ImportOptions {
        by: column(1, 1),
        value: column(2, 2),
        column: (choice & 4 != 0).then_some(1),
        unit: (choice & 8 != 0).then(|| "ns".to_owned()),
        metric: (choice & 16 != 0).then(|| "wall".to_owned()),
        ..ImportOptions::default()
    };
    let Ok(samples) = load_bytes(text.to_vec(), "fuzz", &options) else { return };
    for observation in samples.observations() {
        assert!(observation.subject < samples.subjects.len());
        assert!(observation.values.iter().all(|value| !value.is_infinite()));
    }
});
