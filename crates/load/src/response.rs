//! Parser for HTTP/1 answers, which may arrive in pieces of any size (RFC 9112). Only the requested
//! parts of an answer are kept; there is no I/O here.

use crate::failure::Failure;
use std::mem::take;

/// Maximum size of a head, of the line before a chunk, and of all trailer fields, in bytes. Servers
/// accept 8 to 32 KiB in a request.
pub(crate) const MOST_HEAD: usize = 256 * 1024;
/// Maximum number of interim answers (1xx) before the final one.
const MOST_INTERIM: u32 = 1000;
/// Maximum number of header fields that are parsed without allocating.
const USUAL_FIELDS: usize = 128;
/// Maximum number of header fields of an answer.
const MOST_FIELDS: usize = 2048;
/// Maximum size of a body that is inspected, in bytes.
pub(crate) const MOST_KEPT: usize = 4 << 20;

/// A parsed answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub status: u16,
    /// True if the connection may be reused.
    pub stays: bool,
    /// Target of a redirection, if fields are kept.
    pub location: Option<String>,
    /// Cookies that are set, if fields are kept.
    pub cookies: Vec<String>,
    /// The body, if it is kept.
    pub body: Vec<u8>,
}

/// The parts of an answer that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keep {
    pub fields: bool,
    pub body: bool,
}

/// The way in which the end of the body is recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    /// The head is incomplete.
    NotYet,
    /// The body ends after this number of bytes.
    Length(u64),
    Chunks(Chunk),
    /// The body ends when the connection is closed.
    UntilClosed,
}

/// Position within a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    /// In the line with the size of the next chunk.
    Size,
    /// In the data, with this number of bytes remaining.
    Data(u64),
    /// At the line break after the data.
    DataEnd,
    /// In the trailer fields.
    Trailer,
}

/// Parses successive answers.
#[derive(Debug)]
pub(crate) struct Reader {
    body: Body,
    /// An incomplete head, or an incomplete line of a chunked body.
    held: Vec<u8>,
    answer: Answer,
    keep: Keep,
    /// True if the request was HEAD, whose answer has no body.
    headless: bool,
    /// Number of line ends in an incomplete head.
    lines: usize,
    /// Number of interim answers since the last final one.
    interim: u32,
    /// Number of bytes of trailer fields.
    trailer: usize,
    /// The HTTP rule that the last answer violated.
    pub problem: Option<&'static str>,
    /// Time of the current read, in ns of the clock; 0 before the first.
    now: u64,
    /// Time of the last chunk, in ns of the clock; 0 before the first.
    last_chunk: u64,
    /// Times between successive chunks of a body, in ns, kept until the caller takes them. Bodies
    /// with a declared length have none.
    pub gaps: Vec<u64>,
}

impl Reader {
    pub(crate) fn new(keep: Keep) -> Self {
        Self {
            body: Body::NotYet,
            held: Vec::new(),
            answer: Answer::default(),
            keep,
            headless: false,
            lines: 0,
            interim: 0,
            trailer: 0,
            problem: None,
            now: 0,
            last_chunk: 0,
            gaps: Vec::new(),
        }
    }

    /// Sets the time at which the next bytes arrived, in ns of the clock.
    pub(crate) fn read_at(&mut self, now: u64) {
        self.now = now;
    }

    /// Returns true if an answer has begun and is incomplete.
    pub(crate) fn is_within(&self) -> bool {
        !self.is_at_start()
    }

    /// Records the start of a chunk.
    fn chunk_began(&mut self) {
        if self.last_chunk > 0 {
            self.gaps.push(self.now.saturating_sub(self.last_chunk));
        }
        self.last_chunk = self.now;
    }

    fn malformed(&mut self, problem: &'static str) -> Failure {
        self.problem = Some(problem);
        Failure::Malformed
    }

    /// Sets whether the next answer is to a HEAD request.
    pub(crate) fn expect_no_body(&mut self, is_head: bool) {
        self.headless = is_head;
    }

    /// Returns true if no part of an answer has arrived.
    pub(crate) fn is_at_start(&self) -> bool {
        self.body == Body::NotYet && self.held.is_empty()
    }

