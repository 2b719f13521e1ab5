//! Common code of the JSON importers: a reader that accepts what real tools write, and errors with
//! positions.
//!
//! C++ and Python programs write `NaN`, `Infinity`, `nan` and `inf`, which are not valid JSON. Such
//! a word is replaced by a string of the same length before the parser sees it, so that lines and
//! columns stay correct, and [`Number`] then reads it as a missing value. Files are parsed while
//! they are read and are never held in memory as a whole. The length of their strings is limited,
//! so memory grows only with the recorded data.
//!
//! An invalid value is reported with its line. A deserializer does not know its position, so
//! [`Lenient`] stores the line of the last nonblank byte in a thread-local variable, and a missing
//! number carries its line in the bits of its NaN.

use super::ImportError;
use crate::input::Input;
use crate::lines::io_error;
use crate::read_error::{FilePosition, ReadError};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::marker::PhantomData;

/// Maximum length of a string in a file, in bytes.
const MAX_TEXT: usize = 16 * 1024 * 1024;

/// Words for non-finite numbers as printed by C, C++ and Python. They must be distinguished from
/// `null`.
const NOT_FINITE: [&[u8]; 5] = [b"NaN", b"nan", b"Infinity", b"inf", b"Inf"];

/// Reads the only JSON value of a file with a seed, which keeps only the parts that are needed.
/// `expected` describes the contents of such a file for error messages.
///
/// # Errors
/// Returns an error with line and column if the file is not JSON, is truncated, contains anything
/// but blanks after the value, or does not have the form that the seed expects.
pub(super) fn read<'de, S: DeserializeSeed<'de>>(
    input: Input,
    expected: &str,
    seed: S,
) -> Result<S::Value, ImportError> {
    let file = input.file.clone();
    read_from(Lenient::new(input.into_reader()), (&file, 1), expected, seed)
}

/// Passes every JSON value of a file to `each`: one document, or several appended to each other.
///
/// # Errors
/// Returns an error if a value is not JSON, is truncated, or does not have the expected form.
pub(super) fn read_all<T: for<'de> Deserialize<'de>>(
    input: Input,
    expected: &str,
    mut each: impl FnMut(T),
) -> Result<(), ImportError> {
    let file = input.file.clone();
    at_line(1, || {
        let values = serde_json::Deserializer::from_reader(Lenient::new(input.into_reader()));
        for value in values.into_iter::<T>() {
            each(value.map_err(|error| explained(error, &file, 0, WRONG.take(), expected))?);
        }
        Ok(())
    })
}

/// Reads one JSON value from a text that begins on line `line` of a file, counted from 1.
///
/// # Errors
/// Returns an error in the same cases as [`read`].
pub(super) fn read_text<'de, S: DeserializeSeed<'de>>(
    text: &'de str,
    (file, line): (&str, u64),
    expected: &str,
    seed: S,
) -> Result<S::Value, ImportError> {
    read_from(Lenient::new(text.as_bytes()), (file, line), expected, seed)
}

fn read_from<'de, S: DeserializeSeed<'de>>(
    bytes: impl Read,
    (file, line): (&str, u64),
    expected: &str,
    seed: S,
) -> Result<S::Value, ImportError> {
    let (result, error_line) = at_line(line, || {
        let mut deserializer = serde_json::Deserializer::from_reader(bytes);
        let read = seed.deserialize(&mut deserializer);
        let read = read.and_then(|value| deserializer.end().map(|()| value));
        (read, WRONG.take())
    });
    let lines_before = line.saturating_sub(1);
    result.map_err(|error| explained(error, file, lines_before, error_line, expected).into())
}

