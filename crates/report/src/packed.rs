//! Long texts that are rarely shown, compressed into the program by `build.rs`: a quarter of a
//! megabyte in total, or a fifth of that when compressed.

use flate2::read::DeflateDecoder;
use std::io::Read;
use std::sync::LazyLock;

/// The JSON Schemas of all documents.
pub(crate) static SCHEMAS: LazyLock<String> =
    LazyLock::new(|| text(include_bytes!(concat!(env!("OUT_DIR"), "/schemas.deflate"))));

fn text(packed: &[u8]) -> String {
    let mut text = String::new();
    // Text compressed at build time is always valid.
    let _whole = DeflateDecoder::new(packed).read_to_string(&mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_what_stands_there() {
        assert!(*SCHEMAS == include_str!("json/schemas.json"));
    }
}
