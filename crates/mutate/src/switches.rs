//! The mutants that are placed behind a switch, so that one build contains many of them: which ones
//! go into a build, the resulting file contents, and which ones cause a failed build. Nothing is
//! written or run here.
//!
//! If a body does not compile, its mutant cannot be built. If an error cannot be attributed to one
//! body, all mutants of the function or of the whole file are tried without a switch, by changing
//! one file at a time.

use crate::built::SwitchPaths;
use crate::policy::LONGEST_BUILD;
use crate::sources::Source;
use assay_mutate::mutants::controls::error;
use assay_mutate::mutants::switch::{
    Arm, ErrorOrigin, Switch, SwitchFiles, SwitchedText, body_number, is_javascript, weight,
};
use std::collections::{HashMap, HashSet, VecDeque};

/// The functions of all sources, grouped by how they can be tried.
pub(crate) struct Switches<'a> {
    sources: &'a [Source],
    /// The switch of each source.
    all: Vec<Option<Switch>>,
    /// The number of each source's first unit.
    first: Vec<usize>,
    /// Functions whose mutants are tried without a switch, by source and unit.
    functions: HashSet<(usize, usize)>,
    /// Sources whose mutants are all tried without a switch.
    files: HashSet<usize>,
    /// True if a planted error has been noticed.
    pub is_proven: bool,
    /// True if a driver runs the tests.
    pub is_driven: bool,
}

/// A mutant of the table: its index in the table, its source, and its index in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableMutant {
    pub index: usize,
    pub source: usize,
    pub mutant: usize,
}

/// The mutants of one build. A mutant's number is its position here, counted from 1. The planted
/// errors are numbered after all mutants, by unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    pub mutants: Vec<TableMutant>,
    /// The functions in which errors are planted, by source and unit, in the order of their
    /// numbers.
    pub planted: Vec<(usize, usize)>,
}

/// The contents of a file in a build.
pub(crate) struct Standing {
    pub source: usize,
    pub switched: SwitchedText,
}

/// Conclusions from the output of a failed build.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Lesson {
    /// Mutants that cannot be built, with the compiler's message.
    pub unviable: Vec<(usize, String)>,
    /// True if the mutants of another function or file must be tried without a switch, or a planted
    /// error was removed.
    pub has_more: bool,
}

impl<'a> Switches<'a> {
    /// Creates the switches of all sources; `None` if no function can have one. JavaScript has
    /// switches only if a driver runs the tests; compiled languages only without a driver.
    pub fn of(sources: &'a [Source], is_driven: bool) -> Option<Self> {
        let all: Vec<Option<Switch>> = sources
            .iter()
            .map(|own| {
                // It is unknown which other files include a header, and in which language.
                let is_header = own.path.ends_with(".h");
                let is_other = is_javascript(own.language) != is_driven;
                let switch = || Switch::of(own.language, &own.text, &own.found.units);
                if is_header || is_other { None } else { switch() }
            })
            .collect();
        let first = sources.iter().scan(0, |next, own| {
            let first = *next;
            *next += own.found.units.len();
            Some(first)
        });
        let first = first.collect();
        let own = Self {
            sources,
            all,
            first,
            functions: HashSet::new(),
            files: HashSet::new(),
            is_proven: false,
            is_driven,
        };
        own.all.iter().any(Option::is_some).then_some(own)
    }

    /// Returns true if a mutant can be placed behind a switch.
    pub fn takes(&self, source: usize, mutant: usize) -> bool {
        let (Some(file), Some(Some(switch))) = (self.sources.get(source), self.all.get(source))
        else {
            return false;
        };
        file.found.all.get(mutant).is_some_and(|own| {
            !self.files.contains(&source)
                && !self.functions.contains(&(source, own.unit))
                && switch.takes(&file.found.units[own.unit], own)
        })
    }

    /// Returns the number of a mutant's unit among the units of all sources.
    pub fn unit(&self, own: TableMutant) -> usize {
        self.first[own.source] + self.sources[own.source].found.all[own.mutant].unit
    }