    /// Parses bytes; returns the number of bytes used, and the answer if it is complete.
    ///
    /// # Errors
    /// If they are not valid HTTP.
    pub(crate) fn take(&mut self, input: &[u8]) -> Result<(usize, Option<Answer>), Failure> {
        let mut used = 0;
        loop {
            let rest = &input[used..];
            match self.body {
                Body::NotYet => {
                    if rest.is_empty() {
                        return Ok((used, None));
                    }
                    let Some(length) = self.head(rest)? else { return Ok((input.len(), None)) };
                    used += length;
                    if self.body == Body::NotYet {
                        // An interim answer: the final one follows.
                        self.interim += 1;
                        if self.interim > MOST_INTERIM {
                            return Err(self.malformed("more than 1000 interim answers (1xx)"));
                        }
                        continue;
                    }
                    if self.body == Body::Length(0) {
                        return Ok((used, Some(self.whole())));
                    }
                }
                Body::Length(left) => {
                    let taken = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    self.keep_body(&rest[..taken]);
                    used += taken;
                    let left = left - taken as u64;
                    self.body = Body::Length(left);
                    return Ok((used, (left == 0).then(|| self.whole())));
                }
                Body::Chunks(chunk) => {
                    if rest.is_empty() {
                        return Ok((used, None));
                    }
                    let (taken, done) = self.chunk(chunk, rest)?;
                    used += taken;
                    if done {
                        return Ok((used, Some(self.whole())));
                    }
                }
                Body::UntilClosed => {
                    if !rest.is_empty() && self.now != self.last_chunk {
                        self.chunk_began();
                    }
                    self.keep_body(rest);
                    return Ok((input.len(), None));
                }
            }
        }
    }

    /// Handles the end of the connection; returns the answer if this completes it.
    ///
    /// # Errors
    /// If the answer is incomplete.
    pub(crate) fn closed(&mut self) -> Result<Answer, Failure> {
        match self.body {
            Body::UntilClosed => Ok(self.whole()),
            Body::Length(_) | Body::Chunks(_) => Err(Failure::WrongLength),
            Body::NotYet => {
                let held = take(&mut self.held);
                if !held.is_empty() {
                    self.parse(&held)?;
                }
                Err(Failure::Closed)
            }
        }
    }

    fn whole(&mut self) -> Answer {
        self.body = Body::NotYet;
        (self.last_chunk, self.interim, self.trailer) = (0, 0, 0);
        take(&mut self.answer)
    }

