//! Long texts that are rarely shown, which `build.rs` compresses into the program. They total a
//! quarter of a megabyte, or a fifth of that when compressed.

use flate2::read::DeflateDecoder;
use std::io::Read;
use std::sync::LazyLock;

/// The JSON Schemas of all documents.
pub(crate) static SCHEMAS: LazyLock<String> =
    LazyLock::new(|| text(include_bytes!(concat!(env!("OUT_DIR"), "/schemas.deflate"))));

fn text(packed: &[u8]) -> String {
    let mut text = String::new();
    // The text was compressed at build time, so it is always valid.
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
