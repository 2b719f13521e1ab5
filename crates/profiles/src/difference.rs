//! Compares two profiles: which functions have a different share of the samples.
//!
//! For each function, computes the difference of two proportions with Newcombe's interval (1998,
//! method 10: based on two Wilson intervals) and the p-value of the score test, adjusted over all
//! functions by Holm. Only the sampling error is included: the variation of the program itself from
//! run to run cannot be seen in one profile of each, so a difference here is merely a difference
//! between these two recordings. To compare programs, use alternating runs ([`crate::runs`]).

use crate::functions::{Function, Functions};
use crate::model::Profile;
use crate::shares::effective_samples;
use assay_stats::proportion::wilson_interval;
use assay_stats::{Interval, adjust, normal};
use std::collections::{HashMap, HashSet};

/// The verdict about a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A larger share in the second profile.
    Grew,
    /// A smaller share in the second profile.
    Shrank,
    /// No difference is known.
    Unknown,
}

impl Change {
    /// Returns the word shown on screen and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Grew => "larger",
            Self::Shrank => "smaller",
            Self::Unknown => "inconclusive",
        }
    }
}

/// A function in two profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the function, followed by its file if another function has that name.
    pub name: String,
    /// The name without the file.
    pub bare: String,
    /// File of the function, if known.
    pub file: Option<String>,
    /// Flat share in the first and in the second profile, 0 to 1.
    pub shares: [f64; 2],
    /// Amount spent in the function itself in the first and in the second profile, in the profiles'
    /// unit.
    pub amounts: [f64; 2],
    /// The second share minus the first.
    pub difference: f64,
    /// The confidence interval of the difference, for this function alone.
    pub interval: Option<Interval>,
    /// The p-value, adjusted over all functions.
    pub p: f64,
    /// The verdict.
    pub change: Change,
}

/// Two profiles, function by function.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Names of the profiles.
    pub names: [String; 2],
    /// Number of samples in each profile.
    pub samples: [u64; 2],
    /// Total amount of each profile.
    pub amounts: [f64; 2],
    /// The unit of the amounts.
    pub unit: assay_data::Unit,
    /// The confidence of the comparison as a whole.
    pub confidence: f64,
    /// The functions, largest difference first.
    pub rows: Vec<Row>,
}

/// The reason why two profiles cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DifferenceError {
    /// The two profiles measure different quantities, such as CPU time and allocations.
    #[error(
        "`{0}` measures {1} and `{2}` {3}: only what is measured in the same way can be compared"
    )]
    Units(String, String, String, String),
    /// One of the profiles was not sampled.
    #[error("`{0}` contains no samples that could be weighed against others, only amounts")]
    NotSampled(String),
}

impl Difference {
    /// Compares two profiles. `confidence` is in 0..1. O(frames of all stacks + functions log
    /// functions).
    ///
    /// # Errors
    /// If the profiles measure different quantities, or one was not sampled.
    pub fn of(old: &Profile, new: &Profile, confidence: f64) -> Result<Self, DifferenceError> {
        // Collapsed stacks do not state what a sample measures, so they can be compared with any
        // profile.
        if old.unit != new.unit && old.measure != "samples" && new.measure != "samples" {
            let (a, b) = (old, new);
            return Err(DifferenceError::Units(
                a.name.clone(),
                a.measure.clone(),
                b.name.clone(),
                b.measure.clone(),
            ));
        }
        let worth = |profile: &Profile| {
            effective_samples(profile)
                .ok_or_else(|| DifferenceError::NotSampled(profile.name.clone()))
        };
        let worth = [worth(old)?, worth(new)?];
        let totals = [old.amount(), new.amount()];
        let mut rows: Vec<Row> =
            joined(old, new).into_iter().map(|both| row(both, totals, worth, confidence)).collect();
        let adjusted = adjust::holm(&rows.iter().map(|row| row.p).collect::<Vec<_>>());
        for (row, p) in rows.iter_mut().zip(adjusted) {
            row.p = p;
            row.change = match p < 1.0 - confidence {
                true if row.difference > 0.0 => Change::Grew,
                true => Change::Shrank,
                false => Change::Unknown,
            };
        }
        rows.sort_by(|a, b| {
            let size = b.difference.abs().total_cmp(&a.difference.abs());
            size.then_with(|| a.name.cmp(&b.name))
        });
        Ok(Self {
            names: [old.name.clone(), new.name.clone()],
            samples: [old.samples(), new.samples()],
            amounts: totals,
            unit: old.unit.clone(),
            confidence,
            rows,
        })
    }
}

