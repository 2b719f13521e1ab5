//! Properties for arbitrary numbers: scaling, swapping, and reordering subjects transform results
//! correctly.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use assay_analysis::{Options, Verdict, analyse};
use assay_data::{Metric, Observation, Plan, Samples, StopRule, Threshold};
use proptest::prelude::*;

fn samples(blocks: &[(f64, f64)], factor: f64, swap: bool, in_blocks: bool) -> Samples {
    let mut samples = Samples::new(vec![Metric::wall()]);
    samples.add_subject("a");
    samples.add_subject("b");
    samples.plan = Some(Plan {
        stop: StopRule::Fixed { blocks: blocks.len() as u32 },
        ..Plan::sequential(0.95, Threshold::default(), 1)
    });
    for (block, &(a, b)) in blocks.iter().enumerate() {
        let (a, b) = if swap { (b, a) } else { (a, b) };
        for (subject, value) in [a, b].into_iter().enumerate() {
            samples.push(Observation {
                subject,
                block: in_blocks.then_some(block as u32),
                position: in_blocks.then_some(subject as u32),
                values: vec![value * factor],
                ..Observation::default()
            });
        }
    }
    samples
}

fn verdict(samples: &Samples) -> (Verdict, Option<(f64, f64)>, f64) {
    let analysis = analyse(samples, &Options::default()).unwrap();
    let c = &analysis.comparisons[0];
    let interval = c.ratio.and_then(|r| r.interval).map(|i| (i.lower, i.upper));
    (c.decision.verdict, interval, c.decision.estimate)
}

fn opposite(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Faster => Verdict::Slower,
        Verdict::Slower => Verdict::Faster,
        other => other,
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-6)
}

proptest! {
    #[test]
    fn the_unit_does_not_matter(
        blocks in prop::collection::vec((0.9f64..1.1, 0.9f64..1.2), 1..60),
        in_blocks: bool,
    ) {
        // A power of two scales without rounding, so the answer is exactly the same.
        let (one, other) = (samples(&blocks, 1.0, false, in_blocks), samples(&blocks, 1024.0, false, in_blocks));
        let (a, b) = (verdict(&one), verdict(&other));
        prop_assert_eq!(a.0, b.0);
        prop_assert!(close(a.2, b.2));
    }

    #[test]
    fn swapping_the_subjects_turns_the_verdict_round(
        blocks in prop::collection::vec((0.9f64..1.1, 0.9f64..1.2), 1..60),
        in_blocks: bool,
    ) {
        let (a, b) =
            (verdict(&samples(&blocks, 1.0, false, in_blocks)), verdict(&samples(&blocks, 1.0, true, in_blocks)));
        prop_assert!(close(a.2, -b.2));
        // The interval of recordings may differ by one rank when mirrored, so only blocks are
        // exactly symmetric.
        if in_blocks {
            prop_assert_eq!(a.0, opposite(b.0));
            if let (Some((lower, upper)), Some(other)) = (a.1, b.1) {
                prop_assert!(close(lower, 1.0 / other.1) && close(upper, 1.0 / other.0));
            }
        }
    }

    #[test]
    fn any_numbers_are_analysed_without_a_panic(
        blocks in prop::collection::vec((any::<f64>(), prop_oneof![any::<f64>(), Just(0.0), Just(-1.0), Just(1e-300)]), 1..40),
        in_blocks: bool,
    ) {
        let samples = samples(&blocks, 1.0, false, in_blocks);
        let _either_way = analyse(&samples, &Options::default());
    }
}
