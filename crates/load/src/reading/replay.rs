//! Recorded times at which to send requests: numbers, one per line, or a server log in the common
//! or combined format (Apache's `%h %l %u %t "%r" %>s %b`, nginx's default), whose paths are
//! requested as well.

use super::{MOST, ReadingError};
use crate::scenario::{Request, Scenario};

/// The contents of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replayed {
    /// Seconds since the first request, ascending.
    pub times: Vec<f64>,
    /// Method and path of the request at each time, from a server log.
    pub asked: Vec<(String, String)>,
    /// Number of log lines without a repeatable request, such as failed handshakes or bytes that
    /// are not UTF-8.
    pub skipped: usize,
}

impl Replayed {
    /// Returns the requests of a log: one for each method, whose path is filled in from a table of
    /// the paths in the log, in order. The rest is that of `first`; if it has a method of its
    /// own, as with a body, all requests have it.
    ///
    /// # Errors
    /// If the log has other methods than GET and HEAD: what they sent is not in it.
    pub fn scenario(&self, first: &Request) -> Result<Scenario, ReadingError> {
        let is_get = |method: &str| method == "GET" || method == "HEAD";
        let others = self.asked.iter().filter(|(method, _)| !is_get(method)).count();
        if others > 0 {
            return Err(ReadingError(format!(
                "{others} of {} requests in the log have a method other than GET or HEAD; what they sent is not in the log, so they can't be repeated: remove their lines from the file",
                self.asked.len()
            )));
        }
        let has_own = first.method != "GET";
        let method_of = |(method, _): &(String, String)| match has_own {
            true => first.method.clone(),
            false => method.clone(),
        };
        let of_row: Vec<String> = self.asked.iter().map(method_of).collect();
        let mut methods = of_row.clone();
        methods.sort_unstable();
        methods.dedup();
        let request = |method: &String| Request {
            method: method.clone(),
            target: first.target.with_path("{{path}}"),
            ..first.clone()
        };
        let place = |method: &String| methods.iter().position(|own| own == method).unwrap_or(0);
        Ok(Scenario {
            requests: methods.iter().map(request).collect(),
            session: false,
            columns: vec!["path".to_owned()],
            values: self.asked.iter().map(|(_, path)| vec![path.clone()]).collect(),
            request_of_row: of_row.iter().map(place).collect(),
        })
    }
}

/// Reads recorded times. Logs have only whole seconds: the requests of one second are spread evenly
/// over it.
///
/// # Errors
/// If a line is neither a number nor a log entry; includes its number.
pub fn replay(text: &str) -> Result<Replayed, ReadingError> {
    let mut found = Replayed::default();
    let mut is_log = false;
    let text = text.trim_start_matches('\u{feff}');
    for (number, line) in text.lines().enumerate().take(MOST) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why: &str| ReadingError(format!("line {}: {why}", number + 1));
        if let Ok(time) = line.parse::<f64>() {
            if !time.is_finite() || is_log {
                return Err(wrong("a time must be a number of seconds"));
            }
            found.times.push(time);
            continue;
        }
        let time = moment(line).ok_or_else(|| {
            wrong("neither a number of seconds nor an entry of a server's log, as in `… [23/Nov/2026:10:00:01 +0000] \"GET / HTTP/1.1\" 200 …`")
        })?;
        if !is_log && !found.times.is_empty() {
            return Err(wrong("an entry of a log among numbers"));
        }
        is_log = true;
        let Some(asked) = request(line) else {
            found.skipped += 1;
            continue;
        };
        found.times.push(time);
        found.asked.push(asked);
    }
    if found.times.is_empty() {
        return Err(ReadingError("it contains no time".to_owned()));
    }
    if found.asked.is_empty() {
        found.times.sort_by(f64::total_cmp);
    } else {
        let mut order: Vec<usize> = (0..found.times.len()).collect();
        order.sort_by(|&a, &b| found.times[a].total_cmp(&found.times[b]));
        found.times = order.iter().map(|&at| found.times[at]).collect();
        found.asked = order.iter().map(|&at| found.asked[at].clone()).collect();
        spread(&mut found.times);
    }
    let first = found.times[0];
    found.times.iter_mut().for_each(|time| *time -= first);
    Ok(found)
}

