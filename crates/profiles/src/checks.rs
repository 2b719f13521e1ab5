//! Reasons to doubt a profile: a sampler that delivered too few samples, too few samples overall,
//! functions without names.
//!
//! Findings are data. Each code has a section in `docs/reference/findings.md`; a test checks that
//! none is missing.

use crate::marked::{Attributed, Run};
use crate::model::{Profile, Stack};
use crate::policy;
use crate::shares::effective_samples;
use assay_data::code;
use assay_data::{Action, Finding, Severity};
use std::collections::HashSet;

/// Returns the findings about a profile, including those of its importer. O(stacks).
pub fn findings(profile: &Profile) -> Vec<Finding> {
    let mut found = profile.findings.clone();
    found.extend(rate(profile));
    found.extend(few(profile));
    found.extend(missed(profile));
    found.extend(stripped(profile));
    found.extend(cut(profile));
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}

/// Returns the findings about the samples of single tests: too few, or none where some are
/// expected. O(tests).
pub fn of_tests(found: &Attributed, runs: &[Run], whole: &Profile) -> Vec<Finding> {
    few_of_tests(found).into_iter().chain(unseen(found, runs, whole)).collect()
}

fn few_of_tests(found: &Attributed) -> Option<Finding> {
    let large: Vec<_> = found.tests().filter(|test| test.share >= policy::SMALLEST_TEST).collect();
    let few = large.iter().filter(|test| test.samples < policy::FEW_SAMPLES_OF_TEST).count();
    (few > 0).then(|| {
        Finding::new(code::PROFILE_FEW, format!(
                "{few} of {} tests with a share of at least 1 % have fewer than {} samples: of what they do within themselves, the garbage collector included, those say next to nothing",
                large.len(),
                policy::FEW_SAMPLES_OF_TEST
            ))
        .with("tests", few as f64)
        .advise(Action::MoreRuns)
        .advise(Action::SampleMore)
    })
}

/// Reports slow tests without a sample: they ran in another process or thread. With CPU time,
/// waiting tests look the same, so only profiles of wall time are checked.
fn unseen(found: &Attributed, runs: &[Run], whole: &Profile) -> Option<Finding> {
    let least = policy::UNSEEN_PERIODS / whole.asked_hz.filter(|_| whole.measure == "wall")?;
    let seen: HashSet<&String> =
        found.tests().filter_map(|test| Some(&test.mark.as_ref()?.name)).collect();
    let mut unseen: Vec<(&String, f64)> = runs
        .iter()
        .flat_map(|run| &run.timed)
        .filter(|(name, timed)| timed.seconds >= least && !seen.contains(name))
        .map(|(name, timed)| (name, timed.seconds))
        .collect();
    unseen.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    unseen.dedup_by_key(|own| own.0);
    let (first, seconds) = unseen.first()?;
    Some(
        Finding::new(code::PROFILE_UNSEEN, format!(
                "{} that took long enough have no sample, such as `{first}` with {seconds:.2} s: they ran where the sampler does not look, as in a forked process or in a thread; the shares are of the others alone",
                match unseen.len() {
                    1 => "1 test".to_owned(),
                    n => format!("{n} tests"),
                }
            )).at(Severity::Warning)
        .with("tests", unseen.len() as f64)
        .advise(Action::text("run the tests in one process, without parallel workers")),
    )
}

fn rate(profile: &Profile) -> Option<Finding> {
    let (asked, delivered) = (profile.asked_hz?, profile.delivered_hz?);
    (delivered < policy::DELIVERED * asked).then(|| {
        let why = match profile.measure.as_str() {
            "cpu" => "a timer of CPU time fires no more often than the kernel ticks (CONFIG_HZ)",
            _ => "the sampler could not keep up",
        };
        let finding = Finding::new(code::PROFILE_FEW, format!(
                "{asked:.0} samples a second were asked for and {delivered:.0} came: there are fewer samples than it seems, and times that are counted as samples × asked period are too short by that factor; {why}"
            )).at(Severity::Warning)
        .with("asked_hz", asked)
        .with("delivered_hz", delivered)
        .advise(Action::SampleLess);
        match profile.measure.as_str() {
            "cpu" => finding.advise(Action::SampleByWall),
            _ => finding,
        }
    })
}

