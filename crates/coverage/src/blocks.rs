//! A source file as blocks: its functions, methods and handed-over blocks of code, and its top, which is all the rest; each known by a
//! checksum of what it says, wherever it stands. Who cuts it is a [`Cutter`], which has the grammars; here is none.

use crate::language::Language;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fmt::Debug;

/// A checksum of a block, a file or a list of names: the first eight bytes of SHA-256. No content has [`UNKNOWN`], [`ABSENT`] or [`DIRECTORY`].
pub type Sum = u64;

/// What stands for the checksum of what was not seen as it was used: whatever is there now is something else.
pub const UNKNOWN: Sum = 0;
/// What stands for the checksum of what is not there.
pub const ABSENT: Sum = 1;
/// The checksum of a directory that a test looked at as at a file, for example to see if it exists.
pub const DIRECTORY: Sum = 2;

/// A block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What people call it: `User#save` as `User.save`, `describe "x"`; empty for the top.
    pub name: String,
    /// Its first line, from 1,
    pub begin: u32,
    /// and its last one.
    pub end: u32,
    /// Of what it says, without what the blocks within it say but for their first lines, without comments and blanks between words, and with the
    /// names of what it stands in.
    pub sum: Sum,
    /// Whether it holds what is found when it is executed, as `describe` holds tests: the top, and what is handed over and holds other blocks or is held
    /// by none.
    pub is_holder: bool,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The top first, then the others as they begin.
    pub all: Vec<Block>,
    /// Whether the language's grammar does not understand the file; it is one block then.
    pub is_broken: bool,
}

/// Who cuts files: it is asked about many at once.
pub trait Cutter: Debug {
    /// Cuts these texts; as many as they are, in their order. `None`: it can't, now; the file is then known as a whole, and touches more tests.
    fn cut(&mut self, texts: &[(Language, &[u8])]) -> Vec<Option<Blocks>>;
}

/// Nobody: all files are known as wholes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncut;

impl Cutter for Uncut {
    fn cut(&mut self, texts: &[(Language, &[u8])]) -> Vec<Option<Blocks>> {
        vec![None; texts.len()]
    }
}

impl Blocks {
    /// A text that is one block, since its grammar does not understand it.
    pub fn broken(text: &[u8]) -> Self {
        let (name, begin, end) = (String::new(), 1, lines(text));
        let top = Block { name, begin, end, sum: sum(text), is_holder: true };
        Self { all: vec![top], is_broken: true }
    }

    /// The checksum of the top.
    pub fn top(&self) -> Sum {
        self.all.first().map_or(UNKNOWN, |top| top.sum)
    }

    /// The checksums of all blocks.
    pub fn sums(&self) -> HashSet<Sum> {
        self.all.iter().map(|block| block.sum).collect()
    }

    /// The checksums of those that hold others.
    pub fn holders(&self) -> impl Iterator<Item = Sum> {
        self.all.iter().filter(|own| own.is_holder).map(|own| own.sum)
    }

    /// The blocks that hold a line, without the top: whoever was there was in all of them.
    pub fn at(&self, line: u32) -> impl Iterator<Item = &Block> {
        self.all.iter().skip(1).filter(move |block| block.begin <= line && line <= block.end)
    }
}

/// The checksum of some bytes.
pub fn sum(bytes: &[u8]) -> Sum {
    sum_of(Sha256::new_with_prefix(bytes))
}

/// The checksum of what a digest was fed with.
pub fn sum_of(digest: Sha256) -> Sum {
    let [a, b, c, d, e, f, g, h, ..] = <[u8; 32]>::from(digest.finalize());
    Sum::from_le_bytes([a, b, c, d, e, f, g, h]).max(DIRECTORY + 1)
}

/// The lines of a text, with an empty one behind the last line's end.
pub fn lines(text: &[u8]) -> u32 {
    let feeds = text.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(feeds).unwrap_or(u32::MAX).saturating_add(1)
}