    fn keep_body(&mut self, bytes: &[u8]) {
        if self.keep.body {
            let room = MOST_KEPT.saturating_sub(self.answer.body.len());
            self.answer.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    /// Returns the length of the head in the input; if it is incomplete, buffers the input and
    /// returns `None`.
    fn head(&mut self, input: &[u8]) -> Result<Option<usize>, Failure> {
        if self.held.is_empty() {
            if let Some(length) = self.parse(input)? {
                return Ok(Some(length));
            }
            self.held.extend_from_slice(input);
        } else {
            let before = self.held.len();
            self.held.extend_from_slice(input);
            self.lines += memchr::memchr_iter(b'\n', input).count();
            // A head that arrives line by line is not parsed again for each line.
            let ends = ends_head(&self.held[before.saturating_sub(2)..]);
            if ends || self.lines > MOST_FIELDS {
                self.lines = 0;
                let held = take(&mut self.held);
                if let Some(length) = self.parse(&held)? {
                    return Ok(Some(length - before));
                }
                self.held = held;
            }
        }
        match self.held.len() > MOST_HEAD {
            true => Err(self.malformed(LONG_HEAD)),
            false => Ok(None),
        }
    }

    /// Parses a head and returns its length; `None` if it is incomplete.
    fn parse(&mut self, bytes: &[u8]) -> Result<Option<usize>, Failure> {
        let mut fields = [const { std::mem::MaybeUninit::uninit() }; USUAL_FIELDS];
        let mut response = httparse::Response::new(&mut []);
        let mut parser = httparse::ParserConfig::default();
        // Deprecated by RFC 9112, 5.2, but still in use.
        parser.allow_obsolete_multiline_headers_in_responses(true);
        let parsed = parser.parse_response_with_uninit_headers(&mut response, bytes, &mut fields);
        let mut many;
        let mut of_many = httparse::Response::new(&mut []);
        let (parsed, response) = match parsed {
            Err(httparse::Error::TooManyHeaders) => {
                many = vec![const { std::mem::MaybeUninit::uninit() }; MOST_FIELDS];
                let parsed =
                    parser.parse_response_with_uninit_headers(&mut of_many, bytes, &mut many);
                (parsed, &of_many)
            }
            parsed => (parsed, &response),
        };
        let parsed = parsed.map_err(|error| self.malformed(problem_of(error, bytes)))?;
        let httparse::Status::Complete(length) = parsed else { return Ok(None) };
        if length > MOST_HEAD {
            return Err(self.malformed(LONG_HEAD));
        }
        let status = response.code.ok_or(Failure::Malformed)?;
        if status < 100 {
            return Err(self.malformed("its status is below 100"));
        }
        // HTTP ends with 101; all other interim answers are followed by a final one.
        if (100..200).contains(&status) && status != 101 {
            return Ok(Some(length));
        }
        let mut stays = response.version == Some(1);
        let (mut size, mut chunked, mut coded) = (None, false, false);
        for field in response.headers.iter() {
            let (name, value) = (field.name.as_bytes(), field.value);
            match name.len() {
                10 if name.eq_ignore_ascii_case(b"connection") => {
                    stays = (stays || has_word(value, b"keep-alive")) && !has_word(value, b"close");
                }
                14 if name.eq_ignore_ascii_case(b"content-length") => {
                    let own = content_length(value).map_err(|problem| self.malformed(problem))?;
                    if size.is_some_and(|size| size != own) {
                        return Err(self.malformed(TWO_LENGTHS));
                    }
                    size = Some(own);
                }
                17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                    coded |= !value.trim_ascii().eq_ignore_ascii_case(b"identity");
                    chunked = last_word(value).eq_ignore_ascii_case(b"chunked");
                }
                8 if self.keep.fields && name.eq_ignore_ascii_case(b"location") => {
                    self.answer.location = Some(String::from_utf8_lossy(value).into_owned());
                }
                10 if self.keep.fields && name.eq_ignore_ascii_case(b"set-cookie") => {
                    self.answer.cookies.push(String::from_utf8_lossy(value).into_owned());
                }
                _ => {}
            }
        }
        // RFC 9112, 6.3.
        self.body = if self.headless || matches!(status, 101 | 204 | 304) {
            Body::Length(0)
        } else if coded {
            if chunked { Body::Chunks(Chunk::Size) } else { Body::UntilClosed }
        } else {
            size.map_or(Body::UntilClosed, Body::Length)
        };
        self.answer.status = status;
        self.answer.stays = stays && self.body != Body::UntilClosed && status != 101;
        Ok(Some(length))
    }

    /// Parses a part of a chunked body (RFC 9112, 7.1); returns the number of bytes used, and true
    /// at the end of the body.
    fn chunk(&mut self, chunk: Chunk, input: &[u8]) -> Result<(usize, bool), Failure> {
        if let Chunk::Data(left) = chunk {
            let taken = input.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.keep_body(&input[..taken]);
            let left = left - taken as u64;
            self.body = Body::Chunks(if left == 0 { Chunk::DataEnd } else { Chunk::Data(left) });
            return Ok((taken, false));
        }
        let Some(end) = memchr::memchr(b'\n', input) else {
            self.held.extend_from_slice(input);
            if self.held.len() > MOST_HEAD {
                return Err(self.malformed(match chunk {
                    Chunk::Trailer => LONG_TRAILER,
                    _ => "the line before a chunk is longer than 256 KiB",
                }));
            }
            return Ok((input.len(), false));
        };
        self.held.extend_from_slice(&input[..end]);
        let line = take(&mut self.held);
        self.trailer += if chunk == Chunk::Trailer { line.len() } else { 0 };
        if self.trailer > MOST_HEAD {
            return Err(self.malformed(LONG_TRAILER));
        }
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        let next = match chunk {
            Chunk::Size => match chunk_size(line).map_err(|problem| self.malformed(problem))? {
                0 => Chunk::Trailer,
                size => {
                    self.chunk_began();
                    Chunk::Data(size)
                }
            },
            Chunk::DataEnd if line.is_empty() => Chunk::Size,
            Chunk::Trailer if line.is_empty() => return Ok((end + 1, true)),
            Chunk::Trailer => Chunk::Trailer,
            Chunk::Data(_) | Chunk::DataEnd => {
                return Err(self.malformed("a chunk is longer than its size says"));
            }
        };
        self.body = Body::Chunks(next);
        Ok((end + 1, false))
    }
}

const LONG_HEAD: &str = "its head is longer than 256 KiB";
const LONG_TRAILER: &str = "the fields after the last chunk are longer than 256 KiB";
const TWO_LENGTHS: &str = "it has two different Content-Length fields";

/// Returns true if these bytes contain an empty line.
fn ends_head(bytes: &[u8]) -> bool {
    [b"\n\r\n".as_slice(), b"\n\n"].iter().any(|end| memchr::memmem::find(bytes, end).is_some())
}

/// Describes a parse error of a head. Other protocols are recognized by their first bytes.
fn problem_of(error: httparse::Error, bytes: &[u8]) -> &'static str {
    match bytes {
        // A TLS record (RFC 8446, 5.1): an alert or a handshake.
        [0x15 | 0x16, 3, ..] => return "it speaks TLS at this port: write https",
        // A SETTINGS frame (RFC 9113, 6.5), which every HTTP/2 server sends first.
        [0, 0, _, 4, _, 0, 0, 0, 0, ..] => return "it speaks HTTP/2 at this port: use --http2",
        _ => {}
    }
    match error {
        httparse::Error::TooManyHeaders => "it has more than 2048 header fields",
        httparse::Error::HeaderName => "the name of a header field contains an invalid character",
        httparse::Error::HeaderValue => "the value of a header field contains an invalid character",
        httparse::Error::Version => "it does not begin with HTTP/1.1 or HTTP/1.0",
        httparse::Error::Status => "its status is not three digits",
        httparse::Error::NewLine => "a line of its head does not end like a line of HTTP",
        _ => "its head is not HTTP",
    }
}

