//! Simulations of suites with negative controls: unaffected benchmarks are rarely called different,
//! wherever the linker placed them, and a true difference is found.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may fail loudly, and shows rates"
)]

use crate::analysis::family::{self, Member};
use crate::analysis::{Adjust, analyse};
use crate::comparison::{Comparison, Question, Role};
use crate::design::looks::End;
use crate::evidence::Evidence;
use crate::{Options, Verdict};
use assay_data::{Better, Metric, Observation, Plan, Samples, StopRule, Subject, Threshold};
use assay_stats::resampling::Stream;
use assay_stats::signed_rank::SignedRankDistribution;

const BENCHMARKS: usize = 24;
const BLOCKS: u32 = 12;
/// Standard deviation of a value within a block, in percent.
const NOISE: f64 = 0.5;

/// Distribution of the effect of another placement in memory on a benchmark, in percent.
#[derive(Clone, Copy, Debug)]
enum Placement {
    /// Normal, with this standard deviation.
    Normal(f64),
    /// Normal, but the effect on a tenth of the benchmarks is five times as large.
    Odd(f64),
}

impl Placement {
    fn draw(self, stream: &mut Stream) -> f64 {
        match self {
            Self::Odd(sd) if stream.next_index(10) == 0 => 5.0 * sd * stream.normal(),
            Self::Normal(sd) | Self::Odd(sd) => sd * stream.normal(),
        }
    }
}

/// Returns samples of a suite on two builds. Only the last `changed` benchmarks have different code
/// in the two builds. The very last one takes `longer` percent longer in the new build.
fn suite(case: u64, changed: usize, placement: Placement, longer: f64) -> Samples {
    let mut stream = Stream::new(53, case);
    let mut samples = Samples::new(vec![Metric::wall()]);
    let stop = StopRule::Fixed { blocks: BLOCKS };
    samples.plan = Some(Plan { stop, ..Plan::sequential(0.95, Threshold::default(), case) });
    for benchmark in 0..BENCHMARKS {
        let is_last = benchmark + 1 == BENCHMARKS;
        let moved = placement.draw(&mut stream) + if is_last { longer } else { 0.0 };
        let row = samples.row_named(&format!("BM_{benchmark}"));
        let subjects = ["old", "new"].map(|build| {
            let code = if benchmark + changed >= BENCHMARKS { build } else { "same" };
            let side = samples.side_named(build);
            let (name, code) = (format!("{build}: BM_{benchmark}"), Some(code.to_owned()));
            samples.add(Subject { side, row, name, code, ..Subject::default() })
        });
        for block in 0..BLOCKS {
            for (subject, effect) in subjects.into_iter().zip([0.0, moved]) {
                let value = 1e-6 * ((effect + NOISE * stream.normal()) / 100.0).exp();
                let (block, values) = (Some(block), vec![value]);
                samples.push(Observation { subject, block, values, ..Observation::default() });
            }
        }
    }
    samples
}

/// Returns only the comparisons of a suite, without the rest of [`analyse`], which takes most of
/// its time.
fn compared(samples: &Samples, distribution: &mut SignedRankDistribution) -> Vec<Comparison> {
    let evidence = Evidence::of(samples);
    let plan = samples.plan.as_ref().unwrap();
    let member = |benchmark: usize| {
        let (against, of) = (2 * benchmark, 2 * benchmark + 1);
        let (better, share, end) = (Better::Lower, 1.0, End::Planned);
        let question = Question { plan, metric: 0, better, against, of, share, end };
        Member::new(question, &evidence.pair(against, of, 0, &[]).unwrap(), &evidence, &[])
    };
    let mut members: Vec<Member<'_>> = (0..BENCHMARKS).map(member).collect();
    family::assign(samples, &mut members, distribution);
    family::decide(&members.iter().collect::<Vec<_>>(), Adjust::Holm, distribution)
}

