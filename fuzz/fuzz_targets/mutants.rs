//! Reads arbitrary bytes as source; the first byte chooses the language. Every mutant is within the
//! text, changes it, and can be displayed.
#![no_main]

use assay_mutate::mutants::{Generator, Language};
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;

// Building a generator takes longer than most inputs.
thread_local! {
    static GENERATORS: RefCell<Vec<Generator>> = RefCell::new(
        Language::ALL.into_iter().map(|language| Generator::new(language).expect("the grammar can be loaded")).collect(),
    );
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, text)) = bytes.split_first() else { return };
    GENERATORS.with_borrow_mut(|generators| {
        let which = usize::from(*which) % generators.len();
        check(&mut generators[which], text);
    });
});

fn check(generator: &mut Generator, text: &[u8]) {
    let found = generator.mutants("a", text);
    for mutant in &found.all {
        assert!(mutant.unit < found.units.len() && mutant.range.end <= text.len());
        assert_ne!(mutant.applied(text), text);
        mutant.diff(text);
    }
    assert_eq!(found, generator.mutants("a", text));
}