/// Spreads requests with the same time evenly over one second.
fn spread(times: &mut [f64]) {
    for second in times.chunk_by_mut(|a, b| a == b) {
        let count = second.len() as f64;
        second.iter_mut().enumerate().for_each(|(place, time)| *time += place as f64 / count);
    }
}

/// Returns the time of a log entry, in seconds.
fn moment(line: &str) -> Option<f64> {
    let inside = line.split_once('[')?.1.split_once(']')?.0;
    let moment = jiff::Zoned::strptime("%d/%b/%Y:%H:%M:%S %z", inside).ok()?;
    Some(moment.timestamp().as_second() as f64)
}

/// Returns the method and path of a log entry. Spaces in the path are kept; they are encoded when
/// the request is sent.
fn request(line: &str) -> Option<(String, String)> {
    let quoted = unquoted(line.split_once('"')?.1)?;
    let (method, rest) = quoted.split_once(' ')?;
    let path = match rest.rsplit_once(' ') {
        Some((path, version)) if version.starts_with("HTTP/") => path,
        _ => rest,
    };
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];
    let right = known.contains(&method) && path.starts_with('/');
    let lost = |c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER;
    (right && !path.chars().any(lost)).then(|| (method.to_owned(), path.to_owned()))
}

/// Returns the text before the closing quote, with the escapes of servers decoded: `\"`, `\\`, and
/// `\x22` for a byte. `None` if the closing quote is missing, or the text is not UTF-8.
fn unquoted(text: &str) -> Option<String> {
    let mut plain = Vec::new();
    let mut bytes = text.bytes();
    loop {
        match bytes.next()? {
            b'"' => return String::from_utf8(plain).ok(),
            b'\\' => match bytes.next()? {
                b'x' => {
                    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                    let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
                    plain.push((high * 16 + low) as u8);
                }
                b'n' => plain.push(b'\n'),
                b't' => plain.push(b'\t'),
                b'r' => plain.push(b'\r'),
                other => plain.push(other),
            },
            byte => plain.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_moments() {
        let found = replay("\u{feff}# seconds\n10.5\n10\n12\n").expect("moments");
        assert_eq!(found.times, [0.0, 0.5, 2.0]);
    }

    #[test]
    fn a_log_gives_moments_and_paths() {
        let log = r#"1.2.3.4 - - [23/Nov/2026:10:00:01 +0000] "GET /a?b HTTP/1.1" 200 5 "-" "curl"
1.2.3.4 - - [23/Nov/2026:11:00:01 +0100] "POST /c HTTP/1.1" 200 5
1.2.3.4 - - [23/Nov/2026:10:00:01 +0000] "\x16\x03" 400 5
1.2.3.4 - - [23/Nov/2026:10:00:03 +0000] "GET /d HTTP/1.0" 200 5"#;
        let found = replay(log).expect("a log");
        assert_eq!(found.times, [0.0, 0.5, 2.0]);
        assert_eq!(found.asked[1], ("POST".to_owned(), "/c".to_owned()));
        assert_eq!(found.skipped, 1);
    }

    #[test]
    fn blanks_quotes_and_escapes_of_a_request_line_are_kept() {
        let of = |line: &str| {
            let line = format!("1.2.3.4 - - [23/Nov/2026:10:00:01 +0000] \"{line}\" 200 5");
            request(&line).map(|(_, path)| path)
        };
        assert_eq!(of("GET /a b c HTTP/1.1").as_deref(), Some("/a b c"));
        assert_eq!(of(r"GET /q?x=\x22y HTTP/1.1").as_deref(), Some("/q?x=\"y"));
        assert_eq!(of(r#"GET /q?x=\"y\\ HTTP/2.0"#).as_deref(), Some(r#"/q?x="y\"#));
        assert_eq!(of(r"GET /\xC3\xA9 HTTP/1.1").as_deref(), Some("/é"));
        assert_eq!(of("GET /plain").as_deref(), Some("/plain"));
        for lost in [r"GET /\xE9 HTTP/1.1", r"GET /a\x0ab HTTP/1.1", "GET /\u{fffd} HTTP/1.1", "-"]
        {
            assert_eq!(of(lost), None, "{lost}");
        }
    }

    #[test]
    fn anything_else_has_its_line() {
        for text in ["1\nx\n", "NaN\n", "inf\n"] {
            let error = replay(text).expect_err(text).to_string();
            assert!(error.starts_with("line "), "{error}");
        }
        assert!(replay("\n").is_err());
    }
}