/// A function in both profiles, with the amount spent in it on each side.
struct Both {
    name: String,
    bare: String,
    file: Option<String>,
    amounts: [f64; 2],
}

/// Returns the functions of both profiles with their amounts, matched by name and file. Functions
/// whose file differs (a program that was moved, a library of another version) are matched by name
/// if exactly one unmatched function on each side has that name.
fn joined(old: &Profile, new: &Profile) -> Vec<Both> {
    let sides = [old, new].map(|profile| {
        let mut list = Functions::of(profile).list;
        // Functions without flat samples have no share that could differ; including them would only
        // make the adjustment for the others stricter.
        list.retain(|function| function.flat_amount > 0.0);
        list
    });
    let key = |function: &Function| (function.bare().to_owned(), function.file.clone());
    let by_key: HashMap<_, usize> =
        sides[0].iter().enumerate().map(|(index, function)| (key(function), index)).collect();
    let mut partners: Vec<Option<usize>> =
        sides[1].iter().map(|function| by_key.get(&key(function)).copied()).collect();
    let taken: HashSet<usize> = partners.iter().copied().flatten().collect();
    let alone = [
        only_ones(sides[0].iter().enumerate().filter(|(index, _)| !taken.contains(index))),
        only_ones(sides[1].iter().enumerate().filter(|(index, _)| partners[*index].is_none())),
    ];
    for (name, &of_new) in &alone[1] {
        if let Some(&of_old) = alone[0].get(name) {
            partners[of_new] = Some(of_old);
        }
    }
    let mut rows: Vec<Both> = sides[0]
        .iter()
        .map(|f| Both {
            name: f.name.clone(),
            bare: f.bare().to_owned(),
            file: f.file.clone(),
            amounts: [f.flat_amount, 0.0],
        })
        .collect();
    for (function, partner) in sides[1].iter().zip(partners) {
        match partner {
            Some(row) => rows[row].amounts[1] = function.flat_amount,
            None => rows.push(Both {
                name: function.name.clone(),
                bare: function.bare().to_owned(),
                file: function.file.clone(),
                amounts: [0.0, function.flat_amount],
            }),
        }
    }
    rows
}

/// Returns the names that occur exactly once among these functions, with the index of the function.
fn only_ones<'a>(
    functions: impl Iterator<Item = (usize, &'a Function)>,
) -> HashMap<&'a str, usize> {
    let mut found: HashMap<&str, Option<usize>> = HashMap::new();
    for (index, function) in functions {
        found.entry(function.bare()).and_modify(|only| *only = None).or_insert(Some(index));
    }
    found.into_iter().filter_map(|(name, only)| Some((name, only?))).collect()
}

