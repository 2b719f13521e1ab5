//! Divides source files into blocks ([`assay_suites::coverage::Blocks`]). This module contains the
//! grammars of nine languages (tree-sitter), which make up most of the size of any program that
//! includes them. Therefore only `assay-mutate` includes it; `assay` starts that program and passes
//! it files to divide ([`serve`]).
//!
//! No file is read here, nothing is run, and nothing is printed.

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
