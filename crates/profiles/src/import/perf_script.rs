//! The text of `perf script`: for each sample a header line
//! (`comm pid/tid [cpu] time: period event:`), followed by its stack, innermost frame first, and an
//! empty line. With `--header`, the recording's settings come first. A recording without stacks
//! (`perf record` without `-g`) has one line for each sample, with the function at its end.
//!
//! Only the first event of a recording is read; others are reported.

use super::Problem;
use crate::builder::{Builder, delivered_hz};
use crate::model::{Frame, Profile};
use assay_data::code;
use assay_data::{Finding, Unit};
use std::collections::{BTreeSet, HashMap};

const NANO: f64 = 1e-9;

/// Returns true if the text starts with perf's header, or its first non-empty line is the header of
/// a sample.
pub(super) fn is_it(text: &str) -> bool {
    if text.starts_with("# ========") {
        return true;
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|line| Sample::of(line).is_some())
}

/// The first line of a sample: its head, and its only frame if the recording has no stacks.
struct Sample<'a> {
    head: Head<'a>,
    frame: Option<&'a str>,
}

impl<'a> Sample<'a> {
    fn of(line: &'a str) -> Option<Self> {
        if let Some(head) = Head::of(line) {
            return Some(Self { head, frame: None });
        }
        let is_address = |word: &str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_hexdigit());
        line.match_indices(": ").find_map(|(end, _)| {
            let (head, frame) = line.split_at(end + 1);
            let frame = frame.trim();
            is_address(frame.split(' ').next()?).then_some(())?;
            Some(Self { head: Head::of(head)?, frame: Some(frame) })
        })
    }
}

/// The header line of a sample.
#[derive(Debug, PartialEq)]
struct Head<'a> {
    comm: &'a str,
    thread: &'a str,
    time: Option<f64>,
    period: Option<u64>,
    event: &'a str,
}

impl<'a> Head<'a> {
    fn of(line: &'a str) -> Option<Self> {
        if line.starts_with('\t') {
            return None;
        }
        let rest = line.trim_end().strip_suffix(':')?;
        // `comm  pid/tid [cpu] time:  period event`: the name may contain spaces, so the time is
        // searched for from the right.
        let (before, behind) = rest.rsplit_once(": ").or_else(|| rest.rsplit_once(":\t"))?;
        let mut behind = behind.split_whitespace();
        let (first, second) = (behind.next()?, behind.next());
        let (period, event) = match second {
            Some(event) => (Some(first.parse().ok()?), event),
            None => (None, first),
        };
        let mut words: Vec<&str> = before.split_whitespace().collect();
        let time =
            words.last().filter(|word| word.contains('.')).and_then(|word| word.parse().ok());
        if time.is_some() {
            words.pop();
        }
        if words.last().is_some_and(|word| word.starts_with('[')) {
            words.pop();
        }
        let thread = words.last().copied()?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !thread.split('/').all(|part| is_number(part.trim_start_matches('-'))) {
            return None;
        }
        let comm = before.find(thread).map_or("", |end| before[..end].trim());
        Some(Self { comm, thread, time, period, event })
    }
}

pub(super) fn parse(text: &str) -> Result<Profile, Problem> {
    let mut builder = Builder::default();
    builder.profile.tool = Some("perf".to_owned());
    header(text, &mut builder.profile);
    let mut event: Option<&str> = None;
    let mut others: BTreeSet<String> = BTreeSet::new();
    let mut last: HashMap<&str, f64> = HashMap::new();
    let mut gaps = Vec::new();
    let (mut first_time, mut last_time) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(Sample { head, frame: only }) = Sample::of(line) else {
            return Err(Problem::at(
                index + 1,
                "this is no head of a sample of perf's; write the file by: perf script --header -F comm,pid,tid,time,period,event,ip,sym,dso",
            ));
        };
        let mut stack: Vec<Frame> = only.into_iter().map(frame).collect();
        while let Some((_, line)) = lines.peek() {
            if line.trim().is_empty() {
                break;
            }
            if Sample::of(line).is_some() {
                break;
            }
            stack.push(frame(line));
            lines.next();
        }
        let name = plain(head.event);
        if *event.get_or_insert(name) != name {
            others.insert(name.to_owned());
            continue;
        }
        if let Some(time) = head.time {
            if let Some(before) = last.insert(head.thread, time) {
                gaps.push(time - before);
            }
            (first_time, last_time) = (first_time.min(time), last_time.max(time));
        }
        let frames: Vec<u32> = stack.into_iter().rev().map(|frame| builder.frame(frame)).collect();
        let amount = head.period.map_or(1.0, |period| period as f64);
        let labels = vec![("thread".to_owned(), format!("{} {}", head.comm, head.thread))];
        builder.add(frames, labels, 1, amount);
    }
    let event = event.unwrap_or_default();
    let mut profile = builder.build();
    measure(&mut profile, event);
    profile.delivered_hz = delivered_hz(&mut gaps, true);
    profile.seconds = (last_time > first_time).then_some(last_time - first_time);
    findings(&mut profile, &others);
    Ok(profile)
}

