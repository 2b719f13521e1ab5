//! Hand-made kill matrices and their classification.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use super::*;
use assay_data::mutation::{MutatedFile, MutatedUnit, MutationTest};

/// Returns a project with two sources of one function each, a test file with two tests for each
/// source, and a file with two tests of the whole program.
fn project() -> Mutation {
    let file = |path: &str| MutatedFile { path: path.to_owned(), ..MutatedFile::default() };
    let test = |name: &str, file: &str| MutationTest {
        name: name.to_owned(),
        file: Some(file.to_owned()),
        seconds: None,
    };
    Mutation {
        files: vec![file("tax.py"), file("cart.py")],
        units: vec![
            MutatedUnit { file: 0, name: "tax".to_owned(), ..MutatedUnit::default() },
            MutatedUnit { file: 1, name: "Cart.add".to_owned(), ..MutatedUnit::default() },
        ],
        tests: vec![
            test("a", "test_tax.py"),
            test("b", "test_tax.py"),
            test("c", "test_cart.py"),
            test("d", "test_cart.py"),
            test("e", "test_all.py"),
            test("f", "test_all.py"),
        ],
        has_coupling: true,
        ..Mutation::default()
    }
}

fn killed(unit: usize, by: &[usize]) -> MutantResult {
    MutantResult {
        unit,
        operator: "number".to_owned(),
        fate: Fate::Killed,
        killed_by: by.to_vec(),
        is_complete: true,
        ..MutantResult::default()
    }
}

fn with(unit: usize, fate: Fate) -> MutantResult {
    MutantResult { unit, operator: "number".to_owned(), fate, ..MutantResult::default() }
}

#[test]
fn what_fails_at_home_is_well_tested_and_what_fails_everywhere_is_tangled() {
    let mut mutation = project();
    mutation.mutants = vec![killed(0, &[0]), killed(0, &[0, 1]), killed(0, &[1])];
    mutation.mutants.extend([killed(1, &[0, 2, 4, 5]), killed(1, &[1, 2, 3, 4])]);
    mutation.rewrites = vec![with(0, Fate::Survived), with(1, Fate::Survived)];
    let all = couplings(&mutation).unwrap();
    let [tax, cart] = &all.units[..] else { panic!("{all:?}") };
    assert_eq!(tax.quadrant, Some(Quadrant::WellTested));
    assert_eq!((tax.focus.unwrap().mean, tax.radius.unwrap().mean), (1.0, 1.0));
    assert!(tax.is_clear && tax.foreign.is_empty());
    assert_eq!(cart.quadrant, Some(Quadrant::Tangled));
    assert_eq!((cart.focus.unwrap().mean, cart.radius.unwrap().mean), (0.375, 3.0));
    assert_eq!(cart.locality.unwrap().mean, 0.125);
    let foreign = [("test_all.py".to_owned(), 2), ("test_tax.py".to_owned(), 2)];
    assert_eq!(cart.foreign, foreign);
    assert_eq!(all.files[1], *cart);
    assert_eq!(all.whole.complete, 5);
    // A function is well tested if two of its own tests fail along with one test of the whole
    // program.
    mutation.mutants = vec![killed(0, &[0, 1, 4])];
    assert_eq!(couplings(&mutation).unwrap().units[0].quadrant, Some(Quadrant::WellTested));
}

#[test]
fn failures_in_several_files_of_its_own_are_no_tangle() {
    let mut mutation = project();
    let more = ["test_tax_rates.py", "test_tax_rounding.py", "test_tax_zones.py"];
    for (number, file) in more.into_iter().enumerate() {
        let (name, file) = (format!("more {number}"), Some(file.to_owned()));
        mutation.tests.push(MutationTest { name, file, seconds: None });
    }
    // These file names match no source, but the tests in them use only this function.
    let covered_by = Some(vec![6, 7, 8]);
    mutation.mutants =
        vec![MutantResult { covered_by, ..killed(0, &[0, 6, 7, 8]) }, killed(0, &[1])];
    let all = couplings(&mutation).unwrap();
    let tax = &all.units[0];
    assert_eq!((tax.focus.unwrap().mean, tax.radius.unwrap().mean), (1.0, 2.5));
    assert_eq!(tax.locality.unwrap().mean, 1.0);
    assert_eq!(tax.quadrant, Some(Quadrant::WellTested));
}

#[test]
fn a_test_that_fails_with_a_rewrite_is_brittle_and_named() {
    let mut mutation = project();
    mutation.mutants = vec![killed(0, &[0]), killed(0, &[1])];
    mutation.rewrites = vec![with(0, Fate::Survived), killed(0, &[1])];
    let all = couplings(&mutation).unwrap();
    assert_eq!(all.units[0].quadrant, Some(Quadrant::Brittle));
    assert_eq!((all.units[0].rewrites, all.units[0].failing), (2, 1));
    assert_eq!(all.units[0].brittle_tests, [1]);
    // A rewrite that can't be built is ignored.
    mutation.rewrites = vec![with(0, Fate::Survived), with(0, Fate::Unviable)];
    assert_eq!(couplings(&mutation).unwrap().units[0].quadrant, Some(Quadrant::WellTested));
}

#[test]
fn what_nobody_notices_is_untested_whatever_fails() {
    let mut mutation = project();
    mutation.mutants = vec![killed(0, &[0]), with(0, Fate::Survived), with(0, Fate::Uncovered)];
    let all = couplings(&mutation).unwrap();
    assert_eq!(all.units[0].quadrant, Some(Quadrant::Untested));
    assert_eq!(all.units[1].quadrant, None, "nothing was changed there");
    mutation.has_coupling = false;
    assert_eq!(couplings(&mutation), None);
}

#[test]
fn a_sample_leaves_an_interval_open() {
    let mut mutation = project();
    mutation.mutants = vec![killed(0, &[0]); 4];
    mutation.mutants.push(MutantResult { is_complete: false, ..killed(0, &[4]) });
    let all = couplings(&mutation).unwrap();
    let focus = all.units[0].focus.unwrap();
    assert_eq!((focus.mean, all.units[0].complete), (1.0, 4));
    let interval = focus.interval.unwrap();
    assert!(interval.lower > 0.3 && interval.lower < 0.5 && interval.upper == 1.0, "{interval:?}");
    // For one of the five changes, not all tests ran.
    assert!(!all.units[0].is_clear);
    let locality = all.units[0].locality.unwrap();
    assert!(locality.mean == 1.0 && locality.interval.unwrap().lower < crate::policy::LOCAL);
    // A change that has not been tried yet might also be detected.
    mutation.mutants[4] = with(0, Fate::Pending);
    assert_eq!(couplings(&mutation).unwrap().units[0].focus.unwrap().interval, Some(interval));
    mutation.mutants[4] = with(0, Fate::Survived);
    let known = couplings(&mutation).unwrap().units[0].focus.unwrap().interval.unwrap();
    assert_eq!((known.lower, known.upper), (1.0, 1.0));
}

#[test]
fn each_quadrant_has_its_word() {
    let all = [Quadrant::Untested, Quadrant::Tangled, Quadrant::Brittle, Quadrant::WellTested];
    assert_eq!(all.map(Quadrant::word), ["untested", "tangled", "brittle", "well tested"]);
}
