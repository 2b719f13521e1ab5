//! Divides source files into blocks ([`assay_suites::coverage::Blocks`]). This module contains the
//! tree-sitter grammars of nine languages, which account for most of the size of any program that
//! includes them. Only `assay-mutate` therefore includes this module. `assay` starts that program
//! and passes it the files to divide ([`serve`]).
//!
//! This module reads no files, runs nothing, and prints nothing.

mod cutting;
mod grammar;
mod serving;

#[cfg(test)]
mod tests;

pub use cutting::cut;
pub use grammar::{Kind, grammar, kind};
pub use serving::serve;

use assay_suites::coverage::{Blocks, Cutter, Language};

/// All grammars, in this process.
#[derive(Clone, Copy, Debug)]
pub struct Grammars;

impl Cutter for Grammars {
    fn cut(&mut self, texts: &[(Language, &[u8])]) -> Vec<Option<Blocks>> {
        texts.iter().map(|(language, text)| Some(cut(*language, text))).collect()
    }
}
