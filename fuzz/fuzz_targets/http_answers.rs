//! Reads arbitrary bytes as HTTP/1 responses. Splitting them into pieces of any size gives the same
//! responses, and every byte is used once.
#![no_main]

use assay_load::answers_in;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&piece, bytes)) = bytes.split_first() else { return };
    let whole = answers_in(bytes, usize::MAX);
    assert_eq!(whole, answers_in(bytes, usize::from(piece).max(1)));
    assert_eq!(whole, answers_in(bytes, 1));
});
