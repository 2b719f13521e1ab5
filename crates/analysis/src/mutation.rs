//! Mutation scores: the share of source mutations that a project's tests detect, for the whole
//! project, each file, and each unit.
//!
//! Mutants that no test reaches count as missed, as do those that compile to the same program as a
//! survivor. Mutants that could not be built or are accepted by a comment do not count. If only
//! some mutants were tried, the extreme mutants of each function, whose fate is known, are counted.
//! The share among the other mutants is estimated from a random sample, with the exact interval of
//! Clopper and Pearson for the share that trying all of them would give.

pub(crate) mod score;

use crate::coupling::{Couplings, couplings};
use assay_data::mutation::{MutantResult, Mutation};
pub use score::Score;
use score::score;

/// The scores of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// The score of the whole project.
    pub whole: Score,
    /// The score of each file, in the order of the mutation's files.
    pub files: Vec<Score>,
    /// The score of each unit, in the order of the mutation's units.
    pub units: Vec<Score>,
    /// The coupling of code and tests, if requested.
    pub couplings: Option<Couplings>,
}

/// Computes the scores. O(mutants).
pub fn scores(mutation: &Mutation) -> Scores {
    let file_of =
        |own: &MutantResult| mutation.units.get(own.unit).map_or(usize::MAX, |unit| unit.file);
    let mut units: Vec<Vec<&MutantResult>> = vec![Vec::new(); mutation.units.len()];
    let mut files: Vec<Vec<&MutantResult>> = vec![Vec::new(); mutation.files.len()];
    for own in &mutation.mutants {
        if let Some(unit) = units.get_mut(own.unit) {
            unit.push(own);
        }
        if let Some(file) = files.get_mut(file_of(own)) {
            file.push(own);
        }
    }
    Scores {
        whole: score(mutation.mutants.iter(), mutation.is_sample),
        files: files.into_iter().map(|own| score(own.into_iter(), mutation.is_sample)).collect(),
        units: units.into_iter().map(|own| score(own.into_iter(), mutation.is_sample)).collect(),
        couplings: couplings(mutation),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;
    use assay_data::mutation::{Fate, MutatedFile, MutatedUnit};
    use assay_stats::Interval;
    use assay_stats::resampling::Stream;

    fn mutant(operator: &str, fate: Fate) -> MutantResult {
        MutantResult { operator: operator.to_owned(), fate, ..MutantResult::default() }
    }

    fn of(fates: &[(&str, Fate, usize)]) -> Score {
        let mutants = fates.iter().flat_map(|(operator, fate, times)| {
            std::iter::repeat_n(mutant(operator, *fate), *times)
        });
        let mutation = Mutation {
            files: vec![MutatedFile::default()],
            units: vec![MutatedUnit::default()],
            mutants: mutants.collect(),
            ..Mutation::default()
        };
        let scores = scores(&mutation);
        assert_eq!(scores.whole, scores.files[0]);
        assert_eq!(scores.whole, scores.units[0]);
        scores.whole
    }

    #[test]
    fn what_nobody_runs_is_missed_and_what_cannot_be_built_does_not_count() {
        let own = of(&[
            ("body", Fate::Killed, 2),
            ("number", Fate::TimedOut, 1),
            ("number", Fate::Survived, 1),
            ("text", Fate::Implied, 1),
            ("text", Fate::Uncovered, 1),
            ("text", Fate::Unviable, 7),
            ("text", Fate::Kept, 7),
        ]);
        assert_eq!((own.counted, own.detected, own.missed), (6, 3, 3));
        assert_eq!(own.share, Some(0.5));
        assert_eq!(own.interval, Some(Interval { lower: 0.5, upper: 0.5 }));
        assert_eq!(of(&[("text", Fate::Kept, 1)]).share, None);
    }

    #[test]
    fn a_sample_has_an_interval_that_knows_what_is_certain() {
        let own = of(&[
            ("body", Fate::Killed, 10),
            ("number", Fate::Killed, 8),
            ("number", Fate::Survived, 2),
            ("number", Fate::Pending, 80),
        ]);
        assert_eq!(own.share, Some((10.0 + 0.8 * 90.0) / 100.0));
        let interval = own.interval.unwrap();
        assert!(interval.lower > 0.4 && interval.upper < 0.99, "{interval:?}");
        // Mutants missed along with their function's body were not drawn.
        let dead = of(&[
            ("body", Fate::Survived, 1),
            ("number", Fate::Implied, 100),
            ("number", Fate::Killed, 9),
            ("number", Fate::Survived, 1),
            ("number", Fate::Pending, 89),
        ]);
        assert_eq!(dead.share, Some(0.9 * 99.0 / 200.0));
        // If the body can't be removed, mutants that no test reaches were drawn like the others.
        let unreached = of(&[
            ("body", Fate::Unviable, 1),
            ("number", Fate::Uncovered, 2),
            ("number", Fate::Killed, 6),
            ("number", Fate::Survived, 2),
            ("number", Fate::Pending, 90),
        ]);
        assert_eq!(unreached.share, Some(0.6));
        let nearly = of(&[("number", Fate::Killed, 99), ("number", Fate::Pending, 1)]);
        assert_eq!(nearly.interval.unwrap().lower, 0.99);
        let begun = of(&[("body", Fate::Killed, 1), ("body", Fate::Pending, 1)]);
        assert_eq!(begun.interval, Some(Interval { lower: 0.5, upper: 1.0 }));
    }

    #[test]
    fn the_interval_of_a_tenth_holds_the_whole_score() {
        const DRAWS: usize = 400;
        let mut all: Vec<Fate> = std::iter::repeat_n(Fate::Killed, 210)
            .chain(std::iter::repeat_n(Fate::Survived, 90))
            .collect();
        let whole = 210.0 / 300.0;
        let mut stream = Stream::new(7, 0);
        let mut holds = 0;
        for _ in 0..DRAWS {
            stream.shuffle(&mut all);
            let tried = all.iter().take(30).map(|fate| ("number", *fate, 1));
            let rest = std::iter::once(("number", Fate::Pending, 270));
            let interval = of(&tried.chain(rest).collect::<Vec<_>>()).interval.unwrap();
            holds += usize::from(interval.lower <= whole && whole <= interval.upper);
        }
        assert!(holds * 100 >= DRAWS * 95, "{holds} of {DRAWS}");
    }
}
