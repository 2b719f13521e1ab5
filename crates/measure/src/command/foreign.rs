//! Representation of bytes that are not valid UTF-8. Names of programs and files may contain them,
//! but commands are texts. Each such byte is represented by a private-use character, which is
//! converted back in the words passed to a program.

use std::ffi::{OsStr, OsString};

/// The character that represents byte 0. The characters for 0x80 to 0xFF are the last ones of the
/// last plane.
const FIRST: u32 = 0x10_FF00;

/// Converts a word of a command line to a text that [`word_of`] converts back.
#[cfg(unix)]
pub fn text_of(word: &OsStr) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut text = String::with_capacity(word.len());
    for chunk in word.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match byte_of(c) {
                // Characters that would be taken for a byte are represented by their own bytes.
                Some(_) => c.encode_utf8(&mut [0; 4]).bytes().for_each(|b| text.push(char_of(b))),
                None => text.push(c),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| char_of(*byte)));
    }
    text
}

/// Converts a word to a text, replacing invalid characters: on systems other than Unix, words are
/// Unicode.
#[cfg(not(unix))]
pub fn text_of(word: &OsStr) -> String {
    word.to_string_lossy().into_owned()
}

/// Converts a text back to a word.
#[cfg(unix)]
pub fn word_of(text: &str) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    if !text.chars().any(|c| byte_of(c).is_some()) {
        return text.into();
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    OsString::from_vec(bytes)
}

/// Returns the text as a word.
#[cfg(not(unix))]
pub fn word_of(text: &str) -> OsString {
    text.into()
}

#[cfg(unix)]
fn byte_of(c: char) -> Option<u8> {
    let byte = u32::from(c).checked_sub(FIRST)?;
    u8::try_from(byte).ok().filter(|byte| *byte >= 0x80)
}

#[cfg(unix)]
fn char_of(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn any_word_comes_through_a_text() {
        let words: [&[u8]; 5] =
            [b"plain", "\u{e4}\u{10ffe9}".as_bytes(), b"\xff\xfe./a\xe9", b"a\xc3", b""];
        for word in words {
            let word = OsString::from_vec(word.to_vec());
            assert_eq!(word_of(&text_of(&word)), word);
        }
        assert_eq!(text_of(OsStr::new("\u{e4} b")), "\u{e4} b");
    }
}
