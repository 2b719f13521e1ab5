//! A source file as blocks: its functions, methods and callbacks, and its top level, which is
//! everything else. Each block is identified by a checksum of its content, independent of its
//! position. Files are divided by a [`Cutter`], which has the grammars; this module has none.

use crate::coverage::language::Language;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fmt::Debug;

/// A checksum of a block, a file or a list of names: the first eight bytes of its SHA-256. No
/// content has the checksum [`UNKNOWN`], [`ABSENT`] or [`DIRECTORY`].
pub type Sum = u64;

/// Checksum of content that was not seen at the time of use. It differs from that of any current
/// content.
pub const UNKNOWN: Sum = 0;
/// Checksum of a missing file.
pub const ABSENT: Sum = 1;
/// Checksum of a directory that a test accessed like a file, for example to check its existence.
pub const DIRECTORY: Sum = 2;

/// A separately tracked part of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Display name, such as `User.save` for `User#save`, or `describe "x"`; empty for the top
    /// level.
    pub name: String,
    /// First line, from 1.
    pub begin: u32,
    /// Last line, inclusive.
    pub end: u32,
    /// Checksum of the block's content and of the names of the enclosing scopes. Comments,
    /// whitespace between words, and nested blocks except for their first lines are not included.
    pub sum: Sum,
    /// True if what the block contains is discovered by executing it, as with the tests in a
    /// `describe`. This is so for the top level, for callbacks that are not nested in another
    /// block, and for blocks that contain others.
    pub is_holder: bool,
}

/// A file divided into blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The top level, then the other blocks in the order in which they begin.
    pub all: Vec<Block>,
    /// True if the grammar can't parse the file, which then consists of a single block.
    pub is_broken: bool,
}

/// Divides files into blocks, many at a time.
pub trait Cutter: Debug {
    /// Divides these texts. The result has one entry per text, in order. `None` means that a file
    /// can't be divided at present; the file is then tracked as a whole, so that its changes affect
    /// more tests.
    fn cut(&mut self, texts: &[(Language, &[u8])]) -> Vec<Option<Blocks>>;
}

/// A cutter that divides nothing, so all files are tracked as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncut;

impl Cutter for Uncut {
    fn cut(&mut self, texts: &[(Language, &[u8])]) -> Vec<Option<Blocks>> {
        // Note: a file without blocks has one checksum, which is compared with that of its content.
        // It must never count as unchanged.
        vec![None; texts.len()]
    }
}

impl Blocks {
    /// Returns a text as a single block, because its grammar can't parse it.
    pub fn broken(text: &[u8]) -> Self {
        let (name, begin, end) = (String::new(), 1, lines(text));
        let top = Block { name, begin, end, sum: sum(text), is_holder: true };
        Self { all: vec![top], is_broken: true }
    }

    /// Returns the checksum of the top level.
    pub fn top(&self) -> Sum {
        self.all.first().map_or(UNKNOWN, |top| top.sum)
    }

    /// Returns the checksums of all blocks.
    pub fn sums(&self) -> HashSet<Sum> {
        self.all.iter().map(|block| block.sum).collect()
    }

    /// Returns the checksums of the blocks for which [`Block::is_holder`] is true.
    pub fn holders(&self) -> impl Iterator<Item = Sum> {
        self.all.iter().filter(|own| own.is_holder).map(|own| own.sum)
    }

    /// Returns the blocks that contain a line, except the top level: when the line is executed, all
    /// of them are being executed.
    pub fn at(&self, line: u32) -> impl Iterator<Item = &Block> {
        self.all.iter().skip(1).filter(move |block| block.begin <= line && line <= block.end)
    }
}

/// Returns the checksum of some bytes.
pub fn sum(bytes: &[u8]) -> Sum {
    sum_of(Sha256::new_with_prefix(bytes))
}

/// Returns the checksum from a digest.
pub fn sum_of(digest: Sha256) -> Sum {
    let [a, b, c, d, e, f, g, h, ..] = <[u8; 32]>::from(digest.finalize());
    Sum::from_le_bytes([a, b, c, d, e, f, g, h]).max(DIRECTORY + 1)
}

/// Returns the number of lines of a text, counting an empty one after the final line end.
pub fn lines(text: &[u8]) -> u32 {
    let feeds = text.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(feeds).unwrap_or(u32::MAX).saturating_add(1)
}