    /// Returns the source, and the unit in it, of a number that [`Self::unit`] returns.
    fn place(&self, number: usize) -> Option<(usize, usize)> {
        let source = self.first.partition_point(|first| *first <= number).checked_sub(1)?;
        Some((source, number - self.first[source]))
    }

    /// Marks a unit, given by its number, as one whose mutants must be tried without a switch.
    pub fn leave(&mut self, unit: usize) {
        self.functions.extend(self.place(unit));
    }

    /// Returns a unit's name and file, by its number.
    pub fn name(&self, unit: usize) -> String {
        let Some((source, unit)) = self.place(unit) else { return String::new() };
        let source = &self.sources[source];
        format!("{} of {}", source.found.units[unit].name, source.path)
    }

    /// Returns the next build and its tasks: as many tasks as fit into one build, with at most
    /// `most` changes in total but at least one task. Tasks that must be tried without a switch go
    /// to `plain`.
    pub fn next(
        &self,
        tasks: &mut VecDeque<Vec<TableMutant>>,
        plain: &mut Vec<Vec<usize>>,
        most: usize,
    ) -> (Round, Vec<Vec<usize>>) {
        let (mut round, mut own, mut bytes) = (Round::default(), Vec::new(), 0);
        while let Some(task) = tasks.pop_front() {
            let indices = task.iter().map(|own| own.index).collect();
            if !task.iter().all(|own| self.takes(own.source, own.mutant)) {
                plain.push(indices);
                continue;
            }
            let weights = task.iter().map(|own| {
                let unit = &self.sources[own.source].found;
                let body = unit.units[unit.all[own.mutant].unit].body.clone();
                let text = body.map_or(&[][..], |body| &self.sources[own.source].text[body]);
                if unit.all[own.mutant].operator.is_extreme() { weight(&[]) } else { weight(text) }
            });
            let more: usize = weights.sum();
            let is_full = bytes + more > LONGEST_BUILD || round.mutants.len() + task.len() > most;
            if is_full && !round.mutants.is_empty() {
                tasks.push_front(task);
                break;
            }
            bytes += more;
            own.push(indices);
            round.mutants.extend(task);
        }
        (round, own)
    }

    /// Plants an error in each function of a build.
    pub fn plant(&self, round: &mut Round) {
        let mut seen = HashSet::new();
        for own in &round.mutants {
            let unit = self.sources[own.source].found.all[own.mutant].unit;
            if seen.insert((own.source, unit)) {
                round.planted.push((own.source, unit));
            }
        }
    }

    /// Returns the number of the error planted in a unit, by the unit's number.
    pub fn planted(&self, round: &Round, unit: usize) -> Option<usize> {
        let place = self.place(unit)?;
        let index = round.planted.iter().position(|own| *own == place)?;
        (!self.functions.contains(&place) && !self.files.contains(&place.0))
            .then_some(round.mutants.len() + index + 1)
    }

    /// Returns the contents of the files in a build without the `unviable` mutants and with the
    /// switch at `at`.
    pub fn standing(
        &self,
        round: &Round,
        unviable: &HashSet<usize>,
        at: &SwitchPaths,
    ) -> Option<Vec<Standing>> {
        let mut arms: HashMap<usize, Vec<Arm>> = HashMap::new();
        for (place, own) in round.mutants.iter().enumerate() {
            if unviable.contains(&own.index) || !self.takes(own.source, own.mutant) {
                continue;
            }
            let source = &self.sources[own.source];
            let mutant = &source.found.all[own.mutant];
            let unit = &source.found.units[mutant.unit];
            let body = self.all[own.source].as_ref()?.body(unit, mutant, &source.text)?;
            let switch = self.all[own.source].as_ref()?;
            let at = switch.before(unit, mutant);
            let arm = Arm { unit: mutant.unit, number: place + 1, body, at };
            arms.entry(own.source).or_default().push(arm);
        }
        for (index, (source, unit)) in round.planted.iter().enumerate() {
            let own = &self.sources[*source];
            if self.functions.contains(&(*source, *unit)) || self.files.contains(source) {
                continue;
            }
            let body = own.found.units.get(*unit)?.body.clone()?;
            let is_block = own.text.get(body)?.starts_with(b"{");
            let body = error(own.language, is_block).as_bytes().to_vec();
            let number = round.mutants.len() + index + 1;
            arms.entry(*source).or_default().push(Arm { unit: *unit, number, body, at: None });
        }
        let mut all = Vec::new();
        for (source, mut arms) in arms {
            arms.sort_by_key(|own| (own.unit, own.number));
            let file = &self.sources[source];
            let (switch, reached, bodies) = (&at.switch, &at.reached, &at.bodies);
            let places = SwitchFiles { switch, reached, bodies, first: self.first[source] };
            let own = self.all[source].as_ref()?;
            let switched = own.text(&file.text, &file.found.units, &arms, places)?;
            all.push(Standing { source, switched });
        }
        all.sort_by_key(|own| own.source);
        Some(all)
    }