/// Returns the event without its modifiers, such as `:u` in `cycles:u`.
fn plain(event: &str) -> &str {
    event.split(':').next().unwrap_or(event)
}

/// Sets the measured quantity: clock events count nanoseconds, all others count themselves.
fn measure(profile: &mut Profile, event: &str) {
    if matches!(event, "cpu-clock" | "task-clock") {
        profile.measure = "cpu".to_owned();
        profile.unit = Unit::Second;
        profile.stacks.iter_mut().for_each(|stack| stack.amount *= NANO);
    } else {
        profile.measure = event.to_owned();
    }
}

fn findings(profile: &mut Profile, others: &BTreeSet<String>) {
    if !others.is_empty() {
        let told: Vec<&str> = others.iter().map(String::as_str).collect();
        profile.findings.push(Finding::new(
            code::PARTLY_READ,
            format!(
                "only `{}` was read; the recording has {} too",
                profile.measure,
                told.join(", ")
            ),
        ));
    }
}

/// Parses a frame: `address name+offset (object)`.
fn frame(line: &str) -> Frame {
    let line = line.trim();
    let (place, object) = match line.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((place, object)) => (place, Some(object)),
        None => (line, None),
    };
    let (address, symbol) = place.split_once(' ').unwrap_or((place, ""));
    let symbol = symbol.trim();
    let bare = match symbol.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|b| b.is_ascii_hexdigit()) => name,
        _ => symbol,
    };
    let file = object.filter(|object| *object != "[unknown]").map(str::to_owned);
    if bare.is_empty() || bare == "[unknown]" {
        // An unknown function is named after its object, not its address: thousands of addresses
        // would hide that they belong to a single object.
        let name = match &file {
            Some(file) => {
                format!("[{}]", file.rsplit('/').next().unwrap_or(file).trim_matches(['[', ']']))
            }
            None if address == "[unknown]" || bare == "[unknown]" || object.is_some() => {
                "[unknown]".to_owned()
            }
            None => line.to_owned(),
        };
        return Frame { name, file, line: None };
    }
    Frame { name: bare.to_owned(), file, line: None }
}

/// Reads the requested settings from perf's own header.
fn header(text: &str, profile: &mut Profile) {
    for line in text.lines().take_while(|line| line.starts_with('#')) {
        if line.starts_with("# event :") && profile.asked_hz.is_none() {
            profile.asked_hz = line
                .split_once("sample_freq } = ")
                .and_then(|(_, rest)| rest.split([',', ' ']).next())
                .and_then(|rate| rate.parse().ok());
        } else if let Some(version) = line.strip_prefix("# perf version : ") {
            profile.tool = Some(format!("perf {}", version.trim()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_whatever_the_name_holds() {
        let head = Head::of("my prog: x 12/13 [001] 57.484277:    5025125 cpu-clock:u: ");
        let wanted = Head {
            comm: "my prog: x",
            thread: "12/13",
            time: Some(57.484277),
            period: Some(5_025_125),
            event: "cpu-clock:u",
        };
        assert_eq!(head, Some(wanted));
        assert_eq!(Head::of("w 9 1.5: cycles:").unwrap().period, None);
        assert_eq!(Head::of("main;parse 3"), None);
    }

    #[test]
    fn frames_lose_address_and_offset() {
        let told = |line| (frame(line).name, frame(line).file);
        assert_eq!(
            told("\t 1167 squares+0x2e (/usr/w)"),
            ("squares".to_owned(), Some("/usr/w".to_owned()))
        );
        assert_eq!(told("\t 1167 operator+(int) (/usr/w)").0, "operator+(int)");
        assert_eq!(told("\t 7f00 [unknown] (/usr/lib/libruby.so.3.1)").0, "[libruby.so.3.1]");
        assert_eq!(told("\t 7f00 [unknown] ([unknown])").0, "[unknown]");
    }

    #[test]
    fn only_one_event_is_read_and_the_others_are_told() {
        let text = "w 1 1.0: 1000000 cpu-clock: \n\t 7f00 f (/bin/w)\n\nw 1 1.1: 1 page-faults: \n\t 7f00 f (/bin/w)\n\n";
        let profile = parse(text).unwrap();
        assert_eq!(profile.findings[0].code, "PARTLY_READ");
        assert!((profile.amount() - 0.001).abs() < 1e-12);
    }
}
