//! Writes profiles for other tools, with one module per format. Data that a format cannot represent
//! is omitted. No format contains the order in which samples were taken, since equal stacks are
//! merged.

mod collapsed;
mod firefox;
mod pprof;
mod speedscope;
mod text;

use crate::model::Profile;
use std::io;
use std::path::Path;

/// A format in which profiles are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Collapsed stacks: `main;parse 12`.
    Collapsed,
    /// pprof's protocol buffers, compressed with gzip.
    Pprof,
    /// speedscope's JSON.
    Speedscope,
    /// JSON of the Firefox Profiler.
    Firefox,
    /// The table of `pprof --text`.
    Text,
}

/// File name extensions and their formats.
pub const ENDINGS: [(&str, Format); 6] = [
    (".collapsed", Format::Collapsed),
    (".folded", Format::Collapsed),
    (".pb.gz", Format::Pprof),
    (".speedscope.json", Format::Speedscope),
    (".firefox.json", Format::Firefox),
    (".txt", Format::Text),
];

impl Format {
    /// Returns the format for a file name's extension.
    pub fn of_ending(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(|&(_, format)| format)
    }

    /// Returns the contents of the file. O(frames of all stacks); for JSON of sampled profiles also
    /// O(samples), up to 100 000.
    ///
    /// # Errors
    /// If compression fails, which does not happen in memory.
    pub fn write(self, profile: &Profile) -> io::Result<Vec<u8>> {
        match self {
            Self::Collapsed => Ok(collapsed::write(profile).into_bytes()),
            Self::Pprof => pprof::write(profile),
            Self::Speedscope => Ok(speedscope::write(profile).to_string().into_bytes()),
            Self::Firefox => Ok(firefox::write(profile).to_string().into_bytes()),
            Self::Text => Ok(text::write(profile).into_bytes()),
        }
    }
}

/// Up to this number of samples, each has its own entry in formats that count entries; with more,
/// entries carry weights.
const MOST_ENTRIES: u64 = 100_000;

/// Returns the number of entries of a stack and the weight of each.
fn entries(profile: &Profile) -> impl Fn(&crate::Stack) -> (u64, f64) {
    let apart = profile.samples() <= MOST_ENTRIES;
    move |stack| {
        let entries = if apart { stack.samples.max(1) } else { 1 };
        (entries, stack.amount / entries as f64)
    }
}