    /// Draws conclusions from the output of a failed build.
    pub fn learn(&mut self, said: &str, round: &Round, standing: &[Standing]) -> Lesson {
        let mut lesson = Lesson::default();
        let mut seen = HashSet::new();
        for error in said.lines().filter_map(Error::of) {
            let (source, blamed) = match body_number(error.path) {
                Some(number) => (0, ErrorOrigin::Arm(number)),
                None => {
                    let Some(file) = self.file(&error, standing) else { continue };
                    (file.source, file.switched.blamed(error.line))
                }
            };
            match blamed {
                ErrorOrigin::Arm(number) => {
                    if !seen.insert(number) {
                        continue;
                    }
                    match round.mutants.get(number.wrapping_sub(1)) {
                        Some(own) => lesson.unviable.push((own.index, error.said.to_owned())),
                        None => {
                            let place = number.checked_sub(round.mutants.len() + 1);
                            let planted = place.and_then(|place| round.planted.get(place));
                            lesson.has_more |=
                                planted.is_some_and(|own| self.functions.insert(*own));
                        }
                    }
                }
                ErrorOrigin::Unit(unit) => {
                    lesson.has_more |= self.functions.insert((source, unit));
                }
                ErrorOrigin::File => lesson.has_more |= self.files.insert(source),
            }
        }
        lesson
    }

    /// Returns the file that contains an error. Compilers give its path relative to the directory
    /// in which they were started, or an absolute path.
    fn file<'s>(&self, error: &Error<'_>, standing: &'s [Standing]) -> Option<&'s Standing> {
        let named = error.path.trim_start_matches("./");
        let ends = |long: &str, short: &str| {
            long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        // An error within an arm contains the arm's number, whatever its file is.
        let mut found = standing.iter().filter(|own| {
            let path = &self.sources[own.source].path;
            ends(path, named) || ends(named, path)
        });
        let first = found.next()?;
        // If several files have the same name, it is the one that has such an arm; if none does,
        // the file is unknown.
        let mut all = std::iter::once(first).chain(found);
        let only = all.clone().nth(1).is_none();
        if only { Some(first) } else { all.find(|own| own.switched.has(error.line)) }
    }
}

/// An error as compilers print it on a line.
struct Error<'a> {
    path: &'a str,
    line: usize,
    said: &'a str,
}

