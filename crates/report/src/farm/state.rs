//! States of builds as people see them: each by a symbol, a word and a colour, so that none of them is told by its colour alone.

use crate::number;
use assay_analysis::farm::{State, words};

/// A state as a template takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marked {
    /// Its symbol, which a terminal has, too.
    pub symbol: &'static str,
    /// Its word.
    pub word: &'static str,
    /// Its class in styles.
    pub class: &'static str,
}

impl Marked {
    /// How a state is shown.
    pub const fn of(state: State) -> Self {
        let symbol = match state {
            State::Passed => "✓",
            State::Failed => "✗",
            State::Errored => "!",
            State::NotTested => "–",
            State::InstallFailed => "↓",
            State::TimedOut => "∞",
            State::Infrastructure => "*",
            State::Lost => "?",
        };
        Self { symbol, word: words::state(state), class: state.name() }
    }

    /// A letter for terminals without more than ASCII.
    pub(super) const fn letter(state: State) -> &'static str {
        match state {
            State::Passed => "+",
            State::Failed => "F",
            State::Errored => "E",
            State::NotTested => "-",
            State::InstallFailed => "I",
            State::TimedOut => "T",
            State::Infrastructure => "*",
            State::Lost => "?",
        }
    }

    /// All of them, for a legend.
    pub(super) fn all() -> Vec<Self> {
        State::ALL.into_iter().map(Self::of).collect()
    }
}

/// How many builds, or targets, there are of a state.
pub type Sum = (State, u64);

/// A part of a bar of states.
pub(super) struct Part {
    pub mark: Marked,
    pub count: String,
    /// Where it begins and how wide it is, of 1,000.
    pub x: u64,
    pub width: u64,
}

/// A bar of states: their shares of all, each that there is at least so wide that it is seen.
pub(super) fn bar(sums: &[Sum]) -> Vec<Part> {
    const LEAST: u64 = 12;
    let all: u64 = sums.iter().map(|(_, count)| *count).fold(0, u64::saturating_add).max(1);
    let wide = |count: u64| {
        let share = u128::from(count) * 1000 / u128::from(all);
        if count == 0 { 0 } else { (share as u64).max(LEAST) }
    };
    let total: u64 = sums.iter().map(|(_, count)| wide(*count)).sum::<u64>().max(1);
    let mut x = 0;
    let part = |&(state, count): &Sum| {
        let width = wide(count) * 1000 / total;
        x += width;
        Part { mark: Marked::of(state), count: number::grouped(count), x: x - width, width }
    };
    sums.iter().filter(|(_, count)| *count > 0).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn states_differ_in_symbol_word_and_letter() {
        let marks = Marked::all();
        let symbols: BTreeSet<&str> = marks.iter().map(|mark| mark.symbol).collect();
        let words: BTreeSet<&str> = marks.iter().map(|mark| mark.word).collect();
        let letters: BTreeSet<&str> = State::ALL.into_iter().map(Marked::letter).collect();
        assert_eq!((symbols.len(), words.len(), letters.len()), (8, 8, 8));
    }

    #[test]
    fn a_bar_fits_and_shows_what_is_rare() {
        let parts = bar(&[(State::Passed, 10_000_000), (State::Lost, 0), (State::Failed, 1)]);
        assert_eq!(parts.len(), 2);
        assert!(parts[1].width >= 10 && parts[1].x + parts[1].width <= 1000);
        assert!(
            bar(&[]).is_empty()
                && bar(&[(State::Passed, u64::MAX), (State::Failed, u64::MAX)]).len() == 2
        );
    }
}
