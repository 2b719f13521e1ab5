//! The Test Anything Protocol (TAP), versions 12 to 14. Times are read from `duration_ms` in the
//! block below a result (node), or from `# time=12.3ms` after it (tap, tape). prove's `--timer`
//! prints no time per test.
//!
//! Subtests are indented. They precede the line of their parent, or follow it between braces (tap,
//! vitest). The innermost subtests are the tests, and their names are prefixed with the names of
//! their parents. A parent that failed although its subtests passed is a failed test without a
//! time. A new document begins with a version line, a file heading of `prove -v`, or a plan or
//! first result after a complete document. A missing or unmet plan, results out of sequence, and
//! `Bail out!` are errors of the report as a whole, as they are for prove. The numbers of node's
//! results are ignored, because they are wrong if a file fails.

use super::{Status, Tests};
use crate::import::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;
use std::borrow::Cow;

/// Indentation of a subtest, in spaces.
const INDENT: usize = 4;
/// Maximum nesting depth.
const MAX_DEPTH: usize = 100;

pub(in crate::import) fn recognise(head: &Head<'_>) -> bool {
    let lines = || head.text.lines().map(str::trim_end);
    let is_version = |line: &str| line.starts_with("TAP version 1");
    let has_result = || lines().any(|line| result(line).is_some());
    // The plan may be at the end, which is possibly far away, so two results in sequence suffice.
    let in_sequence = || {
        let mut numbers = lines().filter_map(|line| result(line)?.number);
        numbers.next() == Some(1) && numbers.next() == Some(2)
    };
    // `1..0` is followed by the reason for skipping everything.
    lines().take(20).any(is_version)
        || lines().any(|line| plan(line) == Some(0))
        || lines().any(|line| plan(line).is_some()) && has_result()
        || in_sequence()
}

/// A result whose message or time may be on the following lines.
struct Pending {
    depth: usize,
    name: String,
    seconds: Option<f64>,
    status: Status,
    message: Option<String>,
    /// True if the message is on a later line.
    says_more: bool,
    /// True if no block has followed the result, in which case only a comment can contain the
    /// message.
    is_bare: bool,
    /// The test's own name, if its line ends in a brace that may open its subtests.
    opens: Option<String>,
    /// True if the test contains subtests, which have the times.
    holds_others: bool,
}

/// The results at one depth, to be compared with their plan.
#[derive(Clone, Copy, Default)]
struct Level {
    plan: Option<u64>,
    results: u64,
    /// True if one of the results is a failure.
    has_failed: bool,
}

impl Level {
    fn is_kept(self) -> bool {
        self.plan == Some(self.results)
    }
}

/// A parent whose subtests follow it between braces.
struct Opened {
    depth: usize,
    /// Full name of the parent.
    name: String,
    has_failed: bool,
}

struct Reader<'a> {
    tests: Tests<'a>,
    /// Names of the stated parents of the subtests, by depth.
    groups: Vec<String>,
    /// The most recent result, which is not added yet.
    pending: Option<Pending>,
    /// The parents whose braces are open, outermost first.
    opened: Vec<Opened>,
    /// For each depth, the results since the last result at a lower depth.
    levels: Vec<Level>,
    /// Indentation of the open YAML block below a result.
    block: Option<usize>,
    /// True if this is output of `prove -v`, which ends each file with a line that looks like a
    /// result.
    is_prove: bool,
    /// True if the current document bailed out.
    bailed: bool,
    /// Error about the first result of the current document that is out of sequence.
    disorder: Option<String>,
    /// True if the current document has node's summary.
    is_node: bool,
    /// True if every name so far ends in the time of the test, as in `adds in 12ms`, which bats
    /// writes. `None` before the first name.
    names_end_in_times: Option<bool>,
}

pub(in crate::import) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut reader = Reader {
        tests: Tests::new(context, "TAP")?,
        groups: Vec::new(),
        pending: None,
        opened: Vec::new(),
        levels: vec![Level::default()],
        block: None,
        is_prove: false,
        bailed: false,
        disorder: None,
        is_node: false,
        names_end_in_times: None,
    };
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut last = 1;
    while let Some(line) = lines.next()? {
        last = line.number;
        let taken = reader.line(line.text);
        taken.map_err(|problem| reader.tests.recorder.at(last, problem))?;
    }
    let taken = reader.end_document();
    taken.map_err(|problem| reader.tests.recorder.at(last, problem))?;
    reader.tests.finish(
        "results without times; enable them: `duration_ms` below each (node --test), or `# time=` after it",
    )
}