thread_local! {
    /// The line of the last nonblank byte, and the line of the next byte. Both are 0 while nothing
    /// is being read.
    static LINE: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    /// The line of a rejected value, if any. It is stored because the parser reads to the end of
    /// the list or object before it returns the error.
    static WRONG: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Returns the parser's current line, or `None` if nothing is being read.
fn present_line() -> Option<u64> {
    Some(LINE.get().0).filter(|&line| line > 0)
}

/// Returns an error about a value, and stores the parser's current line as its position.
fn refused<E: Error>(problem: String) -> E {
    WRONG.set(WRONG.get().or_else(present_line));
    E::custom(problem)
}

/// Calls `read` with `line` as the current line.
pub(super) fn at_line<T>(line: u64, read: impl FnOnce() -> T) -> T {
    let before = LINE.replace((line, line));
    let done = read();
    LINE.set(before);
    done
}

/// Returns the line of a missing number that was read from a JSON file and not changed since.
pub(super) fn line_of(value: f64) -> Option<u64> {
    let line = value.to_bits() & LINE_BITS;
    (value.is_nan() && line > 0).then_some(line)
}

/// The bits of a quiet NaN that have no meaning.
const LINE_BITS: u64 = (1 << 51) - 1;

fn explained(
    error: serde_json::Error,
    file: &str,
    lines_before: u64,
    error_line: Option<u64>,
    expected: &str,
) -> ReadError {
    if error.is_io() {
        return io_error(file, error.into());
    }
    let said = error.to_string();
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    let problem = if error.is_eof() {
        format!("the file breaks off here, so write or copy it again; expected {expected}")
    } else if said.starts_with("recursion limit") {
        format!("nested more than 100 deep; expected {expected}")
    } else if said.starts_with("number out of range") {
        "the number is too large for a double".to_owned()
    } else if said.ends_with(NOT_NEGATIVE) {
        said.to_owned()
    } else if error.is_data() {
        format!("{said}; expected {expected}")
    } else {
        format!("not JSON ({said}); expected {expected}")
    };
    let mut column = Some(error.column() as u64).filter(|&column| column > 0);
    let mut line = lines_before + error.line() as u64;
    if let Some(known) = error_line.filter(|&known| error.is_data() && known != line) {
        (line, column) = (known, None);
    }
    ReadError::Line { place: FilePosition { file: file.to_owned(), line, column }, problem }
}

/// Bytes outside of strings that begin a string, or may begin a word of [`NOT_FINITE`].
const BEGINS: [bool; 256] = {
    let mut begins = [false; 256];
    let bytes = b"\"-NnIi";
    let mut place = 0;
    while place < bytes.len() {
        begins[bytes[place] as usize] = true;
        place += 1;
    }
    begins
};

/// A seed that passes every item of a list to a function as it is read, and keeps none.
pub(super) struct Each<T, F> {
    each: F,
    item: PhantomData<T>,
}

/// Returns a seed that passes every item of a list to `each`. Errors from `each` are reported with
/// the item's position.
pub(super) fn each<T, F: FnMut(T) -> Result<(), String>>(each: F) -> Each<T, F> {
    Each { each, item: PhantomData }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), String>> DeserializeSeed<'de>
    for Each<T, F>
{
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), String>> Visitor<'de> for Each<T, F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<T>()? {
            (self.each)(item).map_err(refused::<A::Error>)?;
        }
        Ok(())
    }
}

/// End of the message about a negative time.
const NOT_NEGATIVE: &str = "a time cannot be negative";

/// Returns an error if a time is negative.
pub(super) fn checked_time<E: Error>(number: Number) -> Result<Number, E> {
    if number.0 < 0.0 {
        return Err(refused(format!("a time of {}; {NOT_NEGATIVE}", number.0)));
    }
    Ok(number)
}

/// Reads a number whose key is present, where `null` stands for a missing number and not for an
/// absent key.
pub(super) fn known<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Number>, D::Error> {
    Number::deserialize(deserializer).map(Some)
}

/// Reads a time in any unit: a nonnegative [`Number`].
pub(super) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
    checked_time(Number::deserialize(deserializer)?)
}

/// Reads a time that may be absent.
pub(super) fn some_time<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Number>, D::Error> {
    Option::<Number>::deserialize(deserializer)?.map(checked_time).transpose()
}

/// Reads a time whose key is present, where `null` stands for a missing [`Number`] and not for an
/// absent key.
pub(super) fn known_time<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Number>, D::Error> {
    time(deserializer).map(Some)
}

/// Reads a list of times that may be absent.
pub(super) fn some_times<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<Number>>, D::Error> {
    #[derive(serde::Deserialize)]
    struct Times(#[serde(deserialize_with = "times")] Vec<Number>);
    Ok(Option::<Times>::deserialize(deserializer)?.map(|times| times.0))
}

/// Reads a list of times.
pub(super) fn times<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Number>, D::Error> {
    let mut times = Vec::new();
    each(|number: Number| {
        times.push(number);
        checked_time::<serde::de::value::Error>(number).map(drop).map_err(|error| error.to_string())
    })
    .deserialize(deserializer)?;
    Ok(times)
}

/// A value with the line on which it ended.
pub(super) struct At<T> {
    pub value: T,
    pub line: u64,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = T::deserialize(deserializer)?;
        Ok(Self { value, line: present_line().unwrap_or_default() })
    }
}

