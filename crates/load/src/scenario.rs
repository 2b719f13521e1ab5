//! The requests to send: weighted requests, or the steps of a session with cookies and think time.
//! Requests are serialized here; their constant parts are prepared once.

use crate::target::{Target, encode_value};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Method, as in `GET`.
    pub method: String,
    /// Target of the request.
    pub target: Target,
    /// Header fields other than `Host`, `User-Agent` and `Content-Length`.
    pub fields: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
    /// True if a body was given, even an empty one: its length is then sent with every method.
    pub has_body: bool,
    /// Relative frequency; not used for steps of a session.
    pub weight: f64,
    /// Think time before the request, in seconds; only for steps of a session.
    pub think_seconds: f64,
}

impl Request {
    /// Creates a `GET` request.
    pub fn get(target: Target) -> Self {
        Self {
            method: "GET".to_owned(),
            target,
            fields: Vec::new(),
            body: Vec::new(),
            has_body: false,
            weight: 1.0,
            think_seconds: 0.0,
        }
    }
}

/// The requests to one server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The requests; all go to the server of the first.
    pub requests: Vec<Request>,
    /// True if the requests are the ordered steps of a session that keeps cookies. Otherwise they
    /// are independent and mixed by weight.
    pub session: bool,
    /// Names of the columns whose values replace `{{name}}` in paths, fields and bodies.
    pub columns: Vec<String>,
    /// Rows of values; each request, or session, uses the next row.
    pub values: Vec<Vec<String>>,
    /// Index of the request to which each row belongs; empty if the requests are mixed by weight.
    #[serde(default)]
    pub request_of_row: Vec<usize>,
}

/// Reasons why a scenario is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// The requests go to two servers.
    #[error("{0} and {1} are different servers: all requests of a side must go to the same one")]
    TwoServers(String, String),
    /// No column has the name of a placeholder.
    #[error("{{{{{name}}}}}: there is no such column; known are {known}")]
    NoColumn {
        /// Name of the placeholder.
        name: String,
        /// Names of the columns.
        known: String,
    },
    /// A character that is not allowed in a request.
    #[error("{0} is not allowed in a request: it has a line break or another control character")]
    Control(String),
    /// An invalid field name.
    #[error("`{0}` is not a valid name of a header field: it contains an invalid character")]
    Name(String),
    /// A given field that conflicts with the length of the body.
    #[error(
        "the field `{field}` does not match the body: omit it, the length of each body is sent automatically"
    )]
    Length {
        /// The field as it was given.
        field: String,
    },
}

impl Scenario {
    /// Creates a scenario with one request.
    pub fn of(request: Request) -> Self {
        Self {
            requests: vec![request],
            session: false,
            columns: Vec::new(),
            values: Vec::new(),
            request_of_row: Vec::new(),
        }
    }
}

/// Cookies of one session: names and values. Domains and paths are ignored because there is only
/// one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Jar(BTreeMap<String, String>);

