//! The wire format of protocol buffers, as far as pprof needs it: varints and fields of bytes, read and written. It knows no message.

/// A field: its number, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    /// A number.
    Number(u64),
    /// A text, a message, or packed numbers.
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    /// The number; of bytes 0, as in a field of another type.
    pub fn number(self) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Bytes(_) => 0,
        }
    }

    /// The numbers of a repeated field, packed or alone. A varint that breaks off ends them.
    pub fn numbers(self) -> Vec<u64> {
        match self {
            Self::Number(number) => vec![number],
            Self::Bytes(mut bytes) => {
                let mut numbers = Vec::new();
                while let Some(number) = varint(&mut bytes) {
                    numbers.push(number);
                }
                numbers
            }
        }
    }

    /// The bytes; none of a number.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Number(_) => &[],
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// The fields of a message, one by one; `Err` with the number of bytes left where it breaks off.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Field<'a>), usize>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let left = self.rest.len();
        let found = field(&mut self.rest);
        if found.is_none() {
            self.rest = &[];
        }
        Some(found.ok_or(left))
    }
}

fn field<'a>(bytes: &mut &'a [u8]) -> Option<(u64, Field<'a>)> {
    let key = varint(bytes)?;
    let value = match key & 7 {
        0 => Field::Number(varint(bytes)?),
        1 => Field::Number(u64::from_le_bytes(take(bytes, 8)?.try_into().ok()?)),
        2 => {
            let length = usize::try_from(varint(bytes)?).ok()?;
            Field::Bytes(take(bytes, length)?)
        }
        5 => Field::Number(u64::from(u32::from_le_bytes(take(bytes, 4)?.try_into().ok()?))),
        _ => return None,
    };
    Some((key >> 3, value))
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// A message in the making. Numbers of 0 and empty packs are left out, as the format's default.
#[derive(Debug, Default)]
pub(crate) struct Message {
    pub bytes: Vec<u8>,
}

impl Message {
    pub fn number(&mut self, field: u64, number: u64) {
        if number != 0 {
            push(&mut self.bytes, field << 3);
            push(&mut self.bytes, number);
        }
    }

    pub fn bytes(&mut self, field: u64, bytes: &[u8]) {
        push(&mut self.bytes, field << 3 | 2);
        push(&mut self.bytes, bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    pub fn numbers(&mut self, field: u64, numbers: &[u64]) {
        if !numbers.is_empty() {
            let mut packed = Vec::new();
            numbers.iter().for_each(|&number| push(&mut packed, number));
            self.bytes(field, &packed);
        }
    }

    /// A message within this one.
    pub fn message(&mut self, field: u64, fill: impl FnOnce(&mut Message)) {
        let mut inner = Message::default();
        fill(&mut inner);
        self.bytes(field, &inner.bytes);
    }
}

fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let mut message = Message::default();
        message.number(1, u64::MAX);
        message.number(2, 0);
        message.numbers(3, &[0, 127, 128, 300]);
        message.bytes(4, b"text");
        let fields: Vec<_> = Fields::of(&message.bytes).map(Result::unwrap).collect();
        assert_eq!(fields[0], (1, Field::Number(u64::MAX)));
        assert_eq!(fields[1].1.numbers(), [0, 127, 128, 300]);
        assert_eq!(fields[2], (4, Field::Bytes(b"text")));
    }

    #[test]
    fn a_message_that_breaks_off_says_so_once() {
        let mut message = Message::default();
        message.bytes(4, b"text");
        message.bytes.pop();
        let found: Vec<_> = Fields::of(&message.bytes).collect();
        assert_eq!(found, [Err(5)]);
    }
}
