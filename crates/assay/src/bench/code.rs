//! Determines which benchmarks have the same machine code on their sides, by digests taken before
//! anything is measured, and whether they reach the functions that changed.
//!
//! The harness knows the names of symbols, and `assay-measure` reads their code. Nothing is judged
//! here: the analysis reports if a difference is found despite equal digests.

use super::Catalogue;
use assay_data::code;
use assay_data::{Action, Finding, Samples, Severity};
use assay_harness::function_name;
use assay_measure::code::{Changed, Code, changed};
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
    /// Returns the findings about the functions that differ between the reference and each other
    /// side, and whether the benchmarks reach them.
    pub fn changes(&mut self, catalogue: &Catalogue, samples: &Samples) -> Vec<Finding> {
        let Some((Some((reference, _)), others)) = self.0.split_first_mut() else {
            return Vec::new();
        };
        let symbols = |side: usize| {
            let driver = &catalogue.drivers[side];
            let own = catalogue.benchmarks.iter().filter_map(move |b| b.on[side].as_deref());
            move |symbol: &str| own.clone().any(|name| driver.is_code_of(name, symbol))
        };
        let mut found = Vec::new();
        for (index, other) in others.iter_mut().enumerate() {
            let side = index + 1;
            let Some((other, _)) = other else { continue };
            let functions = changed((reference, other), [&symbols(0), &symbols(side)]);
            let whose = match catalogue.sides.len() {
                2 => String::new(),
                _ => format!(" in {}", catalogue.sides[side].name),
            };
            found.extend(reach(&functions, reached(samples, &catalogue.sides[side].name), &whose));
        }
        found
    }
}

/// Returns the number of benchmarks whose code differs between the reference and a side, and of all
/// whose code is known.
fn reached(samples: &Samples, side: &str) -> (usize, usize) {
    let is_on = |own: &&assay_data::Subject| samples.side_of(own).name == side;
    let known = samples.subjects.iter().filter(is_on).filter_map(|own| {
        let reference = samples.subjects.get(own.against?)?;
        Some(own.code.as_ref()? != reference.code.as_ref()?)
    });
    known.fold((0, 0), |(differ, all), differs| (differ + usize::from(differs), all + 1))
}

/// Returns the finding about changed functions of which `differ` of `all` benchmarks reach some.
fn reach(functions: &[Changed], (differ, all): (usize, usize), whose: &str) -> Option<Finding> {
    // Initializers of files run before any benchmark.
    let functions: Vec<&Changed> =
        functions.iter().filter(|own| !own.name.starts_with("_GLOBAL__")).collect();
    let mut unreached = functions.iter().filter(|own| !own.is_reached);
    if all == 0 || functions.is_empty() {
        return None;
    }
    let lacking = unreached.clone().count();
    let first = unreached.next().map(|own| function_name(&own.name));
    let is_longest = functions.first().is_some_and(|own| !own.is_reached);
    let longest = if is_longest { ", the longest function that changed" } else { "" };
    let others = match lacking {
        0 | 1 => String::new(),
        2 => ", nor 1 other".to_owned(),
        n => format!(", nor {} others", n - 1),
    };
    let none =
        first.map_or(String::new(), |name| format!("none reaches `{name}`{longest}{others}"));
    let told = match (differ, none.is_empty()) {
        (0, true) => format!("no benchmark reaches code that changed{whose}"),
        (0, false) => format!("of {all} benchmarks {none}{whose}"),
        (1, _) => format!("1 of {all} benchmarks reaches code that changed{whose}"),
        _ => format!("{differ} of {all} benchmarks reach code that changed{whose}"),
    };
    let none = if differ == 0 || none.is_empty() { String::new() } else { format!("; {none}") };
    let severity = if differ == 0 { Severity::Warning } else { Severity::Note };
    let finding = Finding::new(code::CODE_CHANGED, format!("{told}{none}"))
        .at(severity)
        .with("benchmarks", differ as f64)
        .with("of", all as f64)
        .with("functions", functions.len() as f64)
        .with("unreached", lacking as f64);
    Some(match differ {
        0 => finding.advise(Action::text("add a benchmark that calls what changed")),
        _ => finding,
    })
}