/// A seed that passes every member of an object to a function as it is read, and keeps none.
pub(super) struct EachMember<T, F> {
    each: F,
    member: PhantomData<T>,
}

/// Returns a seed that passes the key and value of every member of an object to `each`. Errors from
/// `each` are reported with the member's position.
pub(super) fn each_member<T, F: FnMut(String, T) -> Result<(), String>>(
    each: F,
) -> EachMember<T, F> {
    EachMember { each, member: PhantomData }
}

impl<'de, T: Deserialize<'de>, F: FnMut(String, T) -> Result<(), String>> DeserializeSeed<'de>
    for EachMember<T, F>
{
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(String, T) -> Result<(), String>> Visitor<'de>
    for EachMember<T, F>
{
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        while let Some((key, member)) = members.next_entry::<String, T>()? {
            (self.each)(key, member).map_err(refused::<A::Error>)?;
        }
        Ok(())
    }
}

/// A number. `null` and the words for non-finite numbers are read as a NaN that carries their line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number(pub f64);

impl Number {
    /// Returns a missing number on the current line.
    pub(super) fn missing() -> Self {
        Self(f64::from_bits(f64::NAN.to_bits() | present_line().unwrap_or_default() & LINE_BITS))
    }

    /// Returns the number if it is finite.
    pub(super) fn finite(self) -> Option<f64> {
        Some(self.0).filter(|value| value.is_finite())
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
        Ok(Number(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
        Ok(Number(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
        Ok(Number(value as f64))
    }

    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number::missing())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
        if is_disguised(text) {
            Ok(Number::missing())
        } else {
            Err(E::invalid_type(serde::de::Unexpected::Str(text), &self))
        }
    }
}

/// Returns the contents of a string, or the JSON of any other value.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns true if a string is what [`Lenient`] substitutes for a non-finite number.
pub(super) fn is_disguised(text: &str) -> bool {
    let inner = |word: &[u8]| word[1..word.len() - 1] == *text.as_bytes();
    let signed = |word: &[u8]| word[..word.len() - 1] == *text.as_bytes();
    NOT_FINITE.iter().any(|word| inner(word) || signed(word))
}

/// Passes bytes through, but replaces words of [`NOT_FINITE`] outside of strings by strings of the
/// same length, and a byte-order mark by blanks.
struct Lenient<R> {
    inner: R,
    buffer: Vec<u8>,
    /// Number of bytes of the buffer that are ready.
    ready: usize,
    /// Number of ready bytes that the parser has already received.
    given: usize,
    in_text: bool,
    escaped: bool,
    text_length: usize,
    started: bool,
}

impl<R: BufRead> Lenient<R> {
    fn new(inner: R) -> Self {
        Self {
            inner,
            buffer: Vec::new(),
            ready: 0,
            given: 0,
            in_text: false,
            escaped: false,
            text_length: 0,
            started: false,
        }
    }

    /// Makes more bytes ready, and returns false at the end of the input. If the bytes read so far
    /// end within a word, the word is not ready until more bytes are read.
    fn refill(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.ready);
        (self.ready, self.given) = (0, 0);
        while self.ready == 0 {
            let held = self.buffer.len();
            let more = match self.inner.fill_buf() {
                Ok(more) => more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let (count, at_end) = (more.len(), more.is_empty());
            self.buffer.extend_from_slice(more);
            self.inner.consume(count);
            if at_end && held == 0 {
                return Ok(false);
            }
            if !self.started {
                if self.buffer.len() < 3 && !at_end {
                    continue;
                }
                self.started = true;
                if self.buffer.starts_with(b"\xef\xbb\xbf") {
                    self.buffer[..3].fill(b' ');
                }
            }
            self.ready = self.pass(at_end)?;
        }
        Ok(true)
    }

    /// Processes the bytes of the buffer, and returns how many of them are ready.
    fn pass(&mut self, at_end: bool) -> io::Result<usize> {
        let bytes = &mut self.buffer;
        let mut at = 0;
        while at < bytes.len() {
            if self.in_text {
                if std::mem::take(&mut self.escaped) {
                    at += 1;
                    continue;
                }
                let end = memchr::memchr2(b'"', b'\\', &bytes[at..]);
                self.text_length += end.unwrap_or(bytes.len() - at);
                if self.text_length > MAX_TEXT {
                    let problem = "a text in it is longer than 16 MiB; no benchmark writes that";
                    return Err(io::Error::other(problem));
                }
                let Some(end) = end else { return Ok(bytes.len()) };
                self.escaped = bytes[at + end] == b'\\';
                self.in_text = self.escaped;
                at += end + 1;
                continue;
            }
            // Most bytes are part of numbers and blanks.
            let plain = bytes[at..].iter().take_while(|&&b| !BEGINS[b as usize]).count();
            at += plain;
            if at == bytes.len() {
                break;
            }
            match bytes[at] {
                b'"' => {
                    (self.in_text, self.text_length) = (true, 0);
                    at += 1;
                }
                b'-' | b'N' | b'n' | b'I' | b'i' => {
                    let word = &bytes[at..];
                    let is_of_word = |b: &u8| b.is_ascii_alphanumeric();
                    let length =
                        1 + word[1..].iter().take(16).take_while(|b| is_of_word(b)).count();
                    if length == word.len() && !at_end {
                        return Ok(at);
                    }
                    let unsigned = word[..length].strip_prefix(b"-").unwrap_or(&word[..length]);
                    if NOT_FINITE.contains(&unsigned) {
                        bytes[at] = b'"';
                        bytes[at + length - 1] = b'"';
                    }
                    at += length;
                }
                _ => at += 1,
            }
        }
        Ok(at)
    }
}

impl<R: BufRead> Read for Lenient<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready && !self.refill()? {
            return Ok(0);
        }
        // The parser requests one byte at a time.
        let Some(first) = into.first_mut() else { return Ok(0) };
        *first = self.buffer[self.given];
        let (at, next) = LINE.get();
        match *first {
            b'\n' => LINE.set((at, next + 1)),
            b' ' | b'\t' | b'\r' => {}
            _ if at != next => LINE.set((next, next)),
            _ => {}
        }
        self.given += 1;
        Ok(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn numbers(text: &str) -> Result<Vec<f64>, String> {
        let list: Result<Vec<Number>, _> =
            serde_json::from_reader(Lenient::new(BufReader::with_capacity(1, text.as_bytes())));
        list.map(|list| list.iter().map(|n| n.0).collect()).map_err(|e| e.to_string())
    }

    #[test]
    fn words_for_what_is_not_finite_are_missing_values_however_the_bytes_arrive() {
        let text =
            "\u{feff}[1, NaN, -NaN, Infinity, -Infinity, nan, -nan, inf, -inf, null, -2.5e3, 7]";
        for capacity in [1, 2, 3, 7, 64] {
            let pieces = BufReader::with_capacity(capacity, text.as_bytes());
            let list: Vec<Number> =
                serde_json::from_reader(Lenient::new(pieces)).expect("words are allowed");
            let finite: Vec<f64> = list.iter().filter_map(|n| n.finite()).collect();
            assert_eq!((list.len(), finite), (12, vec![1.0, -2500.0, 7.0]), "{capacity}");
        }
    }

    #[test]
    fn texts_keep_their_words_and_are_no_numbers() {
        let texts: Vec<String> = serde_json::from_reader(Lenient::new(
            &br#"["NaN", "a \" inf \\", "\\", "-Infinity"]"#[..],
        ))
        .expect("a list of texts");
        assert_eq!(texts, ["NaN", "a \" inf \\", "\\", "-Infinity"]);
        assert!(numbers(r#"["NaN"]"#).is_err());
        assert!(numbers(r#"[NaNs]"#).is_err());
        assert!(numbers("[1, Na").is_err());
    }

    #[test]
    fn errors_name_the_line_and_column_of_the_file() {
        let bytes = b"{\n  \"a\": NaN,\n  \"b\": oops\n}".to_vec();
        let input = Input::of(io::Cursor::new(bytes), "x.json").expect("bytes can be read");
        let seed = PhantomData::<serde_json::Value>;
        let error = read(input, "a result", seed).expect_err("oops is no JSON").to_string();
        assert!(error.starts_with("x.json:3:8: not JSON"), "{error}");
    }

    #[test]
    fn a_text_without_end_is_refused_before_it_fills_the_memory() {
        let endless = BufReader::new((&b"[\""[..]).chain(io::repeat(b'a')));
        let list: Result<Vec<String>, _> = serde_json::from_reader(Lenient::new(endless));
        assert!(list.is_err_and(|e| e.to_string().contains("longer than 16 MiB")));
    }
}
