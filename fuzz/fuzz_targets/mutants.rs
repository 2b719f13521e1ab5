//! Reads arbitrary bytes as source; the first byte chooses the language. Every mutant is within the
//! text, changes it, and can be displayed.
#![no_main]

use assay_mutate::mutants::{Generator, Language};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, text)) = bytes.split_first() else { return };
    let language = Language::ALL[usize::from(*which) % Language::ALL.len()];
    let mut generator = Generator::new(language).expect("the grammar can be loaded");
    let found = generator.mutants("a", text);
    for mutant in &found.all {
        assert!(mutant.unit < found.units.len() && mutant.range.end <= text.len());
        assert_ne!(mutant.applied(text), text);
        mutant.diff(text);
    }
    assert_eq!(found, generator.mutants("a", text));
});
