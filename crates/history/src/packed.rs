//! The stored form of runs: texts compressed with deflate (RFC 1951) in the zlib format (RFC 1950),
//! whose checksum detects damage.

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use sha2::{Digest, Sha256};
use std::io::{self, BufWriter, IntoInnerError, Read, Write};

/// Number of bytes that are compressed or decompressed at a time.
const PART: usize = 1 << 16;

/// Compresses a text while it is written. Returns its length in bytes and the compressed bytes.
pub(crate) fn pack(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<(u64, Vec<u8>)> {
    let encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut sink = BufWriter::with_capacity(PART, encoder);
    write(&mut sink)?;
    let mut encoder = sink.into_inner().map_err(IntoInnerError::into_error)?;
    encoder.try_finish()?;
    let bytes = encoder.total_in();
    Ok((bytes, encoder.finish()?))
}

/// Decompresses a text, which must be `bytes` long. Decompression stops when the text turns out to
/// be longer.
///
/// # Errors
/// If the data is damaged, or the text has another length.
pub(crate) fn unpack(deflated: &[u8], bytes: u64) -> Result<Vec<u8>, String> {
    // Limits the allocation if `bytes` is damaged: deflate shrinks a text by at most a factor of
    // about a thousand.
    let room = bytes.min(deflated.len() as u64 * 1100 + 64);
    let mut text = Vec::with_capacity(room as usize);
    let read = ZlibDecoder::new(deflated).take(room + 1).read_to_end(&mut text);
    read.map_err(|error| error.to_string())?;
    if text.len() as u64 == bytes {
        Ok(text)
    } else {
        Err(format!("{} bytes where {bytes} were put in", text.len()))
    }
}

/// Returns the digest that identifies a run. It is computed from the length of its text in bytes,
/// the text, and the commit that was measured, if it is known.
///
/// # Errors
/// If the data cannot be decompressed.
pub(crate) fn digest_of_packed(
    deflated: &[u8],
    bytes: u64,
    commit: Option<&str>,
) -> io::Result<String> {
    digest_of(ZlibDecoder::new(deflated), bytes, commit)
}

/// Returns the digest of an uncompressed text that is not a run.
pub(crate) fn digest(text: &str) -> io::Result<String> {
    digest_of(text.as_bytes(), text.len() as u64, None)
}

fn digest_of(mut text: impl Read, bytes: u64, commit: Option<&str>) -> io::Result<String> {
    let mut digest = Sha256::new();
    digest.update(bytes.to_le_bytes());
    let mut part = vec![0; PART];
    loop {
        match text.read(&mut part)? {
            0 => break,
            read => digest.update(&part[..read]),
        }
    }
    digest.update(commit.unwrap_or_default().as_bytes());
    Ok(hexadecimal(&digest.finalize()))
}

/// Computes the fingerprint that identifies a machine by these facts.
pub(crate) fn fingerprint(facts: &[(&str, String)]) -> String {
    let mut digest = Sha256::new();
    for (name, value) in facts {
        digest.update((value.len() as u64).to_le_bytes());
        digest.update(name.as_bytes());
        digest.update(value.as_bytes());
    }
    hexadecimal(&digest.finalize()[..16])
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_comes_out_as_it_went_in(text in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let (bytes, packed) = pack(|sink| sink.write_all(&text)).expect("memory takes it");
            prop_assert_eq!(bytes, text.len() as u64);
            let told = String::from_utf8_lossy(&text);
            let (bytes, own) = pack(|sink| sink.write_all(told.as_bytes())).expect("memory takes it");
            prop_assert_eq!(
                digest_of_packed(&own, bytes, None).ok(),
                digest(&told).ok()
            );
            prop_assert_eq!(unpack(&packed, text.len() as u64), Ok(text));
        }

        #[test]
        fn damage_is_noticed(place in 0_usize..1000, bit in 0_u8..8) {
            let text = b"{\"kind\":\"obs\"}\n".repeat(50);
            let (_, mut packed) = pack(|sink| sink.write_all(&text)).expect("memory takes it");
            let place = place % packed.len();
            packed[place] ^= 1 << bit;
            // Flipping an unused bit leaves the text intact.
            let read = unpack(&packed, text.len() as u64);
            prop_assert!(read.is_err() || read == Ok(text));
        }
    }
}
