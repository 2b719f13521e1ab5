//! Profiles of programs whose work runs below marker frames for samplers, such as test suites into
//! which `assay tests` has loaded its hooks. The marker's file is named `assay-frame:KIND:NAME`. A
//! sample belongs to the innermost marker; its callers are irrelevant.
//!
//! Only the assignment of samples to markers is done here; the meaning of the kinds is explained
//! elsewhere.

use crate::builder::Builder;
use crate::model::{Frame, Profile, Stack};
use crate::shares::{Basis, Shares, effective_samples, mean};
use assay_stats::Interval;
use assay_stats::proportion::wilson_interval;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Prefix of a marker's file name, which follows any directories.
const MARK: &str = "assay-frame:";
/// Prefixes of the hooks' file names.
const HOOKS: [&str; 2] = ["assay_tests", "assay_unittest."];
/// The kind of a test's marker.
pub const TEST: &str = "test";

/// The owner of a sample.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// Kind of the owner: [`TEST`], `group_setup`, `run`.
    pub kind: String,
    /// Name of the owner; may be empty.
    pub name: String,
}

impl Mark {
    /// Returns the mark that a frame represents.
    pub fn of(frame: &Frame) -> Option<Self> {
        let base = frame.file.as_deref()?.rsplit('/').next()?;
        let (kind, name) = base.strip_prefix(MARK)?.split_once(':')?;
        Some(Self { kind: kind.to_owned(), name: decoded(name) })
    }
}

/// Returns true for frames of the hooks that create marks, or of the functions with which they
/// replace the program's own. They occur between all other frames, and in Ruby their names differ
/// from run to run.
fn is_hook(frame: &Frame) -> bool {
    let base = frame.file.as_deref().and_then(|file| file.rsplit('/').next());
    base.is_some_and(|base| HOOKS.iter().any(|own| base.starts_with(own)))
}

/// Decodes bytes that are written as `%41`.
fn decoded(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The samples of one mark, without the frames outside of the mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The mark to which the samples belong; `None` if they have none.
    pub mark: Option<Mark>,
    /// The samples.
    pub profile: Profile,
}

/// Returns true if a profile has marks. Processes that do not run marked code, such as one that
/// started it and waits, have none.
pub fn is_marked(profile: &Profile) -> bool {
    profile.frames.iter().any(|frame| Mark::of(frame).is_some())
}

/// Returns the profiles that have marks, if any has. In a profile of several processes, as written
/// by py-spy, only stacks of processes with marks are kept. Otherwise the process that starts a
/// suite and waits for it, and programs started by tests, would be counted alongside the tests.
pub fn kept(mut profiles: Vec<Profile>) -> Vec<Profile> {
    if profiles.iter().any(is_marked) {
        profiles.retain(is_marked);
    }
    profiles.iter_mut().for_each(keep_marked_processes);
    profiles
}

/// Returns the outermost frame with which py-spy names a process.
fn process_of<'a>(profile: &'a Profile, stack: &'a Stack) -> Option<&'a str> {
    let mut names = profile.frames_of(stack).map(|frame| frame.name.as_str());
    // The frame of a process follows that of its parent.
    let is_process = |name: &&str| name.starts_with("process ") && name.contains(":\"");
    names.by_ref().take_while(is_process).last()
}

fn keep_marked_processes(profile: &mut Profile) {
    let has_mark = |stack: &&Stack| profile.frames_of(stack).any(|f| Mark::of(f).is_some());
    let marked = profile.stacks.iter().filter(has_mark);
    let marked: HashSet<String> =
        marked.filter_map(|stack| process_of(profile, stack)).map(str::to_owned).collect();
    if marked.is_empty() {
        return;
    }
    let keeps =
        |stack: &Stack| process_of(profile, stack).is_none_or(|process| marked.contains(process));
    let keeps: Vec<bool> = profile.stacks.iter().map(keeps).collect();
    let mut keeps = keeps.into_iter();
    profile.stacks.retain(|_| keeps.next() == Some(true));
}