impl Jar {
    /// Applies the value of a `Set-Cookie` field (RFC 6265, 5.2). An expired cookie is removed.
    pub(crate) fn take(&mut self, set: &str) {
        let mut parts = set.split(';');
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
            return;
        };
        let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
        let ended = parts.any(|part| {
            let (key, value) = part.trim().split_once('=').unwrap_or((part.trim(), ""));
            key.eq_ignore_ascii_case("max-age")
                && value.trim().parse::<i64>().is_ok_and(|age| age <= 0)
        });
        if ended {
            self.0.remove(&name);
        } else {
            self.0.insert(name, value);
        }
    }

    fn field(&self) -> Option<String> {
        let pairs: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
enum TemplatePart {
    Text(Vec<u8>),
    Value(usize),
}

#[derive(Clone, Debug)]
struct Template(Vec<TemplatePart>);

impl Template {
    fn of(text: &[u8], columns: &[String]) -> Result<Self, ScenarioError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !columns.is_empty()
            && let Some(start) = memchr::memmem::find(rest, b"{{")
            && let Some(length) = memchr::memmem::find(&rest[start..], b"}}")
        {
            let name = String::from_utf8_lossy(&rest[start + 2..start + length]).trim().to_owned();
            let column = columns.iter().position(|own| *own == name);
            let column = column
                .ok_or_else(|| ScenarioError::NoColumn { name, known: columns.join(", ") })?;
            parts.push(TemplatePart::Text(rest[..start].to_vec()));
            parts.push(TemplatePart::Value(column));
            rest = &rest[start + length + 2..];
        }
        parts.push(TemplatePart::Text(rest.to_vec()));
        Ok(Self(parts))
    }

    fn is_fixed(&self) -> bool {
        self.0.len() == 1
    }

    fn fill(&self, row: &[String], into: &mut Vec<u8>) {
        self.fill_by(row, into, |value, into| into.extend_from_slice(value.as_bytes()));
    }

    /// Fills the target of a request; characters of values that are not allowed in a target are
    /// encoded.
    fn fill_path(&self, row: &[String], into: &mut Vec<u8>) {
        self.fill_by(row, into, encode_value);
    }

    fn fill_by(&self, row: &[String], into: &mut Vec<u8>, write: impl Fn(&str, &mut Vec<u8>)) {
        for part in &self.0 {
            match part {
                TemplatePart::Text(text) => into.extend_from_slice(text),
                TemplatePart::Value(column) => {
                    write(row.get(*column).map_or("", String::as_str), into)
                }
            }
        }
    }
}

/// A prepared request.
#[derive(Clone, Debug)]
struct RequestTemplate {
    method: String,
    path: Template,
    fields: Vec<(String, Template)>,
    body: Template,
    /// True if a body was given, even an empty one.
    has_body: bool,
    /// The whole request in HTTP/1 format, if no part of it varies.
    fixed: Option<Vec<u8>>,
}

/// Returns true for a character that is allowed in field names (RFC 9110, 5.6.2).
fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// A prepared scenario.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    requests: Vec<RequestTemplate>,
    /// Cumulative shares of the requests.
    shares: Vec<f64>,
    values: Vec<Vec<String>>,
    request_of_row: Vec<usize>,
    pub(crate) session: bool,
    pub(crate) think_nanoseconds: Vec<u64>,
    tls: bool,
}

/// Target of a redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RedirectTarget {
    /// Path and query on the same server.
    pub path: String,
    /// True if the request is repeated as a GET without a body.
    pub as_get: bool,
}

/// The variable parts of a request: the row of values and the cookies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker<'a> {
    pub row: u64,
    pub jar: Option<&'a Jar>,
}

