//! Reads profiles of other tools, with one module per format. The format is detected from the
//! contents, not from the file name.
//!
//! Parsers accept untrusted bytes: they return a profile, or an error with the position and the
//! fault, and never panic.

mod collapsed;
mod firefox;
mod perf_script;
mod pprof;
mod speedscope;
mod stackprof;
mod v8;

use crate::model::Profile;
use flate2::bufread::MultiGzDecoder;
use serde_json::Value;
use std::io::Read;

/// Maximum decompressed size, bytes. No profile is that large, but a few bytes can be crafted to
/// expand to it.
const LARGEST: u64 = 1 << 29;

/// Supported formats, for the error that lists them.
const KNOWN: &str = "
  collapsed stacks (py-spy --format raw, rbspy --format collapsed, stackcollapse-*.pl)
  pprof (.pb, .pb.gz: Go, rbspy --format pprof)
  speedscope (py-spy or rbspy --format speedscope)
  Firefox Profiler (samply, Vernier, the Gecko profiler; .json or .json.gz)
  stackprof (stackprof --json DUMP, of a dump taken with raw: true)
  V8's CPU profile (node --cpu-prof, Chrome's developer tools; .cpuprofile)
  perf script (perf script --header -i perf.data)";

/// Initial bytes of files that must be converted before they can be read, each with a message that
/// explains how.
const OTHERS: [(&[u8], &str); 4] = [
    (
        b"PERFILE2",
        "this is perf's own recording, which is not read; turn it into text: perf script --header -i perf.data > profile.txt",
    ),
    (
        b"FLR\0",
        "this is a recording of Java's (JFR), which is not read; turn it into collapsed stacks: jfrconv --cpu -o collapsed FILE.jfr profile.collapsed (of async-profiler)",
    ),
    (b"\xff\xfe", "this is UTF-16 text; save it as UTF-8"),
    (b"\xfe\xff", "this is UTF-16 text; save it as UTF-8"),
];

/// The reason why a profile could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The format is unknown.
    #[error("`{file}` {seen}; expected a profile in one of these formats:{KNOWN}")]
    Unknown {
        /// Name of the file.
        file: String,
        /// A description of the file's contents, as the rest of a sentence.
        seen: String,
    },
    /// The format is known, but the file has no samples.
    #[error("`{file}` contains no samples; was the program busy while it was profiled?")]
    Empty {
        /// Name of the file.
        file: String,
    },
    /// The format is known, but the contents are invalid.
    #[error("`{file}`{}: {problem}", .line.map_or_else(String::new, |line| format!(", line {line}")))]
    Content {
        /// Name of the file.
        file: String,
        /// The line number, counted from 1, if the format has lines.
        line: Option<usize>,
        /// The problem, and how to fix it.
        problem: String,
    },
}

/// A problem within a file, as reported by its parser.
#[derive(Debug, PartialEq)]
pub(crate) struct Problem {
    line: Option<usize>,
    what: String,
}

impl Problem {
    fn new(what: impl Into<String>) -> Self {
        Self { line: None, what: what.into() }
    }

    fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }
}

/// Reads a profile; `file` names it in errors. Gzip data is decompressed. O(bytes).
///
/// # Errors
/// [`ImportError`], with the file, the problem, and the supported formats.
pub fn load_bytes(bytes: &[u8], file: &str) -> Result<Profile, ImportError> {
    let unpacked;
    let bytes = match bytes.starts_with(&[0x1f, 0x8b]) {
        true => {
            unpacked = unpack(bytes).map_err(|problem| content(file, problem))?;
            unpacked.as_slice()
        }
        false => bytes,
    };
    let mut profile = parse(bytes, file)?;
    if profile.stacks.is_empty() {
        return Err(ImportError::Empty { file: file.to_owned() });
    }
    if profile.name.is_empty() {
        profile.name = file.to_owned();
    }
    Ok(profile)
}

fn parse(bytes: &[u8], file: &str) -> Result<Profile, ImportError> {
    let told = |problem| content(file, problem);
    let unknown =
        |seen: &str| ImportError::Unknown { file: file.to_owned(), seen: seen.to_owned() };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(unknown("is empty"));
    }
    // Loading a Marshal file can execute code from the file, so it is rejected.
    if bytes.starts_with(b"\x04\x08") {
        return Err(told(Problem::new(
            "this is stackprof's own dump (Ruby's Marshal), which is not read; turn it into JSON: stackprof --json DUMP > profile.json",
        )));
    }
    for (start, what) in OTHERS {
        if bytes.starts_with(start) {
            return Err(told(Problem::new(what)));
        }
    }
    // Every pprof message contains the empty string and therefore a zero byte; text contains none.
    if bytes.contains(&0) {
        return pprof::parse(bytes).map_err(told);
    }
    // Names may not be UTF-8: the kernel truncates thread names at 15 bytes, possibly within a
    // character.
    let text = &*String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'[')) {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            told(Problem::at(error.line(), format!("column {}: {error}", error.column())))
        })?;
        if speedscope::is_it(&value) {
            return speedscope::parse(&value).map_err(told);
        }
        if firefox::is_it(&value) {
            return firefox::parse(&value).map_err(told);
        }
        if v8::is_it(&value) {
            return v8::parse(&value).map_err(told);
        }
        if stackprof::is_it(&value) {
            return stackprof::parse(&value).map_err(told);
        }
        let keys: Vec<&str> =
            value.as_object().into_iter().flatten().take(6).map(|(key, _)| key.as_str()).collect();
        let seen = match keys.is_empty() {
            true => "is JSON".to_owned(),
            false => format!("is JSON with the fields {}", keys.join(", ")),
        };
        return Err(unknown(&seen));
    }
    if perf_script::is_it(text) {
        return perf_script::parse(text).map_err(told);
    }
    // The line after the first one of a script may look like a stack: `puts 1`.
    if collapsed::is_it(text) && !text.starts_with("#!") {
        return collapsed::parse(text).map_err(told);
    }
    if std::str::from_utf8(bytes).is_err() {
        return Err(unknown("is neither text nor pprof's protocol buffers"));
    }
    let first: String = text.trim_start().lines().next().unwrap_or("").chars().take(40).collect();
    Err(unknown(&format!("begins with `{}`", first.escape_debug())))
}

fn content(file: &str, problem: Problem) -> ImportError {
    ImportError::Content { file: file.to_owned(), line: problem.line, problem: problem.what }
}

fn unpack(bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(LARGEST + 1).read_to_end(&mut unpacked);
    match read {
        Err(error) => Err(Problem::new(format!(
            "the packed data break off or are damaged ({error}); write the file anew"
        ))),
        Ok(_) if unpacked.len() as u64 > LARGEST => Err(Problem::new(
            "unpacked it is larger than 512 MiB; sample more rarely, or for a shorter time",
        )),
        Ok(_) => Ok(unpacked),
    }
}

/// Returns a field of an object as text; empty if missing.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or("")
}

/// Returns a field of an object as a list; empty if missing.
fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns a line number, if it is valid.
fn line(value: Option<&Value>) -> Option<u32> {
    value.and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok()).filter(|&line| line > 0)
}

/// Returns a string that is not empty.
fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
