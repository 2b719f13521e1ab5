//! Secrets: generated from the system's randomness, compared in constant time, and stored only as
//! hashes.

use crate::builds::error::FarmError;
use assay_data::system_error::reason;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use subtle::ConstantTimeEq;

/// Number of bytes of a secret.
const BYTES: usize = 32;

/// Returns a new secret in hexadecimal digits.
pub(crate) fn fresh() -> Result<String, FarmError> {
    let mut bytes = [0; BYTES];
    let mut filled = 0;
    while filled < BYTES {
        let flags = rustix::rand::GetRandomFlags::empty();
        match rustix::rand::getrandom(&mut bytes[filled..], flags) {
            Ok(more) => filled += more,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                let told =
                    format!("the system provides no random numbers: {}", reason(&error.into()));
                return Err(FarmError::Conflict(told));
            }
        }
    }
    let mut digits = String::with_capacity(2 * BYTES);
    for byte in bytes {
        let _never_fails = write!(digits, "{byte:02x}");
    }
    Ok(digits)
}

/// Returns the hash that is stored for a secret. A secret has as much entropy as the hash is long,
/// so a slow hash is not needed.
pub(crate) fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret).to_vec()
}

/// Compares two byte strings in constant time.
pub(crate) fn equal(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    #[test]
    fn secrets_differ_and_are_found_by_their_hash() {
        let (one, other) = (fresh().unwrap(), fresh().unwrap());
        assert_eq!(one.len(), 64);
        assert_ne!(one, other);
        assert!(equal(&hash(&one), &hash(&one.clone())));
        assert!(!equal(&hash(&one), &hash(&other)));
        assert!(!equal(b"a", b"ab"));
    }
}