fn few(profile: &Profile) -> Option<Finding> {
    let samples = effective_samples(profile)?;
    (samples < policy::FEW_SAMPLES).then(|| {
        // Half the length of the interval; with a handful of samples, up to the whole range.
        let points = (98.0 / (samples as f64).sqrt()).min(50.0);
        let told = match samples {
            1 => "1 sample says".to_owned(),
            many => format!("{many} samples say"),
        };
        Finding::new(code::PROFILE_FEW, format!("{told} little: the share of a function that takes half of the time is known to ± {points:.0} points"))
        .with("samples", samples as f64)
        .advise(Action::MeasureLonger { seconds: None })
        .advise(Action::SampleMore)
        .advise(Action::MoreRuns)
    })
}

fn missed(profile: &Profile) -> Option<Finding> {
    let share = profile.missed as f64 / (profile.samples().saturating_add(profile.missed)) as f64;
    (share > policy::MISSED).then(|| {
        Finding::new(code::PROFILE_FEW, format!("the sampler missed {} samples, {:.0} %: what it missed them in has too small a share", profile.missed, 100.0 * share)).at(if share > policy::MISSED_MANY { Severity::Warning } else { Severity::Note })
        .with("missed", profile.missed as f64)
        .advise(Action::SampleLess)
    })
}

fn stripped(profile: &Profile) -> Option<Finding> {
    let all = profile.samples();
    let nameless = profile.stacks.iter().filter(|stack| {
        let leaf = profile.frames_of(stack).next_back();
        leaf.is_some_and(|leaf| is_nameless(&leaf.name))
    });
    let share = nameless.map(|stack| stack.samples).sum::<u64>() as f64 / all as f64;
    (share > policy::NAMELESS).then(|| {
        Finding::new(code::PROFILE_STACKS, format!("{:.0} % of the samples hit code whose function has no name: its symbols are stripped, or it was compiled at run time", 100.0 * share)).at(Severity::Warning)
        .with("share", share)
        .advise(Action::text("build with symbols (-g, no strip)"))
        .advise(Action::text("install the package of debug symbols (Debian: NAME-dbgsym)"))
    })
}

/// Maximum number of frames in perf's stacks, unless `kernel.perf_event_max_stack` is changed.
const FRAMES_OF_PERF: usize = 127;
/// Stacks of at least this depth whose outermost function calls itself are assumed to lack the
/// callers of that function.
const DEEP: usize = 100;
/// Minimum number of frames of the outermost function for a stack of at least [`DEEP`] frames to
/// count as truncated.
const AGAIN: usize = 3;

/// Reports stacks that the sampler truncated: their outermost functions are missing and have too
/// small a total.
fn cut(profile: &Profile) -> Option<Finding> {
    let of_perf = profile.tool.as_deref().is_some_and(|tool| tool.starts_with("perf"));
    let is_cut = |stack: &&Stack| {
        let depth = stack.frames.len();
        let recurs = || {
            let outermost = profile.frames_of(stack).next().map(|frame| &frame.name);
            let same = profile.frames_of(stack).filter(|frame| Some(&frame.name) == outermost);
            same.take(AGAIN).count() == AGAIN
        };
        of_perf && depth == FRAMES_OF_PERF || depth >= DEEP && recurs()
    };
    let all = profile.samples();
    let cut: u64 = profile.stacks.iter().filter(is_cut).map(|stack| stack.samples).sum();
    (cut > 0).then(|| {
        let share = cut as f64 / all as f64;
        let finding = Finding::new(code::PROFILE_STACKS, format!(
                "{:.0} % of the samples have stacks that were cut: the outermost functions, such as main, are missing in them, and their totals are too small",
                (100.0 * share).max(1.0)
            )).at(if share > policy::NAMELESS { Severity::Warning } else { Severity::Note });
        let finding = finding.with("samples", cut as f64);
        match of_perf {
            true => finding.advise(Action::run(
                "have perf keep deeper stacks",
                "sysctl kernel.perf_event_max_stack=4096",
            )),
            false => finding.advise(Action::text("have the sampler keep deeper stacks")),
        }
    })
}

