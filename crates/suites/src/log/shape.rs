//! The shape of a line: the line without the parts that vary between occurrences, so that equal
//! statements are counted together.
//!
//! `#` replaces a number (also hexadecimal, as in a digest or a UUID), and `'*'` and `"*"` replace
//! quoted values. Colors are removed, runs of whitespace become one space, and a list of values
//! becomes one value: a statement has the same shape for two keys as for three. Text in double
//! quotes is kept where it may name a column, as in SQL; it is a value after `=`, `:` and `>`, and
//! in a list in brackets.

/// Maximum length of a shape in bytes; longer lines are identified by their beginning.
pub(super) const LONGEST: usize = 160;

/// Maximum number of bytes of a line that are examined.
const LOOKED_AT: usize = 1024;

/// A reusable buffer for one shape.
pub(super) struct Shape {
    buffer: [u8; LONGEST],
    length: usize,
}

/// The class of a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    Letter,
    Digit,
    Blank,
    Quote,
    DoubleQuote,
    Escape,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' => Class::Digit,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => Class::Letter,
            b'\'' => Class::Quote,
            b'"' => Class::DoubleQuote,
            0x1b => Class::Escape,
            0..=b' ' => Class::Blank,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// Bytes that are copied to a shape in any context. Brackets are copied too, but must be tracked.
const STANDS_FOR_ITSELF: [bool; 256] = {
    let mut stands = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        stands[byte] = matches!(CLASSES[byte], Class::Letter | Class::Other)
            && !matches!(byte as u8, b'[' | b']');
        byte += 1;
    }
    stands
};

/// Splits off the prefix of a text that is its own shape, including single spaces between words,
/// and copies it to `shape`. This covers most of a line in one step.
fn take_plain<'a>(text: &'a [u8], shape: &mut [u8]) -> &'a [u8] {
    let mut behind_blank = true;
    let mut length = 0;
    for (byte, place) in text.iter().zip(shape) {
        let is_blank = *byte == b' ';
        if !STANDS_FOR_ITSELF[usize::from(*byte)] && (!is_blank || behind_blank) {
            break;
        }
        *place = *byte;
        behind_blank = is_blank;
        length += 1;
    }
    &text[..length]
}

fn is_letter(byte: u8) -> bool {
    CLASSES[usize::from(byte)] == Class::Letter
}

impl Default for Shape {
    fn default() -> Self {
        Self { buffer: [0; LONGEST], length: 0 }
    }
}