/// Splits a profile by its marks; the parts are sorted by mark. Their samples and amounts sum to
/// those of the profile. O(frames of all stacks).
pub fn split(profile: &Profile) -> Vec<Part> {
    let marks: Vec<Option<Mark>> = profile.frames.iter().map(Mark::of).collect();
    let mark_of = |frame: u32| marks.get(frame as usize).and_then(Option::as_ref);
    let mut parts: BTreeMap<Option<&Mark>, Builder> = BTreeMap::new();
    for stack in &profile.stacks {
        let at = stack.frames.iter().rposition(|&frame| mark_of(frame).is_some());
        let mark = at.and_then(|at| mark_of(stack.frames[at]));
        let builder = parts.entry(mark).or_insert_with(|| Builder::like(profile));
        let own = stack.frames[at.map_or(0, |at| at + 1)..].iter();
        let own = own.filter_map(|&frame| profile.frames.get(frame as usize));
        let own = own.filter(|frame| !is_hook(frame)).cloned();
        let frames = own.map(|frame| builder.frame(frame)).collect();
        builder.add(frames, stack.labels.clone(), stack.samples, stack.amount);
    }
    let build = |(mark, builder): (Option<&Mark>, Builder)| Part {
        mark: mark.cloned(),
        profile: builder.build(),
    };
    parts.into_iter().map(build).collect()
}

/// Joins parts into one profile, each below a frame with the name returned by `named`, for flame
/// graphs by mark. O(frames of all stacks).
pub fn joined(parts: &[Part], named: impl Fn(Option<&Mark>) -> String) -> Profile {
    let mut builder =
        parts.first().map_or_else(Builder::default, |own| Builder::like(&own.profile));
    for Part { mark, profile } in parts {
        let title = builder.frame(Frame::named(&named(mark.as_ref())));
        for stack in &profile.stacks {
            let own = profile.frames_of(stack).cloned().collect::<Vec<_>>();
            let own = own.into_iter().map(|frame| builder.frame(frame));
            let frames = std::iter::once(title).chain(own.collect::<Vec<_>>()).collect();
            builder.add(frames, stack.labels.clone(), stack.samples, stack.amount);
        }
    }
    builder.build()
}

/// Measurements of a test that a run made itself, in addition to the samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timed {
    /// Duration, s.
    pub seconds: f64,
    /// Time spent in the garbage collector, s, if measured.
    pub collected: Option<f64>,
}

/// One sampled run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Parts of the run.
    pub parts: Vec<Part>,
    /// Measurements of the tests, by name.
    pub timed: HashMap<String, Timed>,
}

/// The share of one mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Owned {
    /// The mark.
    pub mark: Option<Mark>,
    /// Number of samples in all runs.
    pub samples: u64,
    /// Amount of the samples; for several runs, the mean per run.
    pub amount: f64,
    /// Share of all samples, 0 to 1.
    pub share: f64,
    /// The interval of `share`.
    pub interval: Option<Interval>,
    /// The shares of functions within the mark; for several runs, over the runs in which the mark
    /// has samples.
    pub shares: Shares,
    /// The garbage collector's share of the mark's samples; `None` if the sampler does not see the
    /// collector.
    pub collection: Option<(f64, Option<Interval>)>,
    /// The garbage collector's share of the mark's measured time; `None` if it was not measured.
    pub timed_collection: Option<(f64, Option<Interval>)>,
}

/// The shares of all marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributed {
    /// Number of samples in all runs.
    pub samples: u64,
    /// Total amount; for several runs, the mean per run.
    pub amount: f64,
    /// The basis of the intervals of shares.
    pub basis: Basis,
    /// The confidence of each interval by itself.
    pub confidence: f64,
    /// The parts, largest share first. Shares sum to 1.
    pub owned: Vec<Owned>,
    /// The shares of functions over all tests together.
    pub functions: Shares,
}