impl Reader<'_> {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if let Some(block) = self.block {
            let is_over = indent == block && text.trim_end() == "...";
            if indent >= block || text.is_empty() {
                if is_over {
                    self.block = None;
                }
                return self.diagnostic(text, indent);
            }
            // The indentation ended without `...`, so the block was truncated.
            self.block = None;
        }
        let depth = indent / INDENT;
        let is_level = indent.is_multiple_of(INDENT);
        if let Some(found) = result(text).filter(|_| is_level) {
            self.open_braces(depth);
            self.result(depth, found)
        } else if let Some(count) = plan(text).filter(|_| is_level) {
            self.open_braces(depth);
            self.plan(depth, count)
        } else if text.trim_end() == "}"
            && is_level
            && self.opened.last().is_some_and(|opened| opened.depth == depth)
        {
            self.close_braces()
        } else if let Some(name) = text.strip_prefix("# Subtest: ") {
            self.settle()?;
            check_depth(depth)?;
            self.groups.resize(depth, String::new());
            self.groups.push(unescaped(name.trim_end()).into_owned());
            Ok(())
        } else if indent == 0 && self.level(0).is_kept() && text.starts_with("# suites ") {
            // No other program writes this line of the summary.
            self.is_node = true;
            Ok(())
        } else if text.starts_with("TAP version 1") && indent == 0 {
            self.end_document()
        } else if text.starts_with("Bail out!") {
            self.bailed = true;
            self.tests.fault(format!("it gave up: `{}`", crate::excerpt::excerpt(text.trim_end())));
            Ok(())
        } else if indent == 0 && is_heading_of_prove(text) {
            self.is_prove = true;
            self.end_document()
        } else {
            self.diagnostic(text, indent)
        }
    }

    fn result(&mut self, depth: usize, mut found: TestPoint<'_>) -> Result<(), String> {
        self.settle()?;
        check_depth(depth)?;
        let timed = time_in_name(&found.name);
        let so_far = self.names_end_in_times.unwrap_or(true);
        self.names_end_in_times = Some(so_far && timed.is_some());
        if let Some((name, seconds)) = timed.filter(|_| so_far) {
            found.seconds = found.seconds.or(Some(seconds));
            found.name = name.to_owned().into();
        }
        let is_bare = found.number.is_none() && found.name.is_empty();
        if depth == 0 && self.level(0).is_kept() {
            // This is the `ok` or `not ok` with which prove ends a file.
            if is_bare && self.is_prove {
                return Ok(());
            }
            if found.number == Some(1) {
                self.end_document()?;
            }
        }
        let below = self.levels.get(depth + 1).copied().unwrap_or_default();
        let holds_others = below.results > 0;
        self.close_below(depth);
        let level = self.level(depth);
        level.results += 1;
        level.has_failed |= found.status == Status::Failed;
        let due = level.results;
        if let Some(number) = found.number.filter(|number| *number != due) {
            self.disorder.get_or_insert_with(|| {
                format!("results are out of sequence: number {number} instead of {due}")
            });
        }
        // The parent is a test only if it failed on its own, for example during cleanup after its
        // subtests.
        if holds_others && (found.status != Status::Failed || below.has_failed) {
            return Ok(());
        }
        let number = due.to_string();
        let own = if found.name.is_empty() { number.as_str() } else { &*found.name };
        let groups = self.groups.iter().take(depth).filter(|group| !group.is_empty());
        let mut full: Vec<&str> = groups.map(String::as_str).collect();
        full.push(own);
        let name = full.join(": ");
        let opens = found.opens.then(|| own.to_owned());
        let TestPoint { mut status, seconds, .. } = found;
        if self.is_prove && !found.is_ok && status == Status::Skipped {
            // For prove a skipped test that is `not ok` has failed; other harnesses pass it.
            status = Status::Failed;
            self.level(depth).has_failed = true;
        }
        self.pending = Some(Pending {
            depth,
            name,
            seconds,
            status,
            message: None,
            says_more: false,
            is_bare: true,
            opens,
            holds_others,
        });
        Ok(())
    }

    /// If a result at `depth` follows a line that ended in a brace, makes the test of that line its
    /// parent.
    fn open_braces(&mut self, depth: usize) {
        let opens = |own: &Pending| own.opens.is_some() && own.is_bare && own.depth + 1 == depth;
        let Some(parent) = self.pending.take_if(|own| opens(own)) else { return };
        self.groups.resize(parent.depth, String::new());
        self.groups.extend(parent.opens);
        let (depth, name) = (parent.depth, parent.name);
        self.opened.push(Opened { depth, name, has_failed: parent.status == Status::Failed });
    }

    /// Ends the subtests of the parent that was opened last. The parent is a test only if it failed
    /// although its subtests did not.
    fn close_braces(&mut self) -> Result<(), String> {
        self.settle()?;
        let Some(Opened { depth, name, has_failed }) = self.opened.pop() else { return Ok(()) };
        let below = self.levels.get(depth + 1).copied().unwrap_or_default();
        self.close_below(depth);
        self.groups.truncate(depth);
        match has_failed && !below.has_failed {
            true => self.tests.add(&name, None, Status::Failed),
            false => Ok(()),
        }
    }

    fn plan(&mut self, depth: usize, count: u64) -> Result<(), String> {
        check_depth(depth)?;
        if depth == 0 && self.level(0).plan.is_some() {
            self.end_document()?;
        } else {
            self.settle()?;
        }
        self.close_below(depth);
        self.level(depth).plan = Some(count);
        Ok(())
    }

    /// Reads a diagnostic line below a result: the message and the time.
    fn diagnostic(&mut self, text: &str, indent: usize) -> Result<(), String> {
        let Some(pending) = &mut self.pending else { return Ok(()) };
        let own = pending.depth * INDENT + 2;
        let said = |text: &str| Some(text.trim().trim_matches(['\'', '"']).to_owned());
        let is_key = self.block == Some(indent);
        if text.trim_end() == "---" && indent >= own && pending.is_bare {
            pending.is_bare = false;
            self.block = Some(indent);
        } else if pending.says_more && text.starts_with("name:") {
            // vitest writes name and message of an error on consecutive lines.
        } else if pending.says_more && text.starts_with("message:") {
            pending.says_more = false;
            pending.message = said(&text["message:".len()..]);
        } else if pending.says_more && !text.is_empty() {
            pending.says_more = false;
            pending.message = said(text);
        } else if let Some(text) =
            ["error:", "message:"].iter().find_map(|key| text.strip_prefix(key))
            && is_key
        {
            match text.trim() {
                "" | "|-" | "|" | ">-" | ">" => pending.says_more = true,
                text => pending.message = said(text),
            }
        } else if let Some(time) = text.strip_prefix("duration_ms:")
            && is_key
        {
            let milliseconds = plain(time.trim().trim_matches(['\'', '"']));
            let wrong = || format!("`{}`; expected milliseconds", crate::excerpt::excerpt(text));
            let seconds = milliseconds.map(|time| Some(time / 1e3)).ok_or_else(wrong);
            pending.seconds = self.tests.time(seconds)?;
        } else if let Some(text) = text.strip_prefix('#')
            && pending.status == Status::Failed
            && pending.is_bare
            && pending.message.is_none()
            && indent == pending.depth * INDENT
        {
            // bats and busted give the reason for a failure in a comment. Other harnesses count
            // their tests there.
            pending.message = said(text).filter(|text| !text.is_empty() && !is_count(text));
        } else if self.block.is_none()
            && indent >= own
            && pending.message.is_none()
            && !text.is_empty()
            && !text.starts_with(['#', '.'])
        {
            // mocha writes the thrown error as plain text.
            pending.message = said(text);
        }
        Ok(())
    }

    fn level(&mut self, depth: usize) -> &mut Level {
        if self.levels.len() <= depth {
            self.levels.resize(depth + 1, Level::default());
        }
        &mut self.levels[depth]
    }

    /// Ends the subtests at all greater depths.
    fn close_below(&mut self, depth: usize) {
        for level in self.levels.split_off(self.levels.len().min(depth + 1)) {
            if let Some(plan) = level.plan.filter(|_| !level.is_kept() && !self.bailed) {
                self.tests.fault(not_kept(plan, level.results));
            }
        }
    }

    /// Ends the document. The lines that follow belong to the next one.
    fn end_document(&mut self) -> Result<(), String> {
        self.settle()?;
        self.close_below(0);
        let level = std::mem::take(self.level(0));
        match level.plan {
            // A suite that bailed out need not meet its plan, or have one.
            _ if self.bailed => {}
            Some(plan) if !level.is_kept() => self.tests.fault(not_kept(plan, level.results)),
            None if level.results > 0 => {
                let count = level.results;
                self.tests.fault(format!(
                    "there is no plan (`1..{count}`), so results may be missing after the first {count}"
                ));
            }
            _ => {}
        }
        if let Some(fault) = self.disorder.take().filter(|_| !self.is_node) {
            self.tests.fault(fault);
        }
        (self.bailed, self.is_node) = (false, false);
        self.groups.clear();
        self.opened.clear();
        self.tests.begin_run();
        Ok(())
    }

    /// Adds the last result: the following lines do not concern it.
    fn settle(&mut self) -> Result<(), String> {
        self.block = None;
        let Some(Pending { name, seconds, status, message, holds_others, .. }) =
            self.pending.take()
        else {
            return Ok(());
        };
        self.tests.add(&name, seconds.filter(|_| !holds_others), status)?;
        self.tests.more(|test| test.message = message.filter(|_| status == Status::Failed));
        Ok(())
    }
}

