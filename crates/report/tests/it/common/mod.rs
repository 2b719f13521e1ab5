//! Samples with synthetic, deterministic numbers, and their analyses, for the tests of every
//! report.

#![allow(dead_code, unused_imports, clippy::unwrap_used, reason = "each test takes what it needs")]

mod loads;
mod recordings;
mod runs;
mod scans;
pub mod schema;
mod suites;

use assay_analysis::{Analysis, Options, analyse};
use assay_data::{
    Environment, Metric, Observation, Plan, Samples, StopReason, StopRule, Subject, Threshold, Unit,
};

pub use loads::*;
pub use recordings::*;
pub use runs::*;
pub use scans::*;
pub use suites::*;

/// Copies the sides, rows and subjects of `whole` to `samples`.
pub fn same_subjects(samples: &mut Samples, whole: &Samples) {
    samples.sides.clone_from(&whole.sides);
    samples.rows.clone_from(&whole.rows);
    samples.subjects.clone_from(&whole.subjects);
}

/// Returns deterministic, bell-shaped noise between about −1 and 1.
pub fn noise(subject: usize, block: u32) -> f64 {
    let mut state =
        0x9E37_79B9_7F4A_7C15u64.wrapping_mul(u64::from(block) * 64 + subject as u64 + 1);
    let mut sum = 0.0;
    for _ in 0..3 {
        state ^= state >> 30;
        state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state ^= state >> 27;
        state = state.wrapping_mul(0x94D0_49BB_1331_11EB);
        state ^= state >> 31;
        sum += (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    }
    sum / 1.5
}

/// The recipe for an experiment with synthetic data.
pub struct Recipe {
    pub names: Vec<&'static str>,
    /// Factor applied to each subject's wall time.
    pub factors: Vec<f64>,
    pub seconds: f64,
    pub spread: f64,
    pub blocks: u32,
    pub plan: Plan,
    pub stop: StopReason,
}

impl Recipe {
    pub fn of(names: &[&'static str], factors: &[f64], spread: f64, blocks: u32) -> Self {
        Self {
            names: names.to_vec(),
            factors: factors.to_vec(),
            seconds: 0.812,
            spread,
            blocks,
            plan: Plan::sequential(0.95, Threshold::default(), 7),
            stop: StopReason::Clear,
        }
    }

    /// Returns samples of wall time, CPU time and peak memory in blocks.
    pub fn samples(&self) -> Samples {
        let mut samples = Samples::new(vec![
            Metric::wall(),
            Metric::lower("cpu", Unit::Second),
            Metric::lower("max_rss", Unit::Byte),
        ]);
        for name in &self.names {
            samples.add_command(Subject {
                name: (*name).to_owned(),
                command: Some(format!("{name} --input data")),
                ..Subject::default()
            });
        }
        samples.plan = Some(self.plan.clone());
        samples.stop = Some(self.stop);
        samples.started = Some("2026-03-01T12:00:00Z".to_owned());
        samples.environment = quiet_machine();
        let subjects = self.names.len();
        let mut time = 0.0;
        for block in 0..self.blocks {
            for position in 0..subjects {
                let subject = (position + block as usize * 7 % 3) % subjects;
                let own = 1.0 + self.spread * noise(subject, block);
                let wall = self.seconds * self.factors[subject] * own;
                let memory = 35_700_000.0 + 40_960.0 * (noise(subject + 9, block) * 8.0).round();
                samples.push(Observation {
                    subject,
                    block: Some(block),
                    position: Some(position as u32),
                    time: Some(time),
                    values: vec![wall, wall * (0.998 + 0.001 * noise(subject + 5, block)), memory],
                    ..Observation::default()
                });
                time += wall;
            }
        }
        samples
    }

    pub fn analysis(&self) -> Analysis {
        analysed(&self.samples())
    }
}

pub fn analysed(samples: &Samples) -> Analysis {
    analyse(samples, &Options::default()).unwrap()
}

pub fn quiet_machine() -> Environment {
    let facts = [
        ("os", "Linux".into()),
        ("cpus_online", 2.into()),
        ("virtualisation", "kvm".into()),
        ("load_1m", 0.1.into()),
        ("clock_cost_seconds", 24e-9.into()),
        ("governor", "powersave".into()),
        ("turbo", "on".into()),
    ];
    Environment::from_facts(facts.map(|(name, fact)| (name.to_owned(), fact)))
}

pub fn fixed(blocks: u32) -> Plan {
    Plan {
        stop: StopRule::Fixed { blocks },
        budget_seconds: None,
        ..Plan::sequential(0.95, Threshold::default(), 7)
    }
}

pub fn faster() -> Analysis {
    Recipe::of(&["sort-old", "sort-new"], &[1.0, 0.974], 0.02, 42).analysis()
}

/// Like [`faster`], with wall time only: the example of the JSON page.
pub fn only_wall() -> Analysis {
    let whole = Recipe::of(&["sort-old", "sort-new"], &[1.0, 0.974], 0.02, 42).samples();
    let mut samples = Samples::new(vec![Metric::wall()]);
    same_subjects(&mut samples, &whole);
    samples.plan = whole.plan.clone();
    samples.stop = whole.stop;
    samples.started = whole.started.clone();
    samples.environment = quiet_machine();
    for mut o in whole.observations() {
        o.values.truncate(1);
        samples.push(o);
    }
    let mut analysis = analysed(&samples);
    // Enough for the example of the JSON page: one quantile with an interval, one without.
    analysis.comparisons[0].quantiles.retain(|q| q.share == 0.5 || q.share == 0.99);
    analysis
}

pub fn four_times() -> Analysis {
    Recipe::of(&["./count old.txt", "./count-simd old.txt"], &[1.0, 0.25], 0.05, 12).analysis()
}

pub fn four_times_slower() -> Analysis {
    Recipe::of(&["release", "debug"], &[1.0, 4.2], 0.05, 12).analysis()
}

pub fn equivalent() -> Analysis {
    Recipe::of(&["old", "new"], &[1.0, 1.001], 0.02, 60).analysis()
}

pub fn inconclusive() -> Analysis {
    let mut recipe = Recipe::of(&["old", "new"], &[1.0, 0.997], 0.06, 40);
    recipe.stop = StopReason::Budget;
    recipe.analysis()
}

pub fn hopeless() -> Analysis {
    let mut recipe = Recipe::of(&["old", "new"], &[1.0, 1.02], 0.6, 30);
    recipe.stop = StopReason::Budget;
    recipe.analysis()
}

pub fn inconclusive_fixed() -> Analysis {
    let mut recipe = Recipe::of(&["old", "new"], &[1.0, 0.999], 0.06, 20);
    recipe.plan = fixed(20);
    recipe.stop = StopReason::Blocks;
    recipe.analysis()
}

pub fn too_few() -> Analysis {
    let mut recipe = Recipe::of(&["old", "new"], &[1.0, 0.9], 0.02, 4);
    recipe.stop = StopReason::Interrupted;
    recipe.analysis()
}

pub fn qualified() -> Analysis {
    let mut recipe = Recipe::of(&["old", "new"], &[1.0, 0.986], 0.02, 14);
    recipe.stop = StopReason::Budget;
    recipe.analysis()
}

pub fn three() -> Analysis {
    Recipe::of(
        &["gzip -6 data.tar", "zstd -3 data.tar", "lz4 data.tar"],
        &[1.0, 0.31, 1.004],
        0.03,
        30,
    )
    .analysis()
}

pub fn alone() -> Analysis {
    let mut recipe = Recipe::of(&["./build.sh --all"], &[1.0], 0.05, 57);
    recipe.stop = StopReason::Precise;
    recipe.analysis()
}

/// Returns every fixture with its name.
pub fn all() -> Vec<(&'static str, Analysis)> {
    vec![
        ("faster", faster()),
        ("four_times", four_times()),
        ("four_times_slower", four_times_slower()),
        ("equivalent", equivalent()),
        ("inconclusive", inconclusive()),
        ("inconclusive_fixed", inconclusive_fixed()),
        ("hopeless", hopeless()),
        ("too_few", too_few()),
        ("qualified", qualified()),
        ("three", three()),
        ("alone", alone()),
        ("alone_with_one_value", alone_with_one_value()),
        ("unpaired", unpaired()),
        ("unpaired_generic", unpaired_generic()),
        ("unpaired_higher", unpaired_higher()),
        ("unpaired_too_few", unpaired_too_few()),
        ("too_dependent", too_dependent()),
        ("zeros", zeros()),
        ("absolute_threshold", absolute_threshold()),
        ("timeouts_and_failures", timeouts_and_failures()),
        ("all_equal", all_equal()),
        ("only_counted", only_counted()),
        ("drifting", drifting()),
        ("less_memory", less_memory()),
        ("disturbed", disturbed()),
        ("scan_of_one", scan_of_one()),
        ("scan_of_two", scan_of_two()),
        ("scan_of_three", scan_of_three()),
        ("scan_against_the_first", scan_against_the_first()),
        ("scan_secondary", scan_secondary()),
        ("scan_of_own_values", scan_of_own_values()),
        ("scan_of_rates", scan_of_rates()),
        ("mixed", mixed()),
        ("scan_mixed", scan_mixed()),
        ("scan_of_words", scan_of_words()),
        ("scan_too_short", scan_too_short()),
        ("every_test", every_test()),
        ("every_test_of_constants", every_test_of_constants()),
        ("secondary", secondary()),
        ("secondary_of_three", secondary_of_three()),
    ]
}

/// Returns a document as a value, after validating it against the schema of that name.
#[track_caller]
pub fn checked(name: &str, document: &impl serde::Serialize) -> serde_json::Value {
    let value = serde_json::to_value(document).unwrap();
    let problems =
        schema::problems(&assay_report::json::schema::named(name).unwrap().schema(), &value);
    assert!(problems.is_empty(), "{problems:#?}");
    value
}
