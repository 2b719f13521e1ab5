//! Converts recordings of a browser's requests (HTTP Archive 1.2, W3C draft) to sessions: the
//! requests to one server in order, with the pauses between them as think time. Cookies and
//! connections are the generator's own, as for a new visitor.

use super::ReadingError;
use crate::scenario::Request;
use crate::target::Target;
use serde::Deserialize;

/// Shortest pause that is attributed to the user and not to the browser, in seconds.
const SHORTEST_PAUSE: f64 = 0.5;

#[derive(Deserialize)]
#[serde(expecting = "an object with a `log`")]
struct Har {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    started_date_time: String,
    #[serde(default)]
    time: f64,
    request: HarRequest,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarRequest {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Field>,
    #[serde(default)]
    post_data: Option<HarPostData>,
}

#[derive(Deserialize)]
struct Field {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct HarPostData {
    #[serde(default)]
    text: String,
}

/// Returns the requests to the server of the first one, and the number of requests to other
/// servers.
///
/// # Errors
/// If the text is not a HAR recording; includes the line or the number of the entry.
pub fn session_of_har(text: &str) -> Result<(Vec<Request>, usize), ReadingError> {
    let har: Har = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
        match error.is_eof() {
            true => ReadingError(format!("it is empty or breaks off, in line {}", error.line())),
            false => ReadingError(format!("not a HAR file: {error}")),
        }
    })?;
    let mut requests: Vec<Request> = Vec::new();
    let (mut elsewhere, mut ended) = (0, None);
    for (number, entry) in har.log.entries.into_iter().enumerate() {
        let wrong = |why: String| ReadingError(format!("entry {}: {why}", number + 1));
        if !entry.request.url.starts_with("http") {
            // Images embedded in the page, and web sockets.
            continue;
        }
        let target = Target::parse(&entry.request.url).map_err(|error| wrong(error.to_string()))?;
        let own = requests.first().map(|first| &first.target);
        if own.is_some_and(|own| {
            (own.tls, &own.host, own.port) != (target.tls, &target.host, target.port)
        }) {
            elsewhere += 1;
            continue;
        }
        let method = entry.request.method;
        if method.is_empty() || !method.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return Err(wrong(format!("`{method}` is not a method")));
        }
        let began = seconds_of(&entry.started_date_time);
        let pause = began.zip(ended).map_or(0.0, |(began, ended): (f64, f64)| began - ended);
        let time = if entry.time.is_finite() { entry.time.max(0.0) / 1e3 } else { 0.0 };
        ended = began.map(|began| began + time).or(ended);
        let fields = entry.request.headers.into_iter().filter(|field| is_users(&field.name));
        requests.push(Request {
            method,
            target,
            fields: fields.map(|field| (field.name, field.value)).collect(),
            has_body: entry.request.post_data.is_some(),
            body: entry
                .request
                .post_data
                .map(|posted| posted.text.into_bytes())
                .unwrap_or_default(),
            weight: 1.0,
            think_seconds: if pause >= SHORTEST_PAUSE { pause } else { 0.0 },
        });
    }
    if requests.is_empty() {
        return Err(ReadingError("it contains no request".to_owned()));
    }
    Ok((requests, elsewhere))
}

/// Returns true if a header field is sent again; fields set by the connection, the generator or
/// cookies are not.
fn is_users(name: &str) -> bool {
    let not = [
        "host",
        "connection",
        "content-length",
        "cookie",
        "accept-encoding",
        "transfer-encoding",
        "te",
        "upgrade",
        "keep-alive",
        "proxy-connection",
        "if-none-match",
        "if-modified-since",
    ];
    !name.starts_with(':') && !not.iter().any(|own| name.eq_ignore_ascii_case(own))
}

/// Parses a time such as `2026-11-23T10:00:01.250+01:00`; returns seconds since an arbitrary
/// origin, for differences only.
fn seconds_of(moment: &str) -> Option<f64> {
    let moment: jiff::Timestamp = moment.parse().ok()?;
    Some(moment.as_microsecond() as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HAR: &str = r#"{"log":{"version":"1.2","entries":[
      {"startedDateTime":"2026-11-23T10:00:00.000Z","time":120.5,"request":{"method":"GET","url":"https://shop.example/","headers":[
        {"name":"Accept","value":"text/html"},{"name":"Cookie","value":"s=1"},{"name":":authority","value":"shop.example"}]}},
      {"startedDateTime":"2026-11-23T10:00:00.200Z","time":10,"request":{"method":"GET","url":"https://cdn.example/x.js"}},
      {"startedDateTime":"2026-11-23T10:00:00.150Z","time":30,"request":{"method":"GET","url":"https://shop.example/style.css"}},
      {"startedDateTime":"2026-11-23T10:00:03.180Z","time":30,"request":{"method":"POST","url":"https://shop.example/login","postData":{"mimeType":"x","text":"a=b"}}}]}}"#;

    #[test]
    fn a_recording_becomes_a_session_on_one_server() {
        let (requests, elsewhere) = session_of_har(HAR).expect("a recording");
        assert_eq!((requests.len(), elsewhere), (3, 1));
        assert_eq!(requests[0].fields, [("Accept".to_owned(), "text/html".to_owned())]);
        assert_eq!(requests[1].think_seconds, 0.0);
        assert!((requests[2].think_seconds - 3.0).abs() < 1e-6);
        assert_eq!(requests[2].body, b"a=b");
    }

    #[test]
    fn what_is_no_recording_says_where() {
        for (text, said) in [
            ("{", "line 1"),
            (r#"{"log":{"entries":[]}}"#, "no request"),
            (r#"{"log":{"entries":[{"request":{"method":"G T","url":"http://a/"}}]}}"#, "entry 1"),
        ] {
            let error = session_of_har(text).expect_err(text).to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