impl Attributed {
    /// Returns the shares of marks in one or several runs. `sees_collection` is true if the sampler
    /// always identifies the garbage collector. O(frames of all stacks + functions of all marks).
    pub fn of(runs: &[Run], sees_collection: bool, confidence: f64) -> Self {
        let many = runs.len().max(1) as f64;
        let wholes: Vec<f64> = runs
            .iter()
            .map(|run| run.parts.iter().map(|part| part.profile.amount()).sum())
            .collect();
        let several = runs.len() > 1;
        let worth = worth(runs);
        let mut marks: BTreeMap<Option<&Mark>, Vec<(usize, &Profile)>> = BTreeMap::new();
        for (index, run) in runs.iter().enumerate() {
            for part in &run.parts {
                marks.entry(part.mark.as_ref()).or_default().push((index, &part.profile));
            }
        }
        let owned = marks.into_iter().map(|(mark, own)| {
            let mut of_runs = vec![0.0; runs.len()];
            own.iter().for_each(|(run, profile)| of_runs[*run] = profile.amount());
            let amount = of_runs.iter().sum::<f64>() / many;
            let shares: Vec<f64> =
                of_runs.iter().zip(&wholes).map(|(own, whole)| part_of(*own, *whole)).collect();
            let (share, interval) = match several {
                true => mean(&shares, confidence),
                false => (shares[0], worth.and_then(|worth| wilson(shares[0], worth, confidence))),
            };
            let profiles: Vec<Profile> = own.iter().map(|(_, own)| (*own).clone()).collect();
            let shares = Shares::of_runs(&profiles, confidence);
            let none = || {
                let samples = Profile::merged(&profiles).and_then(|own| effective_samples(&own));
                (0.0, samples.and_then(|samples| wilson(0.0, samples, confidence)))
            };
            let collection = shares.collection.or_else(|| sees_collection.then(none));
            let name = mark.filter(|mark| mark.kind == TEST).map(|mark| &mark.name);
            let timed = runs.iter().filter_map(|run| run.timed.get(name?));
            let timed: Vec<f64> =
                timed.filter_map(|own| Some(part_of(own.collected?, own.seconds))).collect();
            Owned {
                mark: mark.cloned(),
                samples: profiles.iter().map(Profile::samples).sum(),
                amount,
                share,
                interval,
                shares,
                collection,
                timed_collection: (!timed.is_empty()).then(|| mean(&timed, confidence)),
            }
        });
        let mut owned: Vec<Owned> = owned.collect();
        owned.sort_by(|a, b| b.share.total_cmp(&a.share));
        Self {
            samples: owned.iter().map(|own| own.samples).sum(),
            amount: wholes.iter().sum::<f64>() / many,
            basis: match (several, worth) {
                (true, _) => Basis::Runs(runs.len()),
                (false, Some(_)) => Basis::Samples,
                (false, None) => Basis::None,
            },
            confidence,
            owned,
            functions: functions(runs, confidence),
        }
    }

    /// Returns the sampled tests, largest share first.
    pub fn tests(&self) -> impl Iterator<Item = &Owned> {
        self.owned.iter().filter(|own| own.is_test())
    }

    /// Returns the parts outside of tests, largest share first.
    pub fn others(&self) -> impl Iterator<Item = &Owned> {
        self.owned.iter().filter(|own| !own.is_test())
    }
}

impl Owned {
    /// Returns true if this is a test.
    pub fn is_test(&self) -> bool {
        self.mark.as_ref().is_some_and(|mark| mark.kind == TEST)
    }
}

/// Returns the effective sample size of all parts of a single run; `None` for several runs.
fn worth(runs: &[Run]) -> Option<u64> {
    let [run] = runs else { return None };
    effective_samples(&joined(&run.parts, |_| String::new()))
}

fn wilson(share: f64, worth: u64, confidence: f64) -> Option<Interval> {
    wilson_interval(((share * worth as f64).round() as u64).min(worth), worth, confidence)
}

fn part_of(own: f64, whole: f64) -> f64 {
    if whole > 0.0 { (own / whole).clamp(0.0, 1.0) } else { 0.0 }
}

