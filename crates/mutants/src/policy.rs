//! The numbers that are a matter of judgement.

/// Files longer than this are passed over: nobody wrote them by hand.
pub const LONGEST_FILE: usize = 1 << 20;
/// A file whose lines are longer than this in the mean, bytes, is minified.
pub(crate) const LONGEST_LINES: usize = 300;
/// So much of a file is looked at for a word that it is generated.
pub(crate) const HEAD: usize = 2048;
/// Lines of context around a change, where it is shown.
pub const CONTEXT: usize = 2;
/// A unit's name is cut behind so many characters.
pub(crate) const LONGEST_NAME: usize = 72;
/// So many rewrites of a kind are made of a function at most: who reads how one variable is called reads how the others are.
pub(crate) const MOST_OF_A_KIND: usize = 3;
