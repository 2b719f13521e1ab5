//! Checks that the committed coverage table matches this code, and that the warnings agree with it.

use super::simulation::{self, Truth, cells, sample};
use super::*;
use assay_stats::resampling::Stream;

const PAGE: &str = include_str!("../../../../docs/concepts/deciding.md");

#[test]
fn the_table_has_a_line_for_every_method_and_kind() {
    let expected: Vec<String> = std::iter::once("method,kind,5,20,100,1000".to_owned())
        .chain(
            Method::ALL
                .iter()
                .flat_map(|(_, method)| Kind::ALL.map(|kind| format!("{method},{}", kind.name()))),
        )
        .collect();
    let found: Vec<&str> = TABLE.lines().collect();
    assert_eq!(found.len(), expected.len());
    for (line, start) in found.iter().zip(&expected) {
        assert!(line.starts_with(start.as_str()), "{line} {start}");
    }
    let grouped: Vec<Method> = simulation::GROUPS.concat();
    assert_eq!(grouped, Method::ALL.map(|(method, _)| method));
}

#[test]
fn the_committed_page_has_what_the_generator_makes_of_the_table() {
    let updated = page::updated(PAGE, TABLE);
    assert!(updated.as_deref() == Some(PAGE), "run the generator again: make coverage");
}

#[test]
fn a_few_cells_come_out_as_in_the_table() {
    for (group, kind, n) in [
        (&[Method::MeanT][..], Kind::Lognormal, 20),
        (&[Method::MedianOrder, Method::MedianWidened], Kind::Autoregressive, 100),
        (&[Method::Blocks], Kind::Ties, 20),
        (&[Method::Recordings], Kind::Bimodal, 20),
        (&[Method::BrunnerMunzel], Kind::HeavyTail, 5),
        (&[Method::QuantileP50, Method::QuantileP90], Kind::Lognormal, 100),
    ] {
        let found = cells(group, kind, n, simulation::EXPERIMENTS);
        for (method, cell) in group.iter().zip(found) {
            let coverage = cell.coverage(simulation::EXPERIMENTS).map(|c| format!("{c:.4}"));
            let listed = simulated(*method, kind, n).map(|c| format!("{c:.4}"));
            assert_eq!(coverage, listed, "{method:?} {kind:?} {n}");
        }
    }
}

#[test]
fn invented_data_has_the_truth_that_it_is_held_against() {
    for kind in Kind::ALL {
        let mut stream = Stream::new(4, kind as u64);
        let xs = sample(kind, 200_000, &mut stream);
        let truth = Truth::of(kind);
        let sorted = descriptive::sorted(&xs);
        let near = |found: f64, expected: f64, what: &str| {
            assert!((found - expected).abs() < 0.6, "{kind:?} {what}: {found} {expected}");
        };
        near(descriptive::mean(&xs), truth.mean, "mean");
        near(descriptive::median(&xs), truth.median, "median");
        near(assay_stats::signed_rank::pseudo_median(&sorted), truth.pseudo_median, "pseudo");
        // A t variable with three degrees of freedom has no fourth moment, so its sample standard
        // deviation converges slowly.
        if kind != Kind::HeavyTail {
            near(descriptive::standard_deviation(&xs), truth.sd, "sd");
        }
    }
}

#[test]
fn data_is_told_for_what_it_is() {
    let traits = |kind: Kind| Traits::of(&sample(kind, 1000, &mut Stream::new(8, kind as u64)));
    assert_eq!(traits(Kind::Normal), Traits::default());
    assert!(traits(Kind::Lognormal).skewed && !traits(Kind::Lognormal).ties);
    assert!(traits(Kind::Bimodal).several_modes && !traits(Kind::Bimodal).skewed);
    assert!(traits(Kind::HeavyTail).heavy_tail && !traits(Kind::HeavyTail).several_modes);
    assert_eq!(traits(Kind::Ties), Traits { ties: true, ..Traits::default() });
    assert_eq!(traits(Kind::Autoregressive), Traits { dependent: true, ..Traits::default() });
    let few = sample(Kind::Lognormal, 19, &mut Stream::new(8, 8));
    assert!(!Traits::of(&few).skewed && Traits::of(&few).unseen);
    assert_eq!(Traits::of_shape(&few), Traits::default());
    assert_eq!(Traits::of(&[]), Traits { unseen: true, ..Traits::default() });
    let long = Traits::of_shape(&sample(Kind::Bimodal, 20_000, &mut Stream::new(9, 9)));
    assert!(long.several_modes);
}

