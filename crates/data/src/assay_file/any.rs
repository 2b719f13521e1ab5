//! Arbitrary samples for property tests: everything the data model allows, including strange names
//! and values.

use crate::{
    Better, Metric, Observation, Outcome, Pass, Plan, Samples, Side, Subject, Threshold, Unit,
};
use proptest::prelude::*;

fn any_finite() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite())
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        5 => Just(Outcome::Ok),
        1 => any::<i32>().prop_map(Outcome::Exit),
        1 => (1..64).prop_map(Outcome::Signal),
        1 => Just(Outcome::Timeout),
    ]
}

fn any_plan() -> impl Strategy<Value = Plan> {
    (0.5..0.999, any_finite(), any::<u32>(), any::<bool>()).prop_map(
        |(confidence, amount, seed, absolute)| {
            let threshold = if absolute {
                Threshold::Absolute { value: amount, unit: Unit::Second }
            } else {
                Threshold::Relative(amount)
            };
            Plan::sequential(confidence, threshold, u64::from(seed))
        },
    )
}

pub(crate) fn any_samples() -> impl Strategy<Value = Samples> {
    let units = prop_oneof![
        Just(Unit::Second),
        Just(Unit::Byte),
        Just(Unit::One),
        Just(Unit::PerSecond),
        Just(Unit::Other("furlong".to_owned()))
    ];
    let metrics = proptest::collection::btree_map("[a-z:_\"é]{1,8}", (units, any::<bool>()), 1..5);
    let place = (any::<bool>(), proptest::option::of(0..9u32), proptest::option::of(any_finite()));
    let level = proptest::collection::vec(0..5u32, 0..3);
    let values = proptest::collection::vec(prop_oneof![3 => any_finite(), 1 => Just(f64::NAN)], 5);
    let pass = proptest::option::of(proptest::sample::select(&Pass::ALL[..]));
    let parameter = proptest::option::of(".{0,4}|[-0-9.]{1,3}");
    let names =
        proptest::collection::btree_map(".{0,12}", (0..2_usize, 0..2_usize, parameter), 1..4);
    let observation = (any::<prop::sample::Index>(), pass, place, level, any_outcome(), values);
    (
        names,
        metrics,
        proptest::collection::vec(observation, 0..20),
        proptest::option::of(any_plan()),
    )
        .prop_map(|(names, metrics, observations, plan)| {
            let metrics: Vec<Metric> = metrics
                .into_iter()
                .map(|(name, (unit, higher))| Metric {
                    better: if higher { Better::Higher } else { Better::Lower },
                    exact: higher,
                    ..Metric::lower(&name, unit)
                })
                .collect();
            let mut samples = Samples::new(metrics);
            samples.plan = plan;
            for name in ["old", "n\"ew"] {
                samples.add_side(Side { name: name.to_owned(), ..Side::default() });
                samples.row_named(name);
            }
            for (index, (name, (side, row, parameter))) in names.iter().enumerate() {
                // The number makes the keys distinct.
                let number = ("#".to_owned(), index.to_string().into());
                let more = parameter.as_deref().map(|value| ("n".to_owned(), value.into()));
                samples.add(Subject {
                    side: *side,
                    row: *row,
                    parameters: std::iter::once(number).chain(more).collect(),
                    name: name.clone(),
                    ..Subject::default()
                });
            }
            let mut next_block = 0;
            for (who, pass, (in_block, position, time), level, outcome, mut values) in observations
            {
                values.truncate(samples.metrics.len());
                next_block += 1;
                samples.push(Observation {
                    subject: who.index(names.len()),
                    pass,
                    block: in_block.then_some(next_block),
                    position,
                    level,
                    time,
                    outcome,
                    values,
                });
            }
            samples
        })
}
