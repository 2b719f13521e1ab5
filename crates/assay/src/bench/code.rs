//! Determines which benchmarks have the same machine code on their sides, by digests taken before
//! anything is measured.
//!
//! The harness knows the names of symbols, and `assay-measure` reads their code. Nothing is judged
//! here: the analysis reports if a difference is found despite equal digests.

use super::Catalogue;
use assay_measure::code::Code;
use assay_measure::fingerprint::Fingerprints;
use assay_measure::libraries::{Loads, loaded};

/// The programs of the sides, with the digests of the libraries that they load.
pub(crate) struct Codes(Vec<Option<(Code, Vec<String>)>>);

impl Codes {
    /// Reads the programs. A program is left out if its command differs from the reference's in
    /// more than its file, because then its input may cause the difference; so is the reference's
    /// own file, unless other benchmarks of it are measured.
    pub fn of(catalogue: &Catalogue, files: &mut Fingerprints) -> Self {
        let reference = &catalogue.sides[0];
        let mut digest = |index: usize| {
            catalogue.sides[index].command.resolve().ok().and_then(|path| files.digest(path))
        };
        let first = digest(0);
        let is_another = |index: usize, file: Option<String>| {
            let (one, other) = (&reference.command, &catalogue.sides[index].command);
            let pattern = |index: usize| {
                catalogue.sides[index].versus.as_ref().map(|pattern| pattern.as_str().to_owned())
            };
            one.env == other.env
                && one.argv.get(1..) == other.argv.get(1..)
                && (file != first || pattern(index) != pattern(0))
        };
        let has_builds = catalogue.sides.iter().any(|side| !side.builds.is_empty());
        let wanted: Vec<bool> = (0..catalogue.sides.len())
            .map(|index| !has_builds && (index == 0 || is_another(index, digest(index))))
            .collect();
        let of = |(index, wanted): (usize, bool)| {
            let side = &catalogue.sides[index];
            let code = wanted.then(|| Code::read(&side.command.resolve().ok()?)).flatten()?;
            let mut names = catalogue.benchmarks.iter().filter_map(|b| b.on[index].as_deref());
            let driver = &catalogue.drivers[index];
            names.any(|name| code.has(|symbol| driver.is_code_of(name, symbol))).then_some(())?;
            let libraries = match loaded(&side.command, files).ok()? {
                Loads::Static => Vec::new(),
                Loads::Libraries { libraries, .. } => {
                    libraries.into_iter().map(|library| library.digest).collect::<Option<_>>()?
                }
                Loads::Unknown(_) => return None,
            };
            Some((code, libraries))
        };
        Self(wanted.into_iter().enumerate().map(of).collect())
    }

    /// Returns the digest of a benchmark's code on a side; `None` if its harness cannot tell which
    /// code that is.
    pub fn digest(
        &mut self,
        catalogue: &Catalogue,
        benchmark: usize,
        side: usize,
    ) -> Option<String> {
        let name = catalogue.benchmarks[benchmark].on[side].as_deref()?;
        let driver = &catalogue.drivers[side];
        let (code, libraries) = self.0.get_mut(side)?.as_mut()?;
        code.digest(|symbol| driver.is_code_of(name, symbol), libraries)
    }
}
