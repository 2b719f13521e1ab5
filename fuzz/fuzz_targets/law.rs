//! A text is a law or an error that says where; a law that was read is written as it can be read again, and whatever is drawn from it is
//! a finite number or an error.
#![no_main]

use assay_analysis::mock::{Law, Recipe, Simulation};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Law>() {
        Ok(law) => {
            assert_eq!(law.to_string().parse::<Law>().as_ref(), Ok(&law));
            let subjects = vec![("a".to_owned(), law)];
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
