//! Constants that are a matter of judgment.

/// Maximum length of a mutated file, in bytes. Longer files were not written by hand.
pub const LONGEST_FILE: usize = 1 << 20;
/// Mean line length in bytes above which a file counts as minified.
pub(crate) const LONGEST_LINES: usize = 300;
/// Number of bytes at the beginning of a file that are searched for a sign that the file is
/// generated.
pub(crate) const HEAD: usize = 2048;
/// Lines of context shown around a change.
pub const CONTEXT: usize = 2;
/// Maximum length of a unit's name, in characters.
pub(crate) const LONGEST_NAME: usize = 72;
/// Maximum number of rewrites of one kind in a function. A test that depends on the name of one
/// variable also depends on those of the others.
pub(crate) const MOST_OF_A_KIND: usize = 3;