/// Returns true for names that importers give to code without a function name: an object in
/// brackets, or an address.
fn is_nameless(name: &str) -> bool {
    let address = name.strip_prefix("0x").is_some_and(|a| a.bytes().all(|b| b.is_ascii_hexdigit()));
    address || name == "(unknown)" || (name.starts_with('[') && name.ends_with(']'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import;

    fn codes(profile: &Profile) -> Vec<String> {
        findings(profile).into_iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn a_rate_that_was_not_delivered_is_told() {
        let mut profile = import::load_bytes(b"a 2000\n", "x").unwrap();
        (profile.asked_hz, profile.delivered_hz) = (Some(1000.0), Some(251.0));
        assert_eq!(codes(&profile), ["PROFILE_FEW"]);
        profile.delivered_hz = Some(960.0);
        assert!(codes(&profile).is_empty());
    }

    #[test]
    fn tests_with_few_samples_and_with_none_are_told() {
        use crate::marked::{Timed, split};
        use crate::{Builder, Frame};
        let mut builder = Builder::default();
        for (name, samples) in [("a", 500), ("b", 24), ("c", 2)] {
            let file = Some(format!("assay-frame:test:{name}"));
            let mark = Frame { file, ..Frame::named("assay_frame") };
            builder.add_frames([mark, Frame::named("work")], samples);
        }
        let mut whole = builder.build();
        (whole.asked_hz, whole.measure) = (Some(100.0), "wall".to_owned());
        let timed = |name: &str, seconds| (name.to_owned(), Timed { seconds, collected: None });
        let mut runs = [Run {
            parts: split(&whole),
            timed: [timed("a", 5.0), timed("quick", 0.19), timed("forked", 0.3)].into(),
        }];
        let found = Attributed::of(&runs, true, 0.95);
        let told = of_tests(&found, &runs, &whole);
        let codes: Vec<&str> = told.iter().map(|finding| finding.code.as_str()).collect();
        assert_eq!(codes, ["PROFILE_FEW", "PROFILE_UNSEEN"]);
        assert!(told[0].message.starts_with("1 of 2 tests"), "{}", told[0].message);
        assert!(told[1].message.contains("`forked` with 0.30 s"), "{}", told[1].message);
        // A waiting program uses no CPU time, so missing samples prove nothing.
        whole.measure = "cpu".to_owned();
        assert_eq!(of_tests(&found, &runs, &whole).len(), 1);
        runs[0].timed.remove("forked");
        whole.measure = "wall".to_owned();
        assert_eq!(of_tests(&found, &runs, &whole).len(), 1);
    }

    #[test]
    fn stacks_that_were_cut_are_told() {
        use crate::{Builder, Frame};
        let of = |tool: &str, frames: Vec<String>| {
            let mut builder = Builder::default();
            builder.profile.tool = Some(tool.to_owned());
            builder.add_frames(frames.iter().map(|name| Frame::named(name)), 10_000);
            codes(&builder.build())
        };
        let distinct = |depth: usize| (0..depth).map(|at| format!("f{at}")).collect::<Vec<_>>();
        assert_eq!(of("perf 6.1", distinct(127)), ["PROFILE_STACKS"]);
        assert!(of("perf 6.1", distinct(126)).is_empty() && of("py-spy", distinct(500)).is_empty());
        let cut = vec!["rec".to_owned(); 300];
        assert_eq!(of("other", cut.clone()), ["PROFILE_STACKS"]);
        // A deep recursion whose caller is present is complete.
        assert!(of("other", [vec!["main".to_owned()], cut].concat()).is_empty());
    }

    #[test]
    fn few_missed_and_nameless_samples_are_told() {
        let mut profile = import::load_bytes(b"a;[libz.so] 20\na 70\n", "x").unwrap();
        profile.missed = 3;
        assert_eq!(codes(&profile), ["PROFILE_STACKS", "PROFILE_FEW", "PROFILE_FEW"]);
    }
}