impl Prepared {
    /// Prepares a scenario. `close`: each connection serves one request.
    ///
    /// # Errors
    /// If it goes to two servers, or names an unknown column.
    pub(crate) fn of(scenario: &Scenario, close: bool) -> Result<Self, ScenarioError> {
        let columns = &scenario.columns;
        let first = &scenario.requests[0].target;
        let mut requests = Vec::new();
        for request in &scenario.requests {
            let target = &request.target;
            if (target.tls, &target.host, target.port, &target.socket)
                != (first.tls, &first.host, first.port, &first.socket)
            {
                return Err(ScenarioError::TwoServers(first.to_string(), target.to_string()));
            }
            let given =
                |name: &str| request.fields.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
            let mut fields = Vec::new();
            let mut own = |name: &str, value: String| -> Result<(), ScenarioError> {
                let odd = |text: &str| text.chars().any(|c| c.is_control() && c != '\t');
                if name.is_empty() || !name.bytes().all(is_of_token) {
                    return Err(ScenarioError::Name(name.to_owned()));
                }
                if odd(&value) {
                    return Err(ScenarioError::Control(format!("the field `{name}`")));
                }
                fields.push((name.to_owned(), Template::of(value.as_bytes(), columns)?));
                Ok(())
            };
            if !given("host") {
                own("Host", target.authority())?;
            }
            if !given("user-agent") {
                own("User-Agent", concat!("assay/", env!("CARGO_PKG_VERSION")).to_owned())?;
            }
            if !given("accept") {
                own("Accept", "*/*".to_owned())?;
            }
            if let Some(value) = target.authorization().filter(|_| !given("authorization")) {
                own("Authorization", value)?;
            }
            if close && !given("connection") {
                own("Connection", "close".to_owned())?;
            }
            for (name, value) in &request.fields {
                // The length of each body is written when the request is sent.
                let field = format!("{name}: {value}");
                if name.eq_ignore_ascii_case("content-length") {
                    let fixed = Template::of(&request.body, columns)?.is_fixed();
                    let fits = value.trim().parse() == Ok(request.body.len());
                    if !(fixed && fits) {
                        return Err(ScenarioError::Length { field });
                    }
                    continue;
                }
                if name.eq_ignore_ascii_case("transfer-encoding") {
                    return Err(ScenarioError::Length { field });
                }
                own(name, value.clone())?;
            }
            if target.path.contains(|c: char| c.is_control() || c == ' ') {
                return Err(ScenarioError::Control(format!("the path `{}`", target.path)));
            }
            let mut ready = RequestTemplate {
                method: request.method.clone(),
                path: Template::of(target.path.as_bytes(), columns)?,
                fields,
                body: Template::of(&request.body, columns)?,
                has_body: request.has_body,
                fixed: None,
            };
            let varies = !ready.path.is_fixed()
                || !ready.body.is_fixed()
                || ready.fields.iter().any(|(_, value)| !value.is_fixed());
            if !varies {
                let mut bytes = Vec::new();
                ready.write(&[], None, &mut bytes);
                ready.fixed = Some(bytes);
            }
            requests.push(ready);
        }
        let weights: f64 = scenario.requests.iter().map(|request| request.weight).sum();
        let mut sum = 0.0;
        let shares = scenario.requests.iter().map(|request| {
            sum += request.weight / weights;
            sum
        });
        Ok(Self {
            shares: shares.collect(),
            values: scenario.values.clone(),
            request_of_row: scenario.request_of_row.clone(),
            session: scenario.session,
            think_nanoseconds: scenario
                .requests
                .iter()
                .map(|request| crate::clock::nanoseconds(request.think_seconds))
                .collect(),
            tls: first.tls,
            requests,
        })
    }

    /// Returns the number of requests.
    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Returns the request made by arrival `index`: the first step of a session, that of its row, or
    /// one of the mix.
    /// They are mixed evenly using multiples of the golden ratio, which are maximally spread
    /// (Weyl's sequence).
    pub(crate) fn chosen(&self, index: u64) -> usize {
        if self.session || self.requests.len() == 1 {
            return 0;
        }
        if !self.request_of_row.is_empty() {
            return self.request_of_row[(index % self.request_of_row.len() as u64) as usize];
        }
        let place = (index as f64 * 0.618_033_988_749_894_9).fract();
        self.shares.iter().position(|&share| place < share).unwrap_or(self.requests.len() - 1)
    }

    fn row(&self, index: u64) -> &[String] {
        if self.values.is_empty() {
            &[]
        } else {
            &self.values[(index % self.values.len() as u64) as usize]
        }
    }

