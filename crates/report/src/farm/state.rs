//! Display of build states. Each state has a symbol, a word and a color, so that states never
//! differ by color alone.

use crate::number;
use assay_analysis::farm::{State, words};

/// A state in the form that templates take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marked {
    /// Symbol of the state, also used on terminals.
    pub symbol: &'static str,
    /// Word for the state.
    pub word: &'static str,
    /// CSS class of the state.
    pub class: &'static str,
}

impl Marked {
    /// Returns the display form of a state.
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

    /// Returns the ASCII character for a state, for terminals without Unicode.
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

    /// Returns all states, for a legend.
    pub(super) fn all() -> Vec<Self> {
        State::ALL.into_iter().map(Self::of).collect()
    }
}

/// A state, and the number of builds or targets in it.
pub type Sum = (State, u64);

/// A section of a bar of state shares.
pub(super) struct Part {
    pub mark: Marked,
    pub count: String,
    /// Left edge of the section, in thousandths of the bar.
    pub x: u64,
    /// Width of the section, in thousandths of the bar.
    pub width: u64,
}

/// Returns a bar with the share of each state. Nonzero shares have a minimum width, so that they
/// are visible.
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
