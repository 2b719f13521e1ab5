//! Splits arbitrary bytes into blocks, as a source of each language, chosen by the first byte. A
//! block has lines in the file, and is the same if everything moves down a line.
#![no_main]

use assay_mutate::blocks::cut;
use assay_suites::coverage::{ABSENT, Language};
use libfuzzer_sys::fuzz_target;

const ALL: [Language; 7] = [
    Language::Ruby,
    Language::Python,
    Language::JavaScript,
    Language::TypeScript,
    Language::Tsx,
    Language::Go,
    Language::Rust,
];

fuzz_target!(|bytes: &[u8]| {
    let Some((which, text)) = bytes.split_first() else { return };
    let language = ALL[usize::from(*which) % ALL.len()];
    let blocks = cut(language, text);
    let lines = text.iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
    assert!(!blocks.all.is_empty());
    for block in &blocks.all {
        assert!(1 <= block.begin && block.begin <= block.end && block.end <= lines);
        assert!(block.sum > ABSENT);
    }
    assert_eq!(blocks.sums().len(), blocks.all.len(), "two blocks of one checksum");
    for line in [0, 1, lines, lines + 1] {
        assert!(blocks.at(line).all(|block| block.begin <= line && line <= block.end));
    }
    // `#!` has a meaning only in the first line, and Ruby's grammar tells a sign from an operator by
    // whether a blank precedes it, which the first character of a file does not have.
    let moved = cut(language, &[b"\n", text].concat());
    let is_sign = text.first().is_some_and(|first| b"+-*&:[(<?%/".contains(first));
    if !text.starts_with(b"#!") && !is_sign && !blocks.is_broken && !moved.is_broken {
        assert_eq!(blocks.sums(), moved.sums());
    }
});