    /// Returns the target of a request as it is sent.
    pub(crate) fn path(&self, request: usize, row: u64) -> String {
        let mut bytes = Vec::new();
        self.requests[request].path.fill_path(self.row(row), &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns true if a redirection with this status changes the request to a GET without a body
    /// (RFC 9110, 15.4).
    pub(crate) fn becomes_get(&self, request: usize, status: u16) -> bool {
        let method = self.requests[request].method.as_str();
        match status {
            301 | 302 => method == "POST",
            303 => !matches!(method, "GET" | "HEAD"),
            _ => false,
        }
    }

    /// Returns true if the answer to the request has no body.
    pub(crate) fn is_head(&self, request: usize) -> bool {
        self.requests[request].method == "HEAD"
    }

    /// Appends a request in HTTP/1 format.
    pub(crate) fn write(&self, request: usize, asker: Asker<'_>, into: &mut Vec<u8>) {
        let ready = &self.requests[request];
        let cookies = asker.jar.and_then(Jar::field);
        match (&ready.fixed, &cookies) {
            (Some(bytes), None) => into.extend_from_slice(bytes),
            _ => ready.write(self.row(asker.row), cookies.as_deref(), into),
        }
    }

    /// Returns the bytes of a constant request.
    pub(crate) fn fixed(&self, request: usize) -> Option<&[u8]> {
        self.requests[request].fixed.as_deref()
    }

    /// Appends a redirected request to the same server.
    pub(crate) fn write_redirected(
        &self,
        request: usize,
        to: &RedirectTarget,
        asker: Asker<'_>,
        into: &mut Vec<u8>,
    ) {
        let cookies = asker.jar.and_then(Jar::field);
        self.redirected(request, to).write(self.row(asker.row), cookies.as_deref(), into);
    }

    fn redirected(&self, request: usize, to: &RedirectTarget) -> RequestTemplate {
        let own = &self.requests[request];
        let path = Template(vec![TemplatePart::Text(to.path.as_bytes().to_vec())]);
        let fields = own.fields.clone();
        match to.as_get {
            true => RequestTemplate {
                method: "GET".to_owned(),
                path,
                fields,
                body: Template(Vec::new()),
                has_body: false,
                fixed: None,
            },
            false => RequestTemplate { path, fixed: None, ..own.clone() },
        }
    }

    /// Returns a request for HTTP/2.
    pub(crate) fn of_http2(
        &self,
        request: usize,
        redirected: Option<&RedirectTarget>,
        asker: Asker<'_>,
    ) -> Option<(http::Request<()>, Bytes)> {
        let elsewhere = redirected.map(|to| self.redirected(request, to));
        let ready = elsewhere.as_ref().unwrap_or(&self.requests[request]);
        let row = self.row(asker.row);
        let filled = |template: &Template| {
            let mut bytes = Vec::new();
            template.fill(row, &mut bytes);
            bytes
        };
        let scheme = if self.tls { "https" } else { "http" };
        let mut path = Vec::new();
        ready.path.fill_path(row, &mut path);
        let (path, body) = (String::from_utf8(path).ok()?, filled(&ready.body));
        // The equivalent of `Host` in HTTP/1; a given field takes precedence.
        let host = ready.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
        let host = String::from_utf8(filled(&host?.1)).ok()?;
        let mut head = http::Request::builder()
            .method(ready.method.as_str())
            .uri(format!("{scheme}://{host}{path}"))
            .version(http::Version::HTTP_2);
        if ready.says_length(&body) {
            head = head.header("content-length", body.len());
        }
        for (name, value) in &ready.fields {
            // These fields are not allowed in HTTP/2 (RFC 9113, 8.2.2 and 8.3.1).
            let is_of_http1 = ["host", "connection", "keep-alive", "transfer-encoding", "upgrade"];
            if !is_of_http1.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                head = head.header(name.to_ascii_lowercase(), filled(value));
            }
        }
        if let Some(cookies) = asker.jar.and_then(Jar::field) {
            head = head.header("cookie", cookies);
        }
        Some((head.body(()).ok()?, Bytes::from(body)))
    }
}

impl RequestTemplate {
    /// Returns true if the length of the body is sent, even if it is 0.
    fn says_length(&self, body: &[u8]) -> bool {
        let sizeless = matches!(self.method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS");
        !body.is_empty() || !sizeless || self.has_body
    }

    fn write(&self, row: &[String], cookies: Option<&str>, into: &mut Vec<u8>) {
        into.extend_from_slice(self.method.as_bytes());
        into.push(b' ');
        self.path.fill_path(row, into);
        into.extend_from_slice(b" HTTP/1.1\r\n");
        for (name, value) in &self.fields {
            into.extend_from_slice(name.as_bytes());
            into.extend_from_slice(b": ");
            value.fill(row, into);
            into.extend_from_slice(b"\r\n");
        }
        if let Some(cookies) = cookies {
            into.extend_from_slice(b"Cookie: ");
            into.extend_from_slice(cookies.as_bytes());
            into.extend_from_slice(b"\r\n");
        }
        let mut body = Vec::new();
        self.body.fill(row, &mut body);
        if self.says_length(&body) {
            into.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
        }
        into.extend_from_slice(b"\r\n");
        into.extend_from_slice(&body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: Asker<'_> = Asker { row: 0, jar: None };

    fn get(url: &str) -> Request {
        Request::get(Target::parse(url).expect("a URL"))
    }

    fn text(prepared: &Prepared, request: usize, asker: Asker<'_>) -> String {
        let mut bytes = Vec::new();
        prepared.write(request, asker, &mut bytes);
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn a_request_has_what_servers_need() {
        let request = Request {
            method: "POST".to_owned(),
            fields: vec![("user-agent".to_owned(), "mine".to_owned())],
            body: b"a=1".to_vec(),
            ..get("http://u:p@localhost:81/x?y")
        };
        let written = text(&Prepared::of(&Scenario::of(request), true).expect("right"), 0, NOBODY);
        assert_eq!(
            written,
            "POST /x?y HTTP/1.1\r\nHost: localhost:81\r\nAccept: */*\r\nAuthorization: Basic dTpw\r\nConnection: close\r\n\
             user-agent: mine\r\nContent-Length: 3\r\n\r\na=1"
        );
    }

    #[test]
    fn values_fill_paths_fields_and_bodies_row_by_row() {
        let request = Request {
            fields: vec![("X".to_owned(), "{{ b }}".to_owned())],
            method: "PUT".to_owned(),
            body: b"<{{a}}{{b}}>".to_vec(),
            ..get("http://h/{{a}}/x")
        };
        let scenario = Scenario {
            columns: vec!["a".to_owned(), "b".to_owned()],
            values: vec![
                vec!["1".to_owned(), "2".to_owned()],
                vec!["33".to_owned(), String::new()],
            ],
            ..Scenario::of(request)
        };
        let prepared = Prepared::of(&scenario, false).expect("right");
        let first = text(&prepared, 0, NOBODY);
        assert!(first.starts_with("PUT /1/x ") && first.contains("X: 2\r\n"), "{first}");
        assert!(first.ends_with("Content-Length: 4\r\n\r\n<12>"), "{first}");
        assert!(text(&prepared, 0, Asker { row: 3, jar: None }).ends_with("<33>"));
        let (head, body) = prepared.of_http2(0, None, NOBODY).expect("a request");
        assert_eq!((head.uri().path(), &body[..]), ("/1/x", b"<12>".as_slice()));
        let unknown = Scenario { columns: vec!["c".to_owned()], ..scenario };
        assert!(matches!(Prepared::of(&unknown, false), Err(ScenarioError::NoColumn { .. })));
    }

    #[test]
    fn requests_are_mixed_by_their_weights_and_evenly() {
        let weighted = |url: &str, weight| Request { weight, ..get(url) };
        let requests = vec![weighted("http://h/a", 3.0), weighted("http://h/b", 1.0)];
        let scenario = Scenario { requests, ..Scenario::of(get("http://h/")) };
        let prepared = Prepared::of(&scenario, false).expect("right");
        let chosen: Vec<usize> = (0..1000).map(|index| prepared.chosen(index)).collect();
        for part in chosen.chunks(100) {
            let second: usize = part.iter().sum();
            assert!((23..=27).contains(&second), "{second} of a hundred");
        }
        let of_rows = Scenario { request_of_row: vec![0, 0, 1], ..scenario };
        let prepared = Prepared::of(&of_rows, false).expect("right");
        let chosen: Vec<usize> = (0..7).map(|index| prepared.chosen(index)).collect();
        assert_eq!(chosen, [0, 0, 1, 0, 0, 1, 0]);
        let other = Scenario {
            requests: vec![get("http://h/"), get("http://i/")],
            ..Scenario::of(get("http://h/"))
        };
        assert!(matches!(Prepared::of(&other, false), Err(ScenarioError::TwoServers(..))));
    }

    #[test]
    fn cookies_are_kept_and_end() {
        let mut jar = Jar::default();
        jar.take("id=1; Path=/; HttpOnly");
        jar.take("b = 2");
        jar.take("nonsense");
        assert_eq!(jar.field().as_deref(), Some("b=2; id=1"));
        jar.take("id=x; Max-Age=0");
        assert_eq!(jar.field().as_deref(), Some("b=2"));
        let prepared = Prepared::of(&Scenario::of(get("http://h/")), false).expect("right");
        assert!(text(&prepared, 0, Asker { row: 0, jar: Some(&jar) }).contains("Cookie: b=2\r\n"));
    }

    #[test]
    fn values_of_a_path_are_encoded_as_far_as_they_must_be() {
        let scenario = Scenario {
            columns: vec!["v".to_owned()],
            values: ["a b", "x&y=z", "café/..", "q\"t#u", "100%", "%41/%zz", ""]
                .map(|value| vec![value.to_owned()])
                .into(),
            ..Scenario::of(Request { body: b"{{v}}".to_vec(), ..get("http://h/{{v}}?q={{v}}") })
        };
        let prepared = Prepared::of(&scenario, false).expect("right");
        let sent = ["a%20b", "x&y=z", "caf%C3%A9/..", "q%22t%23u", "100%25", "%41/%25zz", ""];
        for (row, expected) in sent.into_iter().enumerate() {
            let asker = Asker { row: row as u64, jar: None };
            let written = text(&prepared, 0, asker);
            let first = format!("GET /{expected}?q={expected} HTTP/1.1\r\n");
            assert!(written.starts_with(&first), "{written}");
            assert!(written.ends_with(&format!("\r\n\r\n{}", scenario.values[row][0])));
            let (head, _) = prepared.of_http2(0, None, asker).expect("a request");
            let target = head.uri().path_and_query().map(|own| own.as_str().to_owned());
            assert_eq!(target, Some(format!("/{expected}?q={expected}")));
        }
    }

    #[test]
    fn the_length_of_a_body_is_sent_once() {
        let with = |fields: &[(&str, &str)], body: &str, has_body: bool| {
            let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
            let fields = fields.iter().map(own).collect();
            let request = Request { fields, body: body.into(), has_body, ..get("http://h/") };
            Prepared::of(&Scenario::of(request), false).map(|own| text(&own, 0, NOBODY))
        };
        let lengths = |written: &str| written.matches("Content-Length").count();
        let typed = with(&[("Content-Length", "3")], "abc", true).expect("it fits");
        assert_eq!(lengths(&typed), 1);
        assert!(with(&[("content-length", "4")], "abc", true).is_err());
        assert!(with(&[("Transfer-Encoding", "chunked")], "abc", true).is_err());
        let empty = with(&[], "", true).expect("a request");
        assert!(empty.contains("Content-Length: 0\r\n"), "{empty}");
        assert_eq!(lengths(&with(&[], "", false).expect("a request")), 0);
    }

    #[test]
    fn line_breaks_smuggle_nothing_and_names_are_names() {
        let with = |name: &str, value: &str| {
            let fields = vec![(name.to_owned(), value.to_owned())];
            Prepared::of(&Scenario::of(Request { fields, ..get("http://h/") }), false).map(|_| ())
        };
        assert!(matches!(with("X", "a\r\nY: b"), Err(ScenarioError::Control(_))));
        for name in ["", "X Y", "X(", "é", "X@"] {
            assert_eq!(with(name, "a"), Err(ScenarioError::Name(name.to_owned())));
        }
        assert_eq!(with("X-Request_ID", "a"), Ok(()));
    }

    #[test]
    fn http2_has_the_typed_host_and_the_length_of_the_body() {
        let fields = vec![("Host".to_owned(), "other.example:8".to_owned())];
        let request =
            Request { method: "POST".to_owned(), has_body: true, fields, ..get("http://h/") };
        let prepared = Prepared::of(&Scenario::of(request), false).expect("right");
        let (head, body) = prepared.of_http2(0, None, NOBODY).expect("a request");
        assert_eq!(head.uri().authority().map(|own| own.as_str()), Some("other.example:8"));
        assert_eq!(
            head.headers().get("content-length").map(|own| own.as_bytes()),
            Some(b"0".as_slice())
        );
        assert!(body.is_empty());
        let prepared = Prepared::of(&Scenario::of(get("http://h/x")), false).expect("right");
        let (head, _) = prepared.of_http2(0, None, NOBODY).expect("a request");
        assert!(head.headers().get("content-length").is_none());
        assert_eq!(head.uri().to_string(), "http://h/x");
    }
}
