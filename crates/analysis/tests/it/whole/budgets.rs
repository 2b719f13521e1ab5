//! The additional time requested by a suite whose time budget ended, and whether it is enough.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use assay_analysis::{Analysis, Options, analyse};
use assay_data::{
    Action, Finding, Metric, Observation, Plan, Samples, StopReason, StopRule, Subject, Threshold,
};
use assay_stats::resampling::Stream;

/// Two unchanged benchmarks, one calm and one with this noise, each with a number of blocks of one
/// second, after which the budget ended.
fn suite(blocks: [u32; 2], noise: f64) -> Analysis {
    let mut samples = Samples::new(vec![Metric::wall()]);
    for (row, (name, noise)) in [("calm", 0.001), ("noisy", noise)].into_iter().enumerate() {
        let row_index = samples.row_named(name);
        let sides = ["old", "new"].map(|side| {
            let (own, name) = (samples.side_named(side), format!("{side}: {name}"));
            samples.add(Subject { side: own, row: row_index, name, ..Subject::default() })
        });
        let mut stream = Stream::new(4, row as u64);
        for block in 0..blocks[row] {
            for subject in sides {
                samples.push(Observation {
                    subject,
                    block: Some(block),
                    values: vec![1e-3 * (noise * stream.normal()).exp()],
                    ..Observation::default()
                });
            }
        }
    }
    samples.plan = Some(Plan {
        budget_seconds: Some(f64::from(blocks[0] + blocks[1])),
        ..Plan::sequential(0.95, Threshold::default(), 1)
    });
    samples.stop = Some(StopReason::Budget);
    analyse(&samples, &Options::default()).unwrap()
}

/// Two commands with too few blocks for a verdict, measured with this plan.
fn few(blocks: u32, plan: Plan) -> Analysis {
    let mut samples = Samples::new(vec![Metric::wall()]);
    let row = samples.row_named("");
    let sides = ["old", "new"].map(|side| {
        let (own, name) = (samples.side_named(side), side.to_owned());
        samples.add(Subject { side: own, row, name, ..Subject::default() })
    });
    for block in 0..blocks {
        for subject in sides {
            let values = vec![1.0 + f64::from(block * 7 % 5) / 100.0 + subject as f64 / 50.0];
            samples.push(Observation {
                subject,
                block: Some(block),
                values,
                ..Observation::default()
            });
        }
    }
    samples.plan = Some(plan);
    samples.stop = Some(StopReason::Budget);
    analyse(&samples, &Options::default()).unwrap()
}

#[test]
fn too_few_blocks_have_one_remedy_and_it_is_of_the_plan() {
    let begun = Plan::sequential(0.95, Threshold::default(), 1);
    let fixed = Plan { stop: StopRule::Fixed { blocks: 4 }, ..begun.clone() };
    for plan in [begun, fixed] {
        let fixes = !plan.is_sequential();
        let analysis = few(4, plan);
        let fewest = analysis.comparisons[0].fewest_blocks;
        let found = analysis.findings.iter().find(|finding| finding.code == "TOO_FEW").unwrap();
        assert_eq!(found.number("needed"), Some(f64::from(fewest)));
        let wanted = match fixes {
            true => Action::FixRuns { runs: fewest.into() },
            false => Action::MeasureLonger { seconds: None },
        };
        let advised: Vec<_> = found.advice.iter().map(|advice| &advice.action).collect();
        assert_eq!(advised, [&wanted]);
    }
}

fn spent(analysis: &Analysis) -> Option<&Finding> {
    analysis.findings.iter().find(|finding| finding.code == "STOPPED_EARLY")
}

#[test]
fn the_time_that_is_asked_for_is_that_of_the_open_benchmarks_and_would_be_enough() {
    let ended = suite([40, 40], 0.02);
    let found = spent(&ended).unwrap();
    let seconds = found.number("needed_seconds").unwrap();
    let advised = Action::MeasureLonger { seconds: Some(seconds) };
    assert!(found.advice.iter().any(|advice| advice.action == advised), "{found:?}");
    assert_eq!(found.number("open"), Some(1.0));
    // Noise of 2 % requires about 100 blocks or more; the calm benchmark needs none.
    assert!((120.0..600.0).contains(&seconds), "{seconds}");
    let longer = suite([40, seconds as u32 - 40], 0.02);
    assert_eq!(spent(&longer), None);
    // With 4 %, the difference appears close to the threshold, so no feasible number of blocks is
    // enough.
    let hopeless = suite([40, 40], 0.04);
    assert_eq!(spent(&hopeless).map(|found| found.number("needed_seconds")), Some(None));
}