/// Returns the shares of functions over all tests together.
fn functions(runs: &[Run], confidence: f64) -> Shares {
    let of_tests = |run: &Run| {
        let is_test = |part: &&Part| part.mark.as_ref().is_some_and(|mark| mark.kind == TEST);
        let own: Vec<Profile> =
            run.parts.iter().filter(is_test).map(|part| part.profile.clone()).collect();
        Profile::merged(&own)
    };
    let profiles: Vec<Profile> = runs.iter().filter_map(of_tests).collect();
    Shares::of_runs(&profiles, confidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::Unit;
    use assay_stats::resampling::Stream;

    fn mark(kind: &str, encoded: &str) -> Frame {
        let file = format!("/usr/lib/ruby/assay-frame:{kind}:{encoded}");
        Frame { name: "assay_frame".to_owned(), file: Some(file), line: Some(1) }
    }

    fn test(name: &str) -> Option<Mark> {
        Some(Mark { kind: TEST.to_owned(), name: name.to_owned() })
    }

    /// Creates a profile from stacks of named frames and marks (`test:x`), each with its number of
    /// samples.
    fn profile(stacks: &[(&str, u64)]) -> Profile {
        let mut builder = Builder::default();
        for (stack, samples) in stacks {
            let frame = |name: &str| match name.split_once(':') {
                Some((kind, name)) => mark(kind, name),
                None => Frame::named(name),
            };
            builder.add_frames(stack.split(' ').map(frame), *samples);
        }
        builder.build()
    }

    fn run(stacks: &[(&str, u64)]) -> Run {
        Run { parts: split(&profile(stacks)), ..Run::default() }
    }

    #[test]
    fn names_are_decoded_and_other_files_are_no_marks() {
        assert_eq!(Mark::of(&mark("test", "A%3A%20x%25")), test("A: x%"));
        assert_eq!(Mark::of(&mark("test", "%C3%BCnd%zz%4")), test("ünd%zz%4"));
        assert_eq!(Mark::of(&Frame::named("assay-frame:test:x")), None);
        let file = |file: &str| Frame { file: Some(file.to_owned()), ..Frame::named("x") };
        assert_eq!(Mark::of(&file("assay-frame:test:x")), test("x"));
        for other in ["/a/assay_frame:test:x", "assay-frame:x", "/assay-frame:test:x/y.rb"] {
            assert_eq!(Mark::of(&file(other)), None, "{other}");
        }
    }

    #[test]
    fn a_sample_belongs_to_its_innermost_mark_and_loses_what_stands_above() {
        let parts = split(&profile(&[
            ("main run: test:x work", 3),
            ("main other run: test:x work", 2),
            ("main run: test:x fixture:f work", 4),
            ("main run: report", 1),
            ("main", 5),
        ]));
        let told: Vec<_> = parts
            .iter()
            .map(|part| {
                let kind = part.mark.as_ref().map_or("", |mark| mark.kind.as_str());
                (kind, part.profile.samples(), part.profile.stacks.len())
            })
            .collect();
        assert_eq!(told, [("", 5, 1), ("fixture", 4, 1), ("run", 1, 1), ("test", 5, 1)]);
        let joined = joined(&parts, |mark| mark.map_or("(none)".to_owned(), |m| m.name.clone()));
        assert_eq!((joined.samples(), joined.stacks.len()), (15, 4));
        assert!(joined.stacks.iter().all(|stack| !stack.frames.is_empty()));
    }

    #[test]
    fn what_hooks_put_between_is_left_out() {
        let mut builder = Builder::default();
        let hook = Frame {
            file: Some("/lib/minitest/assay_tests.rb".to_owned()),
            ..Frame::named("#<Module:0x00007f>#run")
        };
        builder.add_frames([mark(TEST, "x"), hook.clone(), Frame::named("work"), hook], 2);
        let parts = split(&builder.build());
        assert_eq!(parts[0].profile.frames, [Frame::named("work")]);
        assert_eq!(parts[0].profile.samples(), 2);
    }

    #[test]
    fn processes_without_marks_are_left_out_where_others_have_some() {
        let waits = profile(&[("main wait", 50)]);
        let suite = profile(&[("main test:x work", 7), ("main", 1)]);
        let kept_of = |all: &[&Profile]| -> Vec<u64> {
            kept(all.iter().map(|own| (*own).clone()).collect())
                .iter()
                .map(Profile::samples)
                .collect()
        };
        assert_eq!(kept_of(&[&waits, &suite]), [8]);
        assert_eq!(kept_of(&[&waits]), [50]);
        let processes = |stacks: &[(&[&str], u64)]| {
            let mut builder = Builder::default();
            for (names, samples) in stacks {
                let frame = |name: &&str| match name.strip_prefix("test:") {
                    Some(name) => mark("test", name),
                    None => Frame::named(name),
                };
                builder.add_frames(names.iter().map(frame), *samples);
            }
            builder.build()
        };
        let (one, two) = ("process 1:\"pytest -n 2\"", "process 2:\"worker\"");
        let all = processes(&[
            (&[one, "wait"], 9),
            (&[one, two, "main", "test:x", "work"], 4),
            (&[one, two, "main"], 2),
        ]);
        assert_eq!(kept_of(&[&all]), [6]);
        assert_eq!(kept_of(&[&processes(&[(&[one, "a"], 9)])]), [9]);
    }

    #[test]
    fn shares_of_one_run_are_wilsons_and_sum_to_the_whole() {
        let found = Attributed::of(
            &[run(&[("test:a x", 30), ("test:a (marking)", 10), ("test:b x", 40), ("y", 20)])],
            true,
            0.95,
        );
        let a = found.owned.iter().find(|own| own.mark == test("a")).unwrap();
        assert_eq!((a.samples, a.share), (40, 0.4));
        assert_eq!(a.interval, wilson_interval(40, 100, 0.95));
        assert_eq!(a.collection, Some((0.25, wilson_interval(10, 40, 0.95))));
        let b = found.owned.iter().find(|own| own.mark == test("b")).unwrap();
        assert_eq!(b.collection, Some((0.0, wilson_interval(0, 40, 0.95))));
        assert_eq!((found.tests().count(), found.others().count(), found.samples), (2, 1, 100));
        // Only samples in tests are included.
        assert_eq!(found.functions.functions[0].function.name, "x");
        assert_eq!(found.functions.samples, 80);
    }

    #[test]
    fn several_runs_are_told_by_their_own_spread_and_a_test_may_be_in_some_alone() {
        let mut runs = [run(&[("test:a x", 40), ("y", 60)]), run(&[("y", 100)])];
        let timed = |seconds, collected| {
            HashMap::from([("a".to_owned(), Timed { seconds, collected: Some(collected) })])
        };
        runs[0].timed = timed(2.0, 1.0);
        runs[1].timed = timed(1.0, 0.25);
        let found = Attributed::of(&runs, false, 0.95);
        let a = found.tests().next().unwrap();
        assert_eq!((a.share, a.amount, a.collection), (0.2, 20.0, None));
        assert_eq!((a.interval, found.basis), (mean(&[0.4, 0.0], 0.95).1, Basis::Runs(2)));
        assert_eq!(a.timed_collection.unwrap().0, 0.375);
        assert_eq!(a.shares.functions[0].flat, 1.0);
    }

    #[test]
    fn parts_of_any_profile_sum_to_it() {
        let mut draw = Stream::new(21, 0);
        for _ in 0..200 {
            let mut builder = Builder::default();
            builder.profile.unit = Unit::Second;
            for _ in 0..draw.next_index(30) {
                let depth = draw.next_index(8);
                let frames: Vec<Frame> = (0..depth)
                    .map(|_| match draw.next_index(4) {
                        0 => mark(
                            ["test", "run", "fixture"][draw.next_index(3)],
                            ["a", "b%20c", ""][draw.next_index(3)],
                        ),
                        n => Frame::named(["f", "g", "(marking)"][n - 1]),
                    })
                    .collect();
                let frames = frames.into_iter().map(|frame| builder.frame(frame)).collect();
                let samples = draw.next_index(50) as u64;
                builder.add(frames, Vec::new(), samples, samples as f64 * 0.125);
            }
            let whole = builder.build();
            let parts = split(&whole);
            let samples: u64 = parts.iter().map(|part| part.profile.samples()).sum();
            assert_eq!(samples, whole.samples());
            let again = joined(&parts, |mark| format!("{mark:?}"));
            assert_eq!((again.samples(), again.amount()), (whole.samples(), whole.amount()));
            for part in &parts {
                assert!(part.profile.frames.iter().all(|frame| Mark::of(frame).is_none()));
            }
            let run = Run { parts, ..Run::default() };
            let found = Attributed::of(std::slice::from_ref(&run), true, 0.95);
            let sum: f64 = found.owned.iter().map(|own| own.share).sum();
            assert!(whole.samples() == 0 || (sum - 1.0).abs() < 1e-9, "{sum}");
            let twice = Attributed::of(&[run.clone(), run], true, 0.95);
            let sum: f64 = twice.owned.iter().map(|own| own.share).sum();
            assert!(whole.samples() == 0 || (sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }
}
