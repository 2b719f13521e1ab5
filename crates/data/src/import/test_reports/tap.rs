//! The Test Anything Protocol, versions 12 to 14, with times: `duration_ms` in the block below a result (node), or `# time=12.3ms` behind it
//! (tap, tape, prove's `--timer` has none per test).
//!
//! Of subtests, which stand indented before the line of what holds them, those that hold none are the tests; they are called by all that
//! holds them, too. A version line, or a plan from the start, begins another run.

use super::{Status, Tests};
use crate::import::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;

/// Spaces by which a subtest is indented.
const INDENT: usize = 4;
/// Deepest nesting.
const MAX_DEPTH: usize = 100;

pub(in crate::import) fn recognise(head: &Head<'_>) -> bool {
    let mut lines = head.text.lines().map(str::trim_end);
    let is_version = |line: &str| line.starts_with("TAP version 1");
    lines.clone().take(20).any(is_version)
        || (lines.clone().any(|line| plan(line).is_some())
            && lines.any(|line| result(line).is_some()))
}

/// A result whose time may still come.
struct Pending {
    depth: usize,
    name: String,
    seconds: Option<f64>,
    status: Status,
    message: Option<String>,
}

struct Reader<'a> {
    tests: Tests<'a>,
    /// What is said to hold the subtests of each depth.
    groups: Vec<String>,
    /// The result that was read last.
    pending: Option<Pending>,
    /// Of each depth whether results stood there since the last one of a depth less.
    has_below: Vec<bool>,
}

pub(in crate::import) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let tests = Tests::new(context, "TAP")?;
    let mut reader = Reader { tests, groups: Vec::new(), pending: None, has_below: Vec::new() };
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut last = 1;
    while let Some(line) = lines.next()? {
        last = line.number;
        let taken = reader.line(line.text);
        taken.map_err(|problem| reader.tests.recorder.at(last, problem))?;
    }
    let taken = reader.settle();
    taken.map_err(|problem| reader.tests.recorder.at(last, problem))?;
    reader.tests.finish(
        "results without times; have them written: `duration_ms` below each (node --test), or `# time=` behind it",
    )
}

impl Reader<'_> {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let depth = indent / INDENT;
        if let Some((status, name, seconds)) =
            result(text).filter(|_| indent.is_multiple_of(INDENT))
        {
            self.settle()?;
            if depth > MAX_DEPTH {
                return Err(format!("subtests nested more than {MAX_DEPTH} deep"));
            }
            let holds_others = self.has_below.get(depth + 1).copied().unwrap_or(false);
            self.has_below.resize(depth + 1, false);
            self.has_below[depth] = true;
            if holds_others {
                return Ok(());
            }
            let groups = self.groups.iter().take(depth).filter(|group| !group.is_empty());
            let mut full: Vec<&str> = groups.map(String::as_str).collect();
            full.push(name);
            let name = full.join(": ");
            self.pending = Some(Pending { depth, name, seconds, status, message: None });
        } else if let Some(name) = text.strip_prefix("# Subtest: ") {
            self.settle()?;
            if depth > MAX_DEPTH {
                return Err(format!("subtests nested more than {MAX_DEPTH} deep"));
            }
            self.groups.resize(depth, String::new());
            self.groups.push(name.trim_end().to_owned());
        } else if text.starts_with("TAP version 1") && indent == 0 {
            self.settle()?;
            self.tests.begin_run();
            self.has_below.clear();
            self.groups.clear();
        } else if let (Some(pending), Some(said)) = (
            &mut self.pending,
            ["error:", "message:"].iter().find_map(|key| text.strip_prefix(key)),
        ) && indent == pending.depth * INDENT + 2
        {
            let said = said.trim().trim_matches(['\'', '"']);
            pending.message =
                Some(said.to_owned()).filter(|said| !matches!(said.as_str(), "" | "|-" | "|"));
        } else if let (Some(pending), Some(time)) =
            (&mut self.pending, text.strip_prefix("duration_ms:"))
            && indent == pending.depth * INDENT + 2
        {
            let milliseconds = plain(time.trim());
            let wrong = || format!("`{}`; expected milliseconds", crate::excerpt::excerpt(text));
            pending.seconds = Some(milliseconds.ok_or_else(wrong)? / 1e3);
        }
        Ok(())
    }

    /// Adds the result that was read last: what follows is not about it.
    fn settle(&mut self) -> Result<(), String> {
        let Some(Pending { name, seconds, status, message, .. }) = self.pending.take() else {
            return Ok(());
        };
        self.tests.add(&name, seconds, status)?;
        self.tests.more(|test| test.message = message.filter(|_| status == Status::Failed));
        Ok(())
    }
}

/// The number of tests of a plan line.
fn plan(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("1..")?;
    rest.split([' ', '#']).next()?.parse().ok()
}

/// What a line says of a test: how it ended, its name, its time if that stands there.
fn result(text: &str) -> Option<(Status, &str, Option<f64>)> {
    let (passed, rest) = match text.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix("ok")?),
    };
    if !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let rest = rest.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at(digits);
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    // A `#` that is escaped belongs to the name.
    let mark = rest
        .match_indices('#')
        .map(|(at, _)| at)
        .find(|&at| !rest[..at].ends_with('\\') && (at == 0 || rest[..at].ends_with(' ')));
    let (name, directive) = rest.split_at(mark.unwrap_or(rest.len()));
    let directive = directive.trim_start_matches('#').trim();
    let is =
        |word: &str| directive.get(..word.len()).is_some_and(|own| own.eq_ignore_ascii_case(word));
    let status = match passed {
        _ if is("skip") => Status::Skipped,
        true => Status::Passed,
        // What is still to do may fail.
        false if is("todo") => Status::Passed,
        false => Status::Failed,
    };
    let name = if name.trim().is_empty() { number } else { name.trim() };
    Some((status, if name.is_empty() { "test" } else { name }, time_behind(directive)))
}

/// `time=12.3ms`, `time=1.2s`.
fn time_behind(directive: &str) -> Option<f64> {
    let text = directive.strip_prefix("time=")?.split_whitespace().next()?;
    match text.strip_suffix("ms") {
        Some(number) => plain(number).map(|ms| ms / 1e3),
        None => plain(text.strip_suffix('s')?),
    }
}
