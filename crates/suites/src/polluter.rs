//! Finds which earlier test makes an order-dependent test fail. The search is binary: among 500
//! tests it takes twelve runs, and fewer if many orders were observed, because those already clear
//! most tests.

use std::collections::HashSet;

/// The cause of an order dependence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderDependence {
    /// The test fails after this one.
    Polluter(String),
    /// The test fails alone, and passes after this one.
    Needed(String),
    /// No single test is responsible: the test fails (or passes) after all of these together.
    Together(Vec<String>),
    /// The same order gave a different result, so the failure does not depend on the order alone.
    NotByOrder,
}

/// Results of runs in different orders, from which the search starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedOrders {
    /// For each run in which the test failed, the tests that ran before it, in order.
    pub failed_behind: Vec<Vec<String>>,
    /// For each run in which the test passed, the tests that ran before it, in order.
    pub passed_behind: Vec<Vec<String>>,
}

impl ObservedOrders {
    /// Returns the tests that could by themselves make the test fail (or pass): those that ran
    /// before it whenever it failed (passed), and never when it passed (failed). Also returns all
    /// tests that ran before it in one such run.
    fn suspects(&self, alone: bool) -> (Vec<String>, &[String]) {
        let (with, without) = match alone {
            true => (&self.passed_behind, &self.failed_behind),
            false => (&self.failed_behind, &self.passed_behind),
        };
        let Some((first, others)) = with.split_first() else { return (Vec::new(), &[]) };
        let sets = |runs: &[Vec<String>]| -> Vec<HashSet<String>> {
            runs.iter().map(|run| run.iter().cloned().collect()).collect()
        };
        let (others, without) = (sets(others), sets(without));
        let could = |test: &&String| {
            others.iter().all(|run| run.contains(*test))
                && !without.iter().any(|run| run.contains(*test))
        };
        (first.iter().filter(could).cloned().collect(), first)
    }
}

/// Searches for what makes `victim` fail. `fails` runs tests in the given order, with the victim
/// last, and returns true if the victim failed. It is called three times, plus once for each
/// halving of the suspects, and up to three more times if no single test is responsible.
///
/// # Errors
/// The errors of `fails`.
pub fn search<E>(
    victim: &str,
    orders: &ObservedOrders,
    mut fails: impl FnMut(&[String]) -> Result<bool, E>,
) -> Result<OrderDependence, E> {
    let mut run = |before: &[String]| {
        let mut tests = before.to_vec();
        tests.push(victim.to_owned());
        fails(&tests)
    };
    let alone = run(&[])?;
    let (suspects, all) = orders.suspects(alone);
    let mut suspects: &[String] = &suspects;
    if !suspects.is_empty() && run(suspects)? != alone {
        while suspects.len() > 1 {
            let (first, second) = suspects.split_at(suspects.len() / 2);
            suspects = if run(first)? == alone { second } else { first };
        }
        if run(suspects)? != alone {
            let name = suspects.first().cloned().unwrap_or_default();
            return Ok(if alone {
                OrderDependence::Needed(name)
            } else {
                OrderDependence::Polluter(name)
            });
        }
    }
    // No single test is responsible. If the same order gives the same result twice, several tests
    // are jointly responsible.
    if all.is_empty() || run(all)? == alone || run(all)? == alone || run(&[])? != alone {
        return Ok(OrderDependence::NotByOrder);
    }
    Ok(OrderDependence::Together(all.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("t{at}")).collect()
    }

    fn searched(
        orders: &ObservedOrders,
        fails: impl Fn(&[String]) -> bool,
    ) -> (OrderDependence, usize) {
        let mut runs = 0;
        let found = search("v", orders, |tests| {
            assert_eq!(tests.last().map(String::as_str), Some("v"));
            runs += 1;
            Ok::<_, Infallible>(fails(tests))
        });
        let Ok(found) = found;
        (found, runs)
    }

    #[test]
    fn a_polluter_among_500_tests_takes_at_most_12_runs() {
        for polluter in [0, 1, 249, 250, 317, 498] {
            let name = format!("t{polluter}");
            let orders =
                ObservedOrders { failed_behind: vec![names(499)], passed_behind: Vec::new() };
            let (found, runs) = searched(&orders, |tests| tests.contains(&name));
            assert_eq!(found, OrderDependence::Polluter(name));
            assert!(runs <= 12, "{runs}");
        }
    }

    #[test]
    fn orders_that_were_seen_clear_most_tests() {
        let shuffled = |seed: u64| -> Vec<String> {
            let mixed = |name: &String| {
                let number = name[1..].parse::<u64>().unwrap() + seed * 1000;
                let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
                (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
            };
            let mut all = names(499);
            all.sort_by_key(mixed);
            all.truncate(250);
            all
        };
        let name = "t17".to_owned();
        let (failed_behind, passed_behind) =
            (0..16).map(shuffled).partition(|run: &Vec<String>| run.contains(&name));
        let orders = ObservedOrders { failed_behind, passed_behind };
        let (found, runs) = searched(&orders, |tests| tests.contains(&name));
        assert_eq!(found, OrderDependence::Polluter(name));
        assert!(runs <= 8, "{runs}");
    }

    #[test]
    fn a_test_that_needs_another_one_is_told_from_one_that_is_polluted() {
        let needed = "t3".to_owned();
        let orders =
            ObservedOrders { passed_behind: vec![names(20)], failed_behind: vec![names(2)] };
        let (found, _) = searched(&orders, |tests| !tests.contains(&needed));
        assert_eq!(found, OrderDependence::Needed(needed));
    }

    #[test]
    fn what_needs_two_or_no_order_is_told() {
        let both = ["t1".to_owned(), "t8".to_owned()];
        let orders = ObservedOrders { failed_behind: vec![names(10)], passed_behind: Vec::new() };
        let (found, _) = searched(&orders, |tests| both.iter().all(|own| tests.contains(own)));
        assert_eq!(found, OrderDependence::Together(names(10)));
        let (found, runs) = searched(&orders, |_| false);
        assert_eq!((found, runs), (OrderDependence::NotByOrder, 3));
        assert_eq!(
            searched(&ObservedOrders::default(), |_| false),
            (OrderDependence::NotByOrder, 1)
        );
    }

    #[test]
    fn chance_is_not_taken_for_an_order() {
        // It fails in every third run, regardless of the order.
        let count = std::cell::Cell::new(0);
        let orders = ObservedOrders {
            failed_behind: vec![names(10), names(3).split_off(1)],
            passed_behind: vec![names(4), names(8)],
        };
        let (found, _) = searched(&orders, |_| {
            count.set(count.get() + 1);
            count.get() % 3 == 0
        });
        assert_eq!(found, OrderDependence::NotByOrder);
    }
}
