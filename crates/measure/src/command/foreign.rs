//! Bytes that are no UTF-8, within a text: programs and files may have such names, and commands are texts. Each stands as a character for private use, and
//! is a byte again in the words that a program is given.

use std::ffi::{OsStr, OsString};

/// The character that stands for the byte 0; those of 0x80 to 0xFF are the last of the last plane.
const FIRST: u32 = 0x10_FF00;

/// A word of a command line as a text, from which [`word_of`] makes the same word.
#[cfg(unix)]
pub fn text_of(word: &OsStr) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut text = String::with_capacity(word.len());
    for chunk in word.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match byte_of(c) {
                // What would be taken for a byte stands as its own bytes.
                Some(_) => c.encode_utf8(&mut [0; 4]).bytes().for_each(|b| text.push(char_of(b))),
                None => text.push(c),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| char_of(*byte)));
    }
    text
}

/// A word as a text: on other systems than Unix every word is one, but for what is replaced.
#[cfg(not(unix))]
pub fn text_of(word: &OsStr) -> String {
    word.to_string_lossy().into_owned()
}

/// The word that stands in a text.
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

/// The word that stands in a text.
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