fn check_depth(depth: usize) -> Result<(), String> {
    match depth {
        0..=MAX_DEPTH => Ok(()),
        _ => Err(format!("subtests nested more than {MAX_DEPTH} deep")),
    }
}

fn not_kept(plan: u64, results: u64) -> String {
    let tests = if plan == 1 { "test" } else { "tests" };
    format!("the plan has {plan} {tests}, but there are results of {results}")
}

/// Returns the number of tests in a plan line.
fn plan(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("1..")?;
    rest.split([' ', '#']).next()?.trim_end().parse().ok()
}

/// Returns true for a file heading of `prove -v`: `t/a.t .. `.
fn is_heading_of_prove(line: &str) -> bool {
    let name = line.trim_end().strip_suffix("..").map(|rest| rest.trim_end_matches('.'));
    name.is_some_and(|name| name.len() > 1 && name.ends_with(' '))
}

/// Returns true for a comment such as `tests 12`, which harnesses write after the last test.
fn is_count(comment: &str) -> bool {
    let mut words = comment.split_whitespace();
    words.next().is_some()
        && words.next().is_some_and(|word| plain(word).is_some())
        && words.next().is_none()
}

/// A result line.
struct TestPoint<'a> {
    is_ok: bool,
    status: Status,
    number: Option<u64>,
    name: Cow<'a, str>,
    /// Time of the test, if it follows the name.
    seconds: Option<f64>,
    /// True if a brace after it may open its subtests.
    opens: bool,
}