/// Parses bytes in pieces of the given size; returns the status of each answer, and true if the end
/// of the connection is valid. Used by the parser's tests.
#[must_use]
pub fn answers_in(bytes: &[u8], piece: usize) -> (Vec<u16>, bool) {
    let (mut reader, mut answers) = (Reader::new(Keep { fields: true, body: true }), Vec::new());
    for mut piece in bytes.chunks(piece.max(1)) {
        while !piece.is_empty() {
            match reader.take(piece) {
                Ok((used, answer)) => {
                    answers.extend(answer.map(|answer| answer.status));
                    piece = &piece[used..];
                }
                Err(_) => return (answers, false),
            }
        }
    }
    (answers, reader.closed().is_ok())
}

/// Parses the hexadecimal size at the start of a chunk's line; the error is a description of the
/// fault.
fn chunk_size(line: &[u8]) -> Result<u64, &'static str> {
    let digits = line.split(|&b| b == b';').next().unwrap_or_default().trim_ascii();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err("the size of a chunk is not a number");
    }
    let text = std::str::from_utf8(digits).unwrap_or_default();
    u64::from_str_radix(text, 16).map_err(|_| "the size of a chunk is larger than any body")
}

/// Parses the length of a body; the error is a description of the fault. A duplicate field may have
/// been merged into a list (RFC 9110, 8.6).
fn content_length(value: &[u8]) -> Result<u64, &'static str> {
    let mut all = value.split(|&b| b == b',').map(<[u8]>::trim_ascii);
    let first = all.next().unwrap_or_default();
    if first.is_empty() || !first.iter().all(u8::is_ascii_digit) {
        return Err("its Content-Length is not a number");
    }
    if all.any(|other| other != first) {
        return Err(TWO_LENGTHS);
    }
    let text = std::str::from_utf8(first).unwrap_or_default();
    text.parse().map_err(|_| "its Content-Length is larger than any body")
}

/// Returns the last element of a comma-separated list.
fn last_word(value: &[u8]) -> &[u8] {
    value.rsplit(|&b| b == b',').next().unwrap_or_default().trim_ascii()
}