impl Shape {
    /// Returns the current shape; the next one overwrites it.
    pub(super) fn text(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// Computes the shape of a trimmed message and returns its hash. O(bytes examined).
    pub(super) fn find(&mut self, message: &[u8]) -> u64 {
        let message = &message[..message.len().min(LOOKED_AT)];
        self.length = 0;
        let mut in_brackets = false;
        let mut at = 0;
        while self.length < LONGEST - 4 {
            let end = message.len().min(at + LONGEST - 4 - self.length);
            let run = take_plain(&message[at..end], &mut self.buffer[self.length..]);
            self.length += run.len();
            at += run.len();
            let Some(&byte) = message.get(at).filter(|_| self.length < LONGEST - 4) else { break };
            let class = CLASSES[usize::from(byte)];
            // A chain of tests, most frequent class first, is predicted better by processors than a
            // jump table.
            if class == Class::Digit {
                let word = run.iter().rev().take_while(|byte| is_letter(**byte)).count();
                at = self.number(message, at, word);
            } else if class == Class::Escape {
                at = behind_escape(message, at);
            } else if class == Class::Blank {
                if self.text().last().is_some_and(|last| *last != b' ') {
                    self.push(b' ');
                }
                at += 1;
            } else if self.is_value(class, run, in_brackets) {
                at = self.quoted(message, at, byte);
            } else {
                if class == Class::Other {
                    in_brackets = byte == b'[';
                }
                self.push(byte);
                at += 1;
            }
        }
        // Colors at the end leave a space.
        while self.text().last() == Some(&b' ') {
            self.length -= 1;
        }
        hash(self.text())
    }

    /// Returns true if a quote after the bytes `before` begins a value.
    fn is_value(&self, quote: Class, before: &[u8], in_brackets: bool) -> bool {
        match quote {
            // Within a word it is an apostrophe.
            Class::Quote => !before.last().is_some_and(|byte| is_letter(*byte)),
            Class::DoubleQuote => self.expects_value(in_brackets),
            _ => false,
        }
    }

    fn push(&mut self, byte: u8) {
        // The loop checks before each step that there is room for the longest replacement.
        if let Some(place) = self.buffer.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    /// Writes `#` for the number at `at`, which is preceded by `letters` letters of the same word;
    /// returns the end of the number.
    fn number(&mut self, message: &[u8], at: usize, letters: usize) -> usize {
        let (in_shape, in_message) = (self.length - letters, at - letters);
        let run = message[in_message..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        let all = &message[in_message..in_message + run];
        if run >= 8 && all.iter().all(u8::is_ascii_hexdigit) {
            self.length = in_shape;
            self.put_value(b"#");
            return in_message + run + rest_of_uuid(&message[in_message + run..], run);
        }
        let mut end = at;
        loop {
            end += message[end..].iter().take_while(|b| b.is_ascii_digit()).count();
            match message.get(end..end + 2) {
                Some([b'.', digit]) if digit.is_ascii_digit() => end += 1,
                _ => break,
            }
        }
        self.put_value(b"#");
        end
    }

    /// Writes a quoted `*` for the quoted text at `at` if it is terminated; returns the end of the
    /// text.
    fn quoted(&mut self, message: &[u8], at: usize, quote: u8) -> usize {
        let mut end = at + 1;
        while let Some(length) = memchr::memchr2(quote, b'\\', &message[end..]) {
            end += length;
            match (message[end], message.get(end + 1)) {
                // A backslash and the byte after it, or a doubled quote, are part of the text.
                (b'\\', Some(_)) => end += 2,
                (b'\\', None) => break,
                (_, Some(next)) if *next == quote => end += 2,
                _ => {
                    self.put_value(&[quote, b'*', quote]);
                    return end + 1;
                }
            }
        }
        // The text is not terminated.
        self.push(quote);
        at + 1
    }

    /// Writes a placeholder for a value; in a list of such values it replaces the previous one.
    fn put_value(&mut self, value: &[u8]) {
        for comma in [&b", "[..], b","] {
            let before = self.text().strip_suffix(comma);
            if let Some(before) = before.filter(|before| before.ends_with(value)) {
                self.length = before.len();
                return;
            }
        }
        value.iter().for_each(|byte| self.push(*byte));
    }

    /// Returns true if a text in double quotes would be a value here.
    fn expects_value(&self, in_brackets: bool) -> bool {
        match self.text().trim_ascii_end().last() {
            Some(b'=' | b'>' | b':') => true,
            Some(b',') => in_brackets,
            _ => false,
        }
    }
}

/// Returns the number of bytes of a UUID after its first group; 0 if it is not a UUID.
fn rest_of_uuid(rest: &[u8], first: usize) -> usize {
    const REST: usize = 28;
    let Some(rest) = rest.get(..REST).filter(|_| first == 8) else { return 0 };
    let fits = rest.iter().enumerate().all(|(at, byte)| match at {
        0 | 5 | 10 | 15 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    if fits { REST } else { 0 }
}

/// Returns the end of the terminal control sequence that begins at `at`.
fn behind_escape(message: &[u8], at: usize) -> usize {
    if message.get(at + 1) != Some(&b'[') {
        return at + 1;
    }
    let length = message[at + 2..].iter().take_while(|byte| !(b'@'..=b'~').contains(*byte)).count();
    (at + 2 + length + 1).min(message.len())
}

/// Hashes a short text: eight bytes at a time, multiplied and folded. Not suitable for tables
/// filled by an adversary, except bounded ones such as those here.
pub(super) fn hash(text: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let mut state = text.len() as u64 ^ FACTOR;
    let mut words = text.chunks_exact(8);
    for word in &mut words {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        state = mix(state, u64::from_le_bytes(bytes));
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    mix(mix(state, u64::from_le_bytes(last)), FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> String {
        let mut shape = Shape::default();
        shape.find(line.as_bytes());
        String::from_utf8_lossy(shape.text()).into_owned()
    }

    #[test]
    fn values_are_replaced_and_names_kept() {
        let shapes = [
            (
                "Project Load (0.8ms)  SELECT * FROM a WHERE (a.id = 15) LIMIT 1",
                "Project Load (#ms) SELECT * FROM a WHERE (a.id = #) LIMIT #",
            ),
            ("\u{1b}[4;36;1mSQL (0.000327)\u{1b}[0m   \u{1b}[0;1mBEGIN\u{1b}[0m", "SQL (#) BEGIN"),
            ("INSERT INTO t VALUES ('it''s', 'b', 3)", "INSERT INTO t VALUES ('*', #)"),
            ("WHERE \"users\".\"id\" IN (1, 2, 33)", "WHERE \"users\".\"id\" IN (#)"),
            (
                "Parameters: {\"name\"=>\"Bob\", \"n\"=>\"5\"}",
                "Parameters: {\"name\"=>\"*\", \"n\"=>\"*\"}",
            ),
            ("[[\"name\", \"Bob\"], [\"LIMIT\", 1]]", "[[\"name\", \"*\"], [\"LIMIT\", #]]"),
            ("key 550e8400-e29b-41d4-a716-446655440000 of utf8", "key # of utf#"),
            ("commit deadbeef12 don't stop", "commit # don't stop"),
            ("say 'no end", "say 'no end"),
            ("Café 3", "Café #"),
        ];
        for (line, shape) in shapes {
            assert_eq!(of(line), shape, "{line}");
        }
    }

    #[test]
    fn a_shape_is_short_whatever_the_line() {
        for line in [
            "'".repeat(5000),
            "1,".repeat(5000),
            "\u{1b}[".repeat(5000),
            "x'y'z".repeat(1000),
            "é".repeat(900),
        ] {
            assert!(of(&line).len() <= 2 * LONGEST, "{line}");
        }
    }
}