fn result(text: &str) -> Option<TestPoint<'_>> {
    let (passed, rest) = match text.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix("ok")?),
    };
    if !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let rest = rest.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_number = rest[digits..].is_empty() || rest[digits..].starts_with([' ', '\t']);
    let (number, rest) = rest.split_at(if is_number { digits } else { 0 });
    let rest = rest.trim();
    let rest = if rest == "-" { "" } else { rest.strip_prefix("- ").unwrap_or(rest) };
    let (rest, opens) = match rest.strip_suffix('{') {
        Some(before) if before.is_empty() || before.ends_with(' ') => (before.trim_end(), true),
        _ => (rest, false),
    };
    // An escaped `#` belongs to the name.
    let mark = rest
        .match_indices('#')
        .map(|(at, _)| at)
        .find(|&at| !rest[..at].ends_with('\\') && (at == 0 || rest[..at].ends_with(' ')));
    let (name, directive) = rest.split_at(mark.unwrap_or(rest.len()));
    let directive = directive.trim_start_matches('#').trim();
    let is = |word: &str, may_go_on: bool| {
        let own = directive.get(..word.len()).is_some_and(|own| own.eq_ignore_ascii_case(word));
        let goes_on = || directive[word.len()..].starts_with(|c: char| c.is_alphanumeric());
        own && (may_go_on || !goes_on())
    };
    let status = match passed {
        // A passed test may also have a longer word such as `# skipped`; a failed test must have
        // exactly `# skip`.
        _ if is("skip", passed) => Status::Skipped,
        true => Status::Passed,
        // A test marked as TODO is allowed to fail.
        false if is("todo", false) => Status::Passed,
        false => Status::Failed,
    };
    let name = name.trim();
    let name = unescaped(name);
    let seconds = time_behind(directive);
    Some(TestPoint { is_ok: passed, status, number: number.parse().ok(), name, seconds, opens })
}

/// Replaces `\#` with `#` in a name.
fn unescaped(name: &str) -> Cow<'_, str> {
    if name.contains("\\#") { name.replace("\\#", "#").into() } else { name.into() }
}

/// Splits a name that ends in the time of the test, such as `adds in 12ms` or `adds in 3sec`, into
/// the name and the seconds.
fn time_in_name(name: &str) -> Option<(&str, f64)> {
    let (name, time) = name.rsplit_once(" in ")?;
    let (number, unit) = match time.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (time.strip_suffix("sec")?, 1.0),
    };
    Some((name, number.parse::<u32>().ok().map(f64::from)? * unit))
}

/// Parses `time=12.3ms` or `time=1.2s`.
fn time_behind(directive: &str) -> Option<f64> {
    let text = directive.strip_prefix("time=")?.split_whitespace().next()?;
    match text.strip_suffix("ms") {
        Some(number) => plain(number).map(|ms| ms / 1e3),
        None => plain(text.strip_suffix('s')?),
    }
}
