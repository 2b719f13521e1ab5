//! A test that fails in some orders and passes in others: which test before it makes the difference. It is searched for by halves, so that among 500
//! tests twelve runs find it, and fewer where many orders were seen: most tests are then cleared by them.

use std::collections::HashSet;

/// What makes the difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The test fails behind this one.
    Polluter(String),
    /// The test fails by itself, and passes behind this one.
    Needed(String),
    /// No single one does: the test fails (or passes) behind all of these together.
    Together(Vec<String>),
    /// The same order gave another result: it does not depend on the order alone.
    NotByOrder,
}

/// What runs in different orders showed: the search starts from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// For each run in which the test failed the tests that ran before it, in their order.
    pub failed_behind: Vec<Vec<String>>,
    /// The same of the runs in which it passed.
    pub passed_behind: Vec<Vec<String>>,
}

impl Orders {
    /// The tests that could make it fail (or pass) by themselves: they ran before it whenever it failed (passed), and never when it passed (failed);
    /// and all that ran before it once when it did.
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

/// Searches for what makes `victim` fail. `fails` runs some tests in their order, the victim as the last, and says whether that failed. At most
/// three runs, and one for each halving of the suspects.
///
/// # Errors
/// Those of `fails`.
pub fn search<E>(
    victim: &str,
    orders: &Orders,
    mut fails: impl FnMut(&[String]) -> Result<bool, E>,
) -> Result<Found, E> {
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
            return Ok(if alone { Found::Needed(name) } else { Found::Polluter(name) });
        }
    }
    // No single one does it. Where the same order gives the same twice, several do it together.
    if all.is_empty() || run(all)? == alone || run(all)? == alone || run(&[])? != alone {
        return Ok(Found::NotByOrder);
    }
    Ok(Found::Together(all.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("t{at}")).collect()
    }

    fn searched(orders: &Orders, fails: impl Fn(&[String]) -> bool) -> (Found, usize) {
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
            let orders = Orders { failed_behind: vec![names(499)], passed_behind: Vec::new() };
            let (found, runs) = searched(&orders, |tests| tests.contains(&name));
            assert_eq!(found, Found::Polluter(name));
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
        let orders = Orders { failed_behind, passed_behind };
        let (found, runs) = searched(&orders, |tests| tests.contains(&name));
        assert_eq!(found, Found::Polluter(name));
        assert!(runs <= 8, "{runs}");
    }

    #[test]
    fn a_test_that_needs_another_one_is_told_from_one_that_is_polluted() {
        let needed = "t3".to_owned();
        let orders = Orders { passed_behind: vec![names(20)], failed_behind: vec![names(2)] };
        let (found, _) = searched(&orders, |tests| !tests.contains(&needed));
        assert_eq!(found, Found::Needed(needed));
    }

    #[test]
    fn what_needs_two_or_no_order_is_told() {
        let both = ["t1".to_owned(), "t8".to_owned()];
        let orders = Orders { failed_behind: vec![names(10)], passed_behind: Vec::new() };
        let (found, _) = searched(&orders, |tests| both.iter().all(|own| tests.contains(own)));
        assert_eq!(found, Found::Together(names(10)));
        let (found, runs) = searched(&orders, |_| false);
        assert_eq!((found, runs), (Found::NotByOrder, 3));
        assert_eq!(searched(&Orders::default(), |_| false), (Found::NotByOrder, 1));
    }

    #[test]
    fn chance_is_not_taken_for_an_order() {
        // It fails in every third run, whatever ran before.
        let count = std::cell::Cell::new(0);
        let orders = Orders {
            failed_behind: vec![names(10), names(3).split_off(1)],
            passed_behind: vec![names(4), names(8)],
        };
        let (found, _) = searched(&orders, |_| {
            count.set(count.get() + 1);
            count.get() % 3 == 0
        });
        assert_eq!(found, Found::NotByOrder);
    }
}