impl<'a> Error<'a> {
    /// Parses `PATH:LINE:COLUMN: MESSAGE`, and rejects lines that are not errors: for C and Rust,
    /// lines without the word `error`.
    fn of(text: &'a str) -> Option<Self> {
        let mut parts = text.splitn(4, ':');
        let (path, line, column) = (parts.next()?, parts.next()?, parts.next()?);
        let said = match column.parse::<usize>() {
            Ok(_) => parts.next()?,
            Err(_) => text.get(path.len() + line.len() + 2..)?,
        };
        let (line, said) = (line.parse().ok()?, said.trim());
        let is_error = path.ends_with(".go")
            || ["error", "fatal error"].iter().any(|word| said.starts_with(word));
        (is_error && !path.contains(char::is_whitespace)).then_some(Self { path, line, said })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use assay_mutate::mutants::{Generator, Language};
    use std::path::Path;

    fn source(path: &str, language: Language, text: &str) -> Source {
        let text = text.as_bytes().to_vec();
        let found = Generator::new(language).unwrap().mutants(path, &text);
        Source::new(path.to_owned(), language, text, found)
    }

    fn tasks(sources: &[Source]) -> VecDeque<Vec<TableMutant>> {
        let all = sources
            .iter()
            .enumerate()
            .flat_map(|(source, own)| (0..own.found.all.len()).map(move |mutant| (source, mutant)));
        let own = |(index, (source, mutant))| vec![TableMutant { index, source, mutant }];
        all.enumerate().map(own).collect()
    }

    fn standing(switches: &Switches<'_>, round: &Round) -> Vec<Standing> {
        switches.standing(round, &HashSet::new(), &SwitchPaths::of(Path::new("/t"))).unwrap()
    }

    #[test]
    fn errors_are_read_as_compilers_write_them() {
        let read = |text| Error::of(text).map(|own| (own.path, own.line, own.said));
        assert_eq!(
            read("src/lib.rs:12:5: error[E0308]: mismatched types: a"),
            Some(("src/lib.rs", 12, "error[E0308]: mismatched types: a"))
        );
        assert_eq!(
            read("./a.go:16385:2: x declared and not used"),
            Some(("./a.go", 16385, "x declared and not used"))
        );
        assert_eq!(read("a.c:3:1: error: no"), Some(("a.c", 3, "error: no")));
        assert_eq!(read("a.c:3:1: warning: no"), None);
        assert_eq!(read("src/lib.rs:12:5: warning: unused"), None);
        assert_eq!(read("error: could not compile `a`"), None);
    }

    #[test]
    fn a_failed_build_teaches_which_of_them_can_not_be_built() {
        let sources = [
            source("a/x.c", Language::C, "int a(int x)\n{\n    return x + 1;\n}\n"),
            source("b/x.c", Language::C, "int b(int x)\n{\n    return x * 2;\n}\n"),
        ];
        let mut switches = Switches::of(&sources, false).unwrap();
        let (mut all, mut plain) = (tasks(&sources), Vec::new());
        let (mut round, own) = switches.next(&mut all, &mut plain, usize::MAX);
        assert!(all.is_empty() && plain.is_empty());
        assert_eq!(own.len(), round.mutants.len());
        switches.plant(&mut round);
        assert_eq!(round.planted, [(0, 0), (1, 0)]);
        let standing = standing(&switches, &round);
        // The third error gives no directory; only one of the files has an arm with its number.
        let first_of_b = round.mutants.iter().position(|own| own.source == 1).unwrap();
        let line = (first_of_b + 1) * (1 << 14) + 2;
        let lesson = switches.learn(&format!("x.c:{line}:1: error: no"), &round, &standing);
        assert_eq!(lesson.unviable, [(first_of_b, "error: no".to_owned())]);
        assert!(!lesson.has_more);
        let lesson = switches.learn("a/x.c:3:1: error: why", &round, &standing);
        assert!(lesson.has_more && lesson.unviable.is_empty());
        assert!(!switches.takes(0, 0) && switches.takes(1, 0));
        assert_eq!(switches.learn("nothing of ours", &round, &standing), Lesson::default());
        assert_eq!(switches.planted(&round, 0), None);
        assert_eq!(switches.planted(&round, 1), Some(round.mutants.len() + 2));
        assert_eq!(switches.name(1), "b of b/x.c");
    }

    #[test]
    fn headers_and_other_languages_are_left_to_the_plain_way() {
        let header = source("x.h", Language::C, "int a(int x) { return x + 1; }");
        let ruby = source("x.rb", Language::Ruby, "def a\n  1\nend");
        assert!(Switches::of(&[header, ruby], false).is_none());
    }
}