#[test]
fn an_interval_that_misses_is_warned_of_and_one_that_holds_is_not() {
    let dependent = Traits { dependent: true, ..Traits::default() };
    let warned = warning(Method::MeanT, 100, dependent);
    assert!(warned.is_some_and(|w| w.simulated < 0.8 && w.situation == Kind::Autoregressive));
    assert_eq!(warning(Method::MeanT, 100, Traits::default()), None);
    assert_eq!(warning(Method::MedianOrder, 100, Traits::default()), None);
    let skewed = Traits { skewed: true, ..Traits::default() };
    assert!(warning(Method::BootstrapSdPercentile, 20, skewed).is_some());
    // Beyond the simulated sample sizes the nearest one is used. Between them the values are
    // interpolated.
    let at = |n| simulated(Method::MeanT, Kind::Lognormal, n);
    assert_eq!((at(2), at(5_000)), (at(5), at(1000)));
    assert!(at(30) > at(20) && at(30) < at(100));
    // Five values are too few for an interval of the median.
    assert_eq!(simulated(Method::MedianOrder, Kind::Normal, 5), None);
    assert!(simulated(Method::MedianOrder, Kind::Normal, 7).is_some());
}

/// Returns the number of samples, out of twenty, that get a warning for `method`.
fn marked(method: Method, kind: Kind, n: usize) -> usize {
    let seeds = 0..20;
    seeds
        .filter(|&seed| {
            let values = sample(kind, n, &mut Stream::new(61, seed));
            Situation { n, traits: Traits::of(&values) }.warning(method).is_some()
        })
        .count()
}

#[test]
fn every_cell_that_misses_is_marked_on_samples_of_its_situation() {
    let mut cells = 0;
    for (method, name) in Method::ALL {
        for kind in Kind::ALL {
            let head = format!("{name},{},", kind.name());
            let line = TABLE.lines().find_map(|line| line.strip_prefix(&head));
            for (n, cell) in SIZES.into_iter().zip(line.expect("a line").split(',')) {
                if cell.parse::<f64>().is_ok_and(|c| c >= crate::policy::COVERAGE_LEAST)
                    || cell.parse::<f64>().is_err()
                {
                    continue;
                }
                cells += 1;
                let marked = marked(method, kind, n);
                // With twenty values the shape is recognized only sometimes; with a hundred, nearly
                // always.
                let least = match n {
                    5 => 20,
                    20 => 5,
                    _ => 14,
                };
                assert!(marked >= least, "{name} {} {n}: {marked} of 20", kind.name());
            }
        }
    }
    // Each of the counted cells is bold on the page.
    let bold = page::generated(PAGE).map(|part| part.matches("**").count() / 2);
    assert_eq!(Some(cells), bold);
    assert!(cells > 200, "{cells}");
}

#[test]
fn an_interval_that_holds_is_not_marked_on_plain_data() {
    for method in [Method::MeanT, Method::MedianOrder, Method::ShiftExact, Method::Welch] {
        let found = marked(method, Kind::Normal, 100);
        // About one sample in twenty resembles another distribution by chance.
        assert!(found <= 3, "{method:?}: {found}");
    }
}

#[test]
fn traits_add_up_and_each_kind_has_its_words() {
    let skewed = Traits { skewed: true, ties: true, ..Traits::default() };
    let long = Traits { heavy_tail: true, dependent: true, ..Traits::default() };
    let both = skewed.or(long);
    assert!(both.skewed && both.ties && both.heavy_tail && both.dependent);
    assert!(!both.several_modes && !both.unseen && both == long.or(skewed));
    let kinds = [
        Kind::Normal,
        Kind::Lognormal,
        Kind::Bimodal,
        Kind::HeavyTail,
        Kind::Ties,
        Kind::Autoregressive,
    ];
    let mut words: Vec<&str> = kinds.iter().map(|kind| kind.words()).collect();
    words.sort_unstable();
    words.dedup();
    assert!(words.len() == 6 && words.iter().all(|own| own.contains("values")), "{words:?}");
    assert!(speaks_for(0.9) && speaks_for(0.95) && speaks_for(0.99));
    assert!(!speaks_for(0.89) && !speaks_for(0.995) && !speaks_for(f64::NAN));
}
