//! Determines which benchmarks have the same machine code on their sides, by digests taken before
//! anything is measured, and whether benchmarks reach the functions that changed.
//!
//! The harness knows the names of symbols, and `assay-measure` reads their code. Nothing is judged
//! here. The analysis reports a difference that is found despite equal digests.

use super::reached::{Wording, reach};
use super::{Catalogue, Executed};
use assay_data::{Finding, Samples};
use assay_measure::code::{Code, changed};
use assay_measure::fingerprint::Fingerprints;
use assay_measure::libraries::{Loads, loaded};

/// The programs of the sides, with the digests of the libraries that they load.
pub(crate) struct Codes(Vec<Option<(Code, Vec<String>)>>);

impl Codes {
    /// Reads the programs, unless sides have several builds. A program is left out if its command
    /// differs from the reference's in more than its file, because its input may then cause the
    /// difference. It is also left out if it is the reference's own file, unless other benchmarks
    /// of that file are measured.
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

    /// Returns the digest of a benchmark's code on a side; `None` if the code is not known.
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
    /// Returns the findings about functions that differ between the reference and each other side,
    /// and about whether benchmarks reach them.
    pub fn changes(
        &mut self,
        catalogue: &Catalogue,
        samples: &Samples,
        executed: &Executed,
    ) -> Vec<Finding> {
        let mut found: Vec<Finding> =
            (1..catalogue.sides.len()).filter_map(|side| executed.finding(side).cloned()).collect();
        let Some((Some((reference, _)), others)) = self.0.split_first_mut() else {
            return found;
        };
        let symbols = |side: usize| {
            let driver = &catalogue.drivers[side];
            let own = catalogue.benchmarks.iter().filter_map(move |b| b.on[side].as_deref());
            move |symbol: &str| own.clone().any(|name| driver.is_code_of(name, symbol))
        };
        for (index, other) in others.iter_mut().enumerate() {
            let side = index + 1;
            // That a function was executed is stronger evidence than that it may be called.
            let Some((other, _)) = other.as_mut().filter(|_| executed.finding(side).is_none())
            else {
                continue;
            };
            let functions = changed((reference, other), [&symbols(0), &symbols(side)]);
            let whose = match catalogue.sides.len() {
                2 => String::new(),
                _ => format!(" in {}", catalogue.sides[side].name),
            };
            let of_all = reached(samples, &catalogue.sides[side].name);
            found.extend(reach(&functions, of_all, &whose, Wording::Reaches));
        }
        found
    }
}

/// Returns the number of benchmarks whose code differs between the reference and a side, and the
/// number of benchmarks whose code is known on both.
fn reached(samples: &Samples, side: &str) -> (usize, usize) {
    let is_on = |own: &&assay_data::Subject| samples.side_of(own).name == side;
    let known = samples.subjects.iter().filter(is_on).filter_map(|own| {
        let reference = samples.subjects.get(own.against?)?;
        Some(own.code.as_ref()? != reference.code.as_ref()?)
    });
    known.fold((0, 0), |(differ, all), differs| (differ + usize::from(differs), all + 1))
}
