//! Divides a suite into parts of similar duration that run on several machines: the longest tests
//! first, each to the part with the shortest total so far. Every machine computes the same division
//! from the same names and times.

use std::collections::BTreeMap;
use std::str::FromStr;

/// One of several parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1.
    pub number: usize,
    /// Total number of parts.
    pub of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Some(Self { number: number.parse().ok()?, of: of.parse().ok()? })
        });
        numbers
            .filter(|own| (1..=own.of).contains(&own.number))
            .ok_or_else(|| format!("`{text}`: give a part and the number of parts, as in 1/4"))
    }
}

/// The contents of a part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    /// The tests, in the order in which they were listed.
    pub tests: Vec<String>,
    /// Total known duration of the part, in seconds.
    pub seconds: f64,
    /// Number of tests in the whole suite that have no known time.
    pub unknown: usize,
}

/// Returns the tests of a part. Tests without a known time count with the mean of the others. O(n
/// (log n + parts)).
pub fn share(tests: &[String], seconds: &BTreeMap<String, f64>, shard: Shard) -> Share {
    let known: Vec<f64> = tests.iter().filter_map(|test| seconds.get(test).copied()).collect();
    let usual = match known.len() {
        0 => 1.0,
        n => known.iter().sum::<f64>() / n as f64,
    };
    let time = |at: usize| seconds.get(&tests[at]).copied().unwrap_or(usual);
    let mut longest: Vec<usize> = (0..tests.len()).collect();
    longest.sort_by(|&a, &b| time(b).total_cmp(&time(a)).then_with(|| tests[a].cmp(&tests[b])));
    let mut loads = vec![0.0; shard.of];
    let mut own = Vec::new();
    for at in longest {
        let least =
            (0..shard.of).min_by(|&a, &b| f64::total_cmp(&loads[a], &loads[b])).unwrap_or(0);
        loads[least] += time(at);
        if least + 1 == shard.number {
            own.push(at);
        }
    }
    own.sort_unstable();
    Share {
        tests: own.into_iter().map(|at| tests[at].clone()).collect(),
        seconds: if known.is_empty() { f64::NAN } else { loads[shard.number - 1] },
        unknown: tests.len() - known.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_together_are_all_tests_and_take_as_long() {
        let tests: Vec<String> = (0..100).map(|n| format!("t{n}")).collect();
        let times = |n: usize| 0.1 + (n * 37 % 100) as f64 / 10.0;
        let seconds: BTreeMap<String, f64> = (0..90).map(|n| (format!("t{n}"), times(n))).collect();
        let shares: Vec<Share> =
            (1..=4).map(|number| share(&tests, &seconds, Shard { number, of: 4 })).collect();
        let mut all: Vec<&String> = shares.iter().flat_map(|share| &share.tests).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 100);
        assert_eq!(shares.iter().map(|share| share.tests.len()).sum::<usize>(), 100);
        let loads: Vec<f64> = shares.iter().map(|share| share.seconds).collect();
        let [least, most] =
            [f64::min, f64::max].map(|of| loads.iter().copied().reduce(of).unwrap());
        assert!(most / least < 1.02, "{loads:?}");
        assert_eq!(shares[0].unknown, 10);
    }

    #[test]
    fn a_part_is_one_of_those_that_there_are() {
        assert_eq!("2/3".parse(), Ok(Shard { number: 2, of: 3 }));
        for text in ["", "0/3", "4/3", "1", "1/0", "a/b"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        assert_eq!(share(&[], &BTreeMap::new(), Shard { number: 1, of: 2 }).tests.len(), 0);
    }
}
