//! Drawn values have the requested distribution, and are reproducible from their seed.

use super::*;
use assay_stats::{autocorrelation, descriptive};
use proptest::prelude::*;

fn recipe(distribution: &str, count: u32) -> Recipe {
    let distribution = distribution.parse().expect("a distribution");
    Recipe { subjects: vec![("a".to_owned(), distribution)], count, seed: 7, ..Recipe::default() }
}

fn values(recipe: Recipe) -> Vec<f64> {
    let drawn = Simulation::new(recipe).expect("a sound recipe");
    drawn.map(|drawn| drawn.expect("finite").value).collect()
}

fn drawn(distribution: &str, count: u32) -> Vec<f64> {
    values(recipe(distribution, count))
}

/// Asserts that a number is close to its expected value.
#[track_caller]
fn near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} is not {expected} ± {within}");
}

#[test]
fn every_distribution_has_the_quantiles_that_its_name_promises() {
    // Values and the probabilities of not exceeding them, from R's distribution functions.
    let known = [
        ("uniform(2, 6)", [(3.0, 0.25), (5.0, 0.75)]),
        ("normal(10, 2)", [(10.0, 0.5), (12.0, 0.841_344_7)]),
        ("lognormal(5, 0.2)", [(148.413_2, 0.5), (181.272_2, 0.841_344_7)]),
        ("exponential(3)", [(3.0, 0.632_120_6), (9.0, 0.950_212_9)]),
        ("student(3)", [(0.0, 0.5), (2.353_363, 0.95)]),
        ("pareto(2, 5)", [(10.0, 0.75), (50.0, 0.99)]),
        ("-exponential(3)", [(-3.0, 0.367_879_4), (-9.0, 0.049_787_07)]),
        ("mix(0.7: 1, 20%: 2, 0.1: 3)", [(1.5, 0.7), (2.5, 0.9)]),
        ("2 * normal(1, 3) - normal(0, 8)", [(2.0, 0.5), (12.0, 0.841_344_7)]),
    ];
    for (distribution, quantiles) in known {
        let n = 40_000;
        let sample = drawn(distribution, n);
        for (value, probability) in quantiles {
            let share = sample.iter().filter(|&&x| x <= value).count() as f64 / f64::from(n);
            // Four and a half standard errors: one false failure in 150,000.
            let error = (probability * (1.0 - probability) / f64::from(n)).sqrt();
            assert!(
                (share - probability).abs() < 4.5 * error,
                "{distribution}: {share} at {value}"
            );
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_others() {
    let distribution = "lognormal(5, 0.2)";
    assert_eq!(drawn(distribution, 100), drawn(distribution, 100));
    assert_ne!(drawn(distribution, 100), values(Recipe { seed: 8, ..recipe(distribution, 100) }));
    // Drawing one more value changes neither the values before it nor those of another subject.
    assert_eq!(drawn(distribution, 100), drawn(distribution, 101)[..100]);
    let mut two = recipe(distribution, 100);
    two.subjects.push(two.subjects[0].clone());
    let both = values(two);
    assert_eq!(both[..100], drawn(distribution, 100));
    assert_ne!(both[..100], both[100..]);
}

#[test]
fn memory_keeps_the_distribution_and_ties_neighbours_together() {
    for distribution in
        ["normal(0, 1)", "lognormal(0, 0.2)", "mix(0.7: normal(0, 1), 0.3: 9 + normal(0, 1))"]
    {
        let sample = values(Recipe { memory: 0.5, ..recipe(distribution, 40_000) });
        let free = drawn(distribution, 40_000);
        let (tied, untied) = (
            autocorrelation::rank_autocorrelation(&sample, 1)[0],
            autocorrelation::rank_autocorrelation(&free, 1)[0],
        );
        assert!(tied > 0.25 && tied < 0.55, "{distribution}: {tied}");
        near(untied, 0.0, 0.02);
        near(
            descriptive::standard_deviation(&sample) / descriptive::standard_deviation(&free),
            1.0,
            0.03,
        );
    }
    // For a normal distribution, the process is exactly AR(1).
    let sample = values(Recipe { memory: 0.5, ..recipe("normal(0, 1)", 100_000) });
    let acf = autocorrelation::autocorrelation(&sample, 2);
    near(acf[0], 0.5, 0.015);
    near(acf[1], 0.25, 0.02);
    let alternating = values(Recipe { memory: -0.9, ..recipe("normal(0, 1)", 20_000) });
    near(autocorrelation::autocorrelation(&alternating, 1)[0], -0.9, 0.02);
}

#[test]
fn blocks_hold_every_subject_once_in_an_order_drawn_anew() {
    let distribution: Distribution = "uniform(0, 1)".parse().expect("a distribution");
    let subjects = ["a", "b", "c"].map(|name| (name.to_owned(), distribution.clone())).to_vec();
    let recipe = Recipe { subjects, count: 600, seed: 3, blocks: true, ..Recipe::default() };
    let all: Vec<DrawnValue> =
        Simulation::new(recipe.clone()).expect("sound").map(|d| d.expect("finite")).collect();
    let mut first = [0; 3];
    for (number, block) in all.chunks(3).enumerate() {
        let mut of: Vec<usize> = block.iter().map(|d| d.subject).collect();
        first[of[0]] += 1;
        of.sort_unstable();
        assert_eq!(of, [0, 1, 2]);
        let places: Vec<_> = block.iter().map(|d| d.place).collect();
        assert_eq!(places, [0, 1, 2].map(|position| Some((number as u32, position))));
    }
    assert!(first.iter().all(|&count| count > 140 && count < 260), "{first:?}");
    // A subject's values do not depend on the blocks.
    let apart = Recipe { blocks: false, ..recipe };
    let of_b = |recipe: Recipe| -> Vec<f64> {
        let drawn = Simulation::new(recipe).expect("sound").map(|d| d.expect("finite"));
        drawn.filter(|d| d.subject == 1).map(|d| d.value).collect()
    };
    assert_eq!(of_b(apart.clone()), of_b(Recipe { blocks: true, ..apart }));
}

#[test]
fn drift_tick_outliers_and_step_do_what_they_say() {
    let numbers = Numbers::default();
    let with = |change: &dyn Fn(&mut Recipe)| {
        let mut recipe = recipe("100", 11);
        change(&mut recipe);
        values(recipe)
    };
    let drifting = with(&|r| r.drift = Change::parse("5%", &numbers).ok());
    assert_eq!((drifting[0], drifting[5], drifting[10]), (100.0, 102.49999999999999, 105.0));
    let falling = with(&|r| r.drift = Change::parse("-10", &numbers).ok());
    assert_eq!((falling[0], falling[5], falling[10]), (100.0, 95.0, 90.0));
    let ticking = with(&|r| r.tick = Tick::parse("period 5, 3%", &numbers).ok());
    assert_eq!(ticking.iter().filter(|&&v| v == 103.0).count(), 2);
    assert_eq!((ticking[4], ticking[9]), (103.0, 103.0));
    let wild = Outliers::parse("10%: 10 x", &numbers).ok();
    let sample = values(Recipe { outliers: wild, ..recipe("100", 10_000) });
    let outliers = sample.iter().filter(|&&v| v == 1000.0).count();
    assert!(outliers > 850 && outliers < 1150, "{outliers}");
    assert!(sample.iter().all(|&v| v == 100.0 || v == 1000.0));
    let coarse = values(Recipe { step: Some(0.1), ..recipe("uniform(0, 1)", 1000) });
    assert!(coarse.iter().all(|v| v.to_string().len() <= 3), "{coarse:?}");
    let coarse = values(Recipe { step: Some(25.0), ..recipe("uniform(0, 1000)", 1000) });
    assert!(coarse.iter().all(|v| v % 25.0 == 0.0));
}

#[test]
fn sizes_may_have_the_unit_of_the_numbers() {
    let numbers = Numbers::of_symbol("us");
    assert_eq!(numbers.amount("1us"), Ok(1.0));
    assert_eq!(numbers.amount("3 ms"), Ok(3000.0));
    assert_eq!(numbers.amount("7"), Ok(7.0));
    assert_eq!(numbers.to_base(12.5), 12.5e-6);
    assert!(numbers.amount("7KiB").is_err_and(|e| e.to_string().contains("--unit")));
    assert!(numbers.amount("7%").is_err() && numbers.amount("much").is_err());
    assert!(Numbers::default().amount("1us").is_err());
    assert_eq!(Change::parse("2ms", &numbers), Ok(Change::Absolute(2000.0)));
    let more = Outliers::parse("0.5%: +300us", &numbers);
    assert_eq!(more, Ok(Outliers { share: 0.005, change: Change::Absolute(300.0) }));
    for wrong in ["1%", "1%: lots x", "200%: 2 x", "1%: ", "x: 3"] {
        assert!(Outliers::parse(wrong, &numbers).is_err(), "{wrong}");
    }
    for wrong in ["10", "period 0, 3%", "period -1, 3%", "period ten, 3%", "period 10, "] {
        assert!(Tick::parse(wrong, &numbers).is_err(), "{wrong}");
    }
}

#[test]
fn what_can_not_be_drawn_is_an_error() {
    let refused = |recipe: Recipe| Simulation::new(recipe).err();
    assert_eq!(refused(Recipe::default()), Some(MockError::Nothing));
    assert_eq!(refused(recipe("1", 0)), Some(MockError::Nothing));
    assert!(matches!(
        refused(Recipe { memory: 1.0, ..recipe("1", 1) }),
        Some(MockError::Memory(_))
    ));
    assert!(matches!(
        refused(Recipe { memory: f64::NAN, ..recipe("1", 1) }),
        Some(MockError::Memory(_))
    ));
    assert!(matches!(
        refused(Recipe { step: Some(0.0), ..recipe("1", 1) }),
        Some(MockError::Step(_))
    ));
    let huge = Simulation::new(recipe("lognormal(1000, 1)", 5)).expect("sound").next();
    assert!(matches!(huge, Some(Err(MockError::NotFinite { number: 1, .. }))), "{huge:?}");
}

#[test]
fn an_error_in_a_distribution_says_where_and_what_would_be_right() {
    let told = |text: &str| {
        let error = text.parse::<Distribution>().expect_err(text);
        (error.position, error.problem)
    };
    for (text, position, says) in [
        ("", 1, "a number or a distribution is missing"),
        ("lognrmal(5, 0.2)", 1, "no distribution `lognrmal`"),
        ("4000 + lognormal(5)", 19, "lognormal(MEAN_OF_LOG, SD_OF_LOG)"),
        ("normal(1, 2, 3)", 12, "one parameter too many"),
        ("normal(1, -2)", 11, "must not be negative"),
        ("uniform(3, 2)", 12, "HIGH must be larger"),
        ("exponential(0)", 13, "more than 0"),
        ("pareto(1, 0)", 11, "LEAST"),
        ("mix(0.7: 1, 0.2: 2)", 5, "these add up to 0.9"),
        ("mix(1.5: 1)", 5, "a share lies between"),
        ("mix(0.5 1)", 9, "expected `:`"),
        ("1 + ", 5, "missing"),
        ("(1 + 2", 7, "`)` is missing"),
        ("1 2", 3, "one too many"),
        ("1 / 2", 3, "one too many"),
        ("é + 1", 1, "no distribution `é`"),
        ("1e999", 1, "too large"),
        ("normal(x, 1)", 8, "expected a number"),
    ] {
        let (at, problem) = told(text);
        assert!(at == position && problem.contains(says), "{text}: {at}: {problem}");
    }
    let deep = "(".repeat(200_000);
    assert!(told(&deep).1.contains("deep"));
    assert!(told(&"-".repeat(200_000)).1.contains("deep"));
    let long = vec!["1"; 200_000].join("+");
    assert!(told(&long).1.contains("256 parts"));
}

/// Distributions in the form in which the parser creates them: a minus sign before a number belongs
/// to the number.
fn any_distribution() -> impl Strategy<Value = Distribution> {
    let number = prop_oneof![-1e6..1e6_f64, Just(0.0), Just(1e-300), Just(1e300)];
    let size = 0.001..1e3_f64;
    let leaf = prop_oneof![
        number.clone().prop_map(Distribution::Constant),
        (number.clone(), size.clone()).prop_map(|(low, width): (f64, f64)| Distribution::Uniform {
            low,
            high: low + width.max(low.abs())
        }),
        (number.clone(), size.clone()).prop_map(|(mean, sd)| Distribution::Normal { mean, sd }),
        (number, size.clone()).prop_map(|(mean, sd)| Distribution::LogNormal { mean, sd }),
        size.clone().prop_map(|mean| Distribution::Exponential { mean }),
        size.clone().prop_map(|df| Distribution::Student { df }),
        (size.clone(), size).prop_map(|(shape, least)| Distribution::Pareto { shape, least }),
    ];
    leaf.prop_recursive(4, 40, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(a, b)| Distribution::Sum(Box::new(a), Box::new(b))),
            two.clone().prop_map(|(a, b)| Distribution::Difference(Box::new(a), Box::new(b))),
            two.clone().prop_map(|(a, b)| Distribution::Product(Box::new(a), Box::new(b))),
            two.prop_map(|(a, b)| Distribution::Mix(vec![(0.25, a), (0.75, b)])),
            inner.prop_map(|distribution| match distribution {
                Distribution::Constant(number) => Distribution::Constant(-number),
                other => Distribution::Negative(Box::new(other)),
            }),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_the_same(distribution in any_distribution()) {
        prop_assert_eq!(distribution.to_string().parse::<Distribution>(), Ok(distribution));
    }

    #[test]
    fn no_text_does_harm(text in ".{0,60}", distributions in "[a-z0-9+*:,.()% -]{0,40}") {
        for text in [text, distributions] {
            if let Ok(distribution) = text.parse::<Distribution>() {
                let again = distribution.to_string().parse::<Distribution>();
                prop_assert_eq!(again, Ok(distribution));
            }
        }
    }

    #[test]
    fn whatever_is_drawn_is_a_number_or_an_error(distribution in any_distribution(), memory in -0.99..0.99, blocks: bool, seed: u64) {
        let subjects = vec![("a".to_owned(), distribution.clone()), ("b".to_owned(), distribution)];
        let recipe = Recipe { subjects, count: 5, seed, blocks, memory, ..Recipe::default() };
        let drawn: Vec<_> = Simulation::new(recipe).expect("sound").collect();
        prop_assert_eq!(drawn.len(), 10);
        prop_assert!(drawn.iter().flatten().all(|d| d.value.is_finite()));
    }
}