fn row(both: Both, totals: [f64; 2], worth: [u64; 2], confidence: f64) -> Row {
    let Both { name, bare, file, amounts } = both;
    let share = |side: usize| (amounts[side] / totals[side]).clamp(0.0, 1.0);
    let shares = [share(0), share(1)];
    let hits = [0, 1].map(|side| (shares[side] * worth[side] as f64).round() as u64);
    let of = |side: usize| wilson_interval(hits[side].min(worth[side]), worth[side], confidence);
    let difference = shares[1] - shares[0];
    let interval = of(0).zip(of(1)).map(|(old, new)| {
        let below = (shares[1] - new.lower).hypot(old.upper - shares[0]);
        let above = (new.upper - shares[1]).hypot(shares[0] - old.lower);
        Interval { lower: (difference - below).max(-1.0), upper: (difference + above).min(1.0) }
    });
    let [n, m] = worth.map(|n| n as f64);
    let pooled = (shares[0] * n + shares[1] * m) / (n + m);
    let error = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
    let p = match error > 0.0 {
        true => 2.0 * normal::cdf(-(difference / error).abs()),
        false => 1.0,
    };
    Row {
        name,
        bare,
        file,
        shares,
        amounts,
        difference,
        interval,
        p: p.min(1.0),
        change: Change::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::load_bytes;
    use crate::{Builder, Frame};

    #[test]
    fn the_difference_of_two_shares_is_that_of_r() {
        let old = load_bytes(b"a 56\nb 14\n", "old").unwrap();
        let new = load_bytes(b"a 48\nb 32\n", "new").unwrap();
        let found = Difference::of(&old, &new, 0.95).unwrap();
        let a = found.rows.iter().find(|row| row.name == "a").unwrap();
        // Newcombe's own example, 56/70 against 48/80: 0.2 [0.0524 … 0.3339]. R: prop.test(c(56,
        // 48), c(70, 80), correct = FALSE) gives p = 0.008045; Holm's adjustment for two doubles
        // it.
        let interval = a.interval.unwrap();
        assert!((a.difference + 0.2).abs() < 1e-12);
        assert!(
            (interval.lower + 0.3339).abs() < 5e-5 && (interval.upper + 0.0524).abs() < 5e-5,
            "{interval:?}"
        );
        assert!((a.p - 2.0 * 0.008_045).abs() < 2e-5, "{}", a.p);
        assert_eq!(a.change, Change::Shrank);
    }

    #[test]
    fn the_same_profile_twice_shows_nothing() {
        let old = load_bytes(b"a 56\nb 14\nc 3\n", "old").unwrap();
        let found = Difference::of(&old, &old, 0.95).unwrap();
        assert!(
            found.rows.iter().all(|row| row.change == Change::Unknown && row.difference == 0.0)
        );
    }

    #[test]
    fn a_function_that_is_gone_has_no_share_left() {
        let old = load_bytes(b"a 500\ngone 500\n", "old").unwrap();
        let new = load_bytes(b"a 500\n", "new").unwrap();
        let found = Difference::of(&old, &new, 0.95).unwrap();
        let gone = found.rows.iter().find(|row| row.name == "gone").unwrap();
        assert_eq!((gone.shares, gone.change), ([0.5, 0.0], Change::Shrank));
    }

    #[test]
    fn a_program_that_was_moved_has_the_same_functions() {
        let profile = |place: &str, namesake: bool| {
            let at = |name: &str, file: &str| Frame {
                name: name.to_owned(),
                file: Some(format!("{place}/{file}")),
                line: None,
            };
            let mut builder = Builder::default();
            builder.add_frames([at("main", "a.rb"), at("parse", "a.rb")], 700);
            builder.add_frames([at("main", "a.rb"), at("draw", "b.rb")], 300);
            if namesake {
                builder.add_frames([at("draw", "c.rb")], 10);
            }
            builder.build()
        };
        let found = Difference::of(&profile("/old", false), &profile("/new", false), 0.95).unwrap();
        assert_eq!(found.rows.len(), 2);
        assert!(found.rows.iter().all(|row| row.difference == 0.0), "{found:#?}");
        // The function exists twice in one profile, so it is unknown which of the two matches, and
        // none is matched.
        let found = Difference::of(&profile("/old", false), &profile("/new", true), 0.95).unwrap();
        assert_eq!(found.rows.len(), 4);
        // A function of the same name on one side does not affect the match of those in the same
        // file on both.
        let found = Difference::of(&profile("/x", false), &profile("/x", true), 0.95).unwrap();
        assert_eq!(found.rows.len(), 3);
    }

    #[test]
    fn the_same_program_is_rarely_called_two() {
        // 20 functions with shares from large to small, 500 samples per profile, 1000 pairs: 5 % of
        // all pairs may show any difference.
        let mut stream = assay_stats::resampling::Stream::new(7, 0);
        let weights: Vec<f64> = (1..=20).map(|k| 1.0 / f64::from(k)).collect();
        let total: f64 = weights.iter().sum();
        let mut sampled = || {
            let mut counts = [0u64; 20];
            for _ in 0..500 {
                let mut left = stream.uniform() * total;
                let hit = weights.iter().position(|weight| {
                    left -= weight;
                    left <= 0.0
                });
                counts[hit.unwrap_or(19)] += 1;
            }
            let lines = counts.iter().enumerate().filter(|(_, n)| **n > 0);
            let text: String = lines.map(|(k, n)| format!("main;f{k} {n}\n")).collect();
            load_bytes(text.as_bytes(), "x").unwrap()
        };
        let pairs = 1000;
        let wrong = (0..pairs)
            .filter(|_| {
                let found = Difference::of(&sampled(), &sampled(), 0.95).unwrap();
                found.rows.iter().any(|row| row.change != Change::Unknown)
            })
            .count();
        // Three standard errors above 5 %.
        assert!(wrong <= 70, "{wrong} of {pairs}");
    }
}