/// Returns the share of simulated suites for which `is_true` returns true.
fn share(
    changed: usize,
    placement: Placement,
    longer: f64,
    is_true: impl Fn(&[Comparison]) -> bool,
) -> f64 {
    let mut distribution = SignedRankDistribution::default();
    let mut one =
        |case| is_true(&compared(&suite(case, changed, placement, longer), &mut distribution));
    let suites = suites();
    (0..suites).filter(|&case| one(case)).count() as f64 / suites as f64
}

/// Returns the number of simulated suites per case.
fn suites() -> u64 {
    std::env::var("ASSAY_EXPERIMENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

#[test]
fn what_no_change_moved_is_rarely_called_different() {
    for (changed, placement) in [
        (0, Placement::Normal(1.0)),
        (0, Placement::Odd(1.0)),
        (1, Placement::Normal(0.5)),
        (1, Placement::Odd(0.5)),
        (12, Placement::Normal(1.0)),
        (14, Placement::Normal(1.0)),
    ] {
        let any = |found: &[Comparison]| found.iter().any(|c| c.decision.verdict.is_directional());
        let share = share(changed, placement, 0.0, any);
        eprintln!("{changed} changed, {placement:?}: {share}");
        // The false-positive rate of a changed benchmark without an effect is 5 %. Two standard
        // errors of the simulation are added.
        let most =
            0.05 + if changed > 0 { 2.0 * (0.05 * 0.95 / suites() as f64).sqrt() } else { 0.0 };
        assert!(share <= most, "{changed} changed, {placement:?}: {share}");
    }
}

#[test]
fn three_per_cent_in_one_changed_benchmark_are_found_among_23_controls() {
    for (placement, least) in
        [(Placement::Normal(0.5), 0.95), (Placement::Normal(0.9), 0.8), (Placement::Odd(0.5), 0.8)]
    {
        let last = |found: &[Comparison]| found[BENCHMARKS - 1].decision.verdict == Verdict::Slower;
        let share = share(1, placement, 3.0, last);
        eprintln!("{placement:?}: {share}");
        assert!(share >= least, "{placement:?}: {share}");
    }
}

#[test]
fn with_fewer_than_ten_controls_they_are_shown_and_nothing_is_judged_by_them() {
    let roles = |changed: usize| {
        let samples = suite(1, changed, Placement::Normal(1.0), 0.0);
        let found = analyse(&samples, &Options::default()).unwrap();
        let finding = found.findings.iter().find(|f| f.code == "SAME_CODE_MOVED").unwrap();
        assert_eq!(finding.number("benchmarks"), Some((BENCHMARKS - changed) as f64));
        let count =
            |is: fn(&Role) -> bool| found.comparisons.iter().filter(|c| is(&c.role)).count();
        (count(|r| *r == Role::Control), count(|r| matches!(r, Role::Judged { .. })))
    };
    assert_eq!(roles(14), (10, 14));
    assert_eq!(roles(15), (0, 0));
}

#[test]
fn a_judged_interval_covers_its_own_and_the_controls_and_controls_are_no_worse_than_equivalent() {
    let samples = suite(7, 12, Placement::Normal(1.0), 0.0);
    for c in compared(&samples, &mut SignedRankDistribution::default()) {
        let (interval, estimate) = (c.decision.interval.unwrap(), c.decision.estimate);
        assert!(interval.contains(estimate), "{c:?}");
        match c.role {
            Role::Judged { range, .. } => {
                assert!(interval.lower <= estimate - range.upper, "{c:?}");
                assert!(interval.upper >= estimate - range.lower, "{c:?}");
            }
            _ => assert!(!c.decision.verdict.is_directional(), "{c:?}"),
        }
    }
    let samples = suite(7, 0, Placement::Normal(1.0), 0.0);
    let found = analyse(&samples, &Options::default()).unwrap();
    assert_eq!(found.worst(), Some(Verdict::Equivalent));
}