/// Returns true if a comma-separated list contains a word.
fn has_word(value: &[u8], word: &[u8]) -> bool {
    value.split(|&b| b == b',').any(|own| own.trim_ascii().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEEP: Keep = Keep { fields: true, body: true };

    /// Parses all answers in these bytes, in pieces of this size, and the end of the connection.
    fn read(bytes: &[u8], piece: usize) -> (Vec<Answer>, Result<Answer, Failure>) {
        let (mut reader, mut answers) = (Reader::new(KEEP), Vec::new());
        for mut piece in bytes.chunks(piece.max(1)) {
            while !piece.is_empty() {
                match reader.take(piece) {
                    Ok((used, answer)) => {
                        answers.extend(answer);
                        piece = &piece[used..];
                    }
                    Err(failure) => return (answers, Err(failure)),
                }
            }
        }
        (answers, reader.closed())
    }

    const TWO: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\nSet-Cookie: a=b; Path=/\r\n\r\nhello\
        HTTP/1.1 302 Found\r\nLocation: /x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nX: y\r\n\r\n\
        HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";

    #[test]
    fn answers_are_the_same_in_pieces_of_any_size() {
        for piece in 1..=TWO.len() {
            let (answers, _) = read(TWO, piece);
            assert_eq!(answers.len(), 3, "in pieces of {piece}");
            assert_eq!((answers[0].status, answers[0].body.as_slice()), (200, b"hello".as_slice()));
            assert_eq!(answers[0].cookies, ["a=b; Path=/"]);
            assert_eq!(answers[1].location.as_deref(), Some("/x"));
            assert_eq!(answers[1].body, b"abc0123456789abcdef");
            assert!(answers[1].stays && !answers[2].stays);
        }
    }

    #[test]
    fn what_is_not_whole_or_not_http_is_told_apart() {
        let ends = |text: &str| read(text.as_bytes(), 7).1;
        let head = "HTTP/1.1 200 OK\r\n";
        assert_eq!(ends(""), Err(Failure::Closed));
        assert_eq!(ends("HTTP/1.1 200"), Err(Failure::Closed));
        assert_eq!(ends("garbage\r\n\r\n"), Err(Failure::Malformed));
        assert_eq!(ends(&format!("{head}Content-Length: 9\r\n\r\nabc")), Err(Failure::WrongLength));
        assert_eq!(ends(&format!("{head}Content-Length: -1\r\n\r\n")), Err(Failure::Malformed));
        let twice = format!("{head}Content-Length: 1\r\nContent-Length: 2\r\n\r\n");
        assert_eq!(ends(&twice), Err(Failure::Malformed));
        let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
        assert_eq!(ends(&format!("{chunked}zz\r\n")), Err(Failure::Malformed));
        assert_eq!(ends(&format!("{chunked}3\r\nabcdef\r\n")), Err(Failure::Malformed));
        assert_eq!(ends(&format!("{chunked}3\r\nab")), Err(Failure::WrongLength));
        assert_eq!(ends(&format!("{head}\r\nabc")).map(|a| a.body), Ok(b"abc".to_vec()));
        let endless = format!("{head}X: {}", "y".repeat(MOST_HEAD));
        assert_eq!(ends(&endless), Err(Failure::Malformed));
    }

    #[test]
    fn unusual_heads_are_read_and_broken_ones_say_what_is_wrong() {
        let status = |text: &str| {
            let mut reader = Reader::new(KEEP);
            let taken = reader.take(text.as_bytes());
            let status = taken.map(|(_, answer)| answer.map(|own| (own.status, own.stays)));
            (status, reader.problem.unwrap_or_default())
        };
        let head = "HTTP/1.1 200 OK\r\n";
        let with = |fields: &str| format!("{head}{fields}Content-Length: 0\r\n\r\n");
        let fields = |count: usize| (0..count).map(|i| format!("X-{i}: a\r\n")).collect::<String>();
        for fine in [fields(300), fields(2000), "X-A: b\r\n c\r\n\td\r\n".to_owned()] {
            assert_eq!(status(&with(&fine)), (Ok(Some((200, true))), ""));
        }
        let listed = format!("{head}Content-Length: 0, 0\r\n\r\n");
        assert_eq!(status(&listed), (Ok(Some((200, true))), ""));
        let upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
        assert_eq!(status(upgrade), (Ok(Some((101, false))), ""));
        for (broken, what) in [
            (with(&fields(2100)), "more than 2048 header fields"),
            (with("X Y: a\r\n"), "the name of a header field"),
            (with("X: a\u{1}\r\n"), "the value of a header field"),
            (with("Content-Length: 7\r\n"), "two different Content-Length"),
            ("SSH-2.0-OpenSSH_9.0\r\n".to_owned(), "does not begin with HTTP"),
            ("HTTP/1.1 2x0 OK\r\n\r\n".to_owned(), "not three digits"),
            ("HTTP/1.1 000 OK\r\n\r\n".to_owned(), "below 100"),
            (format!("{head}X: {}", "y".repeat(MOST_HEAD)), "longer than 256 KiB"),
            (with(&format!("X: {}\r\n", "y".repeat(MOST_HEAD))), "longer than 256 KiB"),
            (with("Content-Length: 5, 6\r\n"), "two different Content-Length"),
            (with("Content-Length: x\r\n"), "not a number"),
            (with(&format!("Content-Length: {}\r\n", "9".repeat(30))), "larger than any body"),
            ("\u{15}\u{3}\u{1}\0\u{2}\u{2}F".to_owned(), "write https"),
            ("\0\0\u{12}\u{4}\0\0\0\0\0\0\0".to_owned(), "use --http2"),
            ("HTTP/1.1 102 Wait\r\n\r\n".repeat(1001), "1000 interim answers"),
        ] {
            let (read, problem) = status(&broken);
            assert_eq!(read, Err(Failure::Malformed), "{what}");
            assert!(problem.contains(what), "{problem} / {what}");
        }
    }

    #[test]
    fn what_has_no_end_is_held_within_bounds() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let endless = [
            ("HTTP/1.1 200 OK\r\n".to_owned(), "X: y\r\n"),
            ("HTTP/1.1 200 OK\r\nX: ".to_owned(), "yyyyyyyy"),
            (format!("{chunked}5;x="), "yyyyyyyy"),
            (format!("{chunked}0\r\n"), "X: y\r\n"),
            (format!("{chunked}0\r\nX: "), "yyyyyyyy"),
            (String::new(), "HTTP/1.1 103 Early Hints\r\n\r\n"),
        ];
        for (start, piece) in endless {
            let mut reader = Reader::new(KEEP);
            let first = reader.take(start.as_bytes()).map(|_| ());
            let ended = (0..MOST_HEAD).try_fold((), |(), _| {
                assert!(reader.held.len() <= MOST_HEAD, "{start}{piece}");
                reader.take(piece.as_bytes()).map(|_| ())
            });
            assert_eq!((first, ended), (Ok(()), Err(Failure::Malformed)), "{start}{piece}");
            assert!(reader.problem.is_some(), "{start}{piece}");
        }
        // A body is kept up to the maximum inspected size, and only counted beyond it.
        let mut reader = Reader::new(KEEP);
        reader.take(b"HTTP/1.1 200 OK\r\n\r\n").expect("a head");
        let piece = [b'x'; 65_536];
        (0..100).for_each(|_| drop(reader.take(&piece).expect("a body")));
        assert_eq!(reader.answer.body.len(), MOST_KEPT);
    }

    #[test]
    fn the_last_coding_decides_where_a_body_ends() {
        let of = |coding: &str| {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n{coding}\r\n");
            let mut reader = Reader::new(KEEP);
            reader.take(head.as_bytes()).expect("a head");
            reader.body
        };
        let chunks = Body::Chunks(Chunk::Size);
        assert_eq!(of("Transfer-Encoding: gzip, chunked\r\n"), chunks);
        assert_eq!(of("Transfer-Encoding: chunked\r\n"), chunks);
        assert_eq!(of("Transfer-Encoding: chunked, gzip\r\n"), Body::UntilClosed);
        assert_eq!(of("Transfer-Encoding: identity\r\n"), Body::Length(3));
        assert_eq!(of(""), Body::Length(3));
    }

    #[test]
    fn gaps_are_those_between_chunks() {
        let chunked = ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n"];
        let pieces = [chunked[0], chunked[1], "3\r\n", "abc\r\n", chunked[1], "0\r\n\r\n"];
        let mut reader = Reader::new(KEEP);
        for (at, piece) in pieces.iter().enumerate() {
            reader.read_at(at as u64 * 10);
            reader.take(piece.as_bytes()).expect("a piece of an answer");
        }
        assert_eq!(reader.gaps, [10, 20]);
        let mut reader = Reader::new(KEEP);
        for (at, piece) in ["HTTP/1.1 200 OK\r\n\r\n", "data: 1", "data: 2"].iter().enumerate() {
            reader.read_at(100 + at as u64 * 5);
            reader.take(piece.as_bytes()).expect("a piece of an answer");
        }
        assert_eq!(reader.gaps, [5]);
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let mut reader = Reader::new(KEEP);
        reader.expect_no_body(true);
        let head = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n";
        let (used, answer) = reader.take(head).expect("an answer");
        assert_eq!((used, answer.map(|a| (a.status, a.stays))), (head.len(), Some((200, false))));
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic_and_every_byte_is_used_once(
            bytes in proptest::collection::vec(any::<u8>(), 0..600),
            prefix in 0..=TWO.len(),
            piece in 1_usize..64,
        ) {
            let _ends = read(&bytes, piece);
            let mut mixed = TWO[..prefix].to_vec();
            mixed.extend(bytes);
            let (whole, end) = read(&mixed, usize::MAX);
            let (pieces, end_in_pieces) = read(&mixed, piece);
            prop_assert_eq!(whole, pieces);
            prop_assert_eq!(end.is_ok(), end_in_pieces.is_ok());
        }
    }
}
