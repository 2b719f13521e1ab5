//! Parses a text as a distribution: the result is an error with its position, or a distribution
//! whose written form can be parsed again, and whose draws are finite numbers or errors.
#![no_main]

use assay_analysis::mock::{Distribution, Recipe, Simulation};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Distribution>() {
        Ok(distribution) => {
            assert_eq!(distribution.to_string().parse::<Distribution>().as_ref(), Ok(&distribution));
            let subjects = vec![("a".to_owned(), distribution)];
            for memory in [0.0, 0.5] {
                let recipe = Recipe { subjects: subjects.clone(), count: 3, memory, ..Recipe::default() };
                let Ok(simulation) = Simulation::new(recipe) else { unreachable!("a sound recipe") };
                assert!(simulation.flatten().all(|drawn| drawn.value.is_finite()));
            }
        }
        Err(error) => {
            assert!(error.position >= 1 && error.position <= text.chars().count() + 1);
            assert!(!error.to_string().contains(char::is_control));
        }
    }
});
