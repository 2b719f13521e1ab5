//! Which mutants stand behind a switch, so that one build has many of them: which do in one build, what the files say then, and whose fault it is when such a
//! build fails. Nothing is written or run here.
//!
//! A body that does not compile is a mutant that can't be built. What can't be laid on one body leaves its function, or its file, to the plain way.

use crate::policy::LONGEST_BUILD;
use crate::sources::Source;
use crate::switched::At;
use assay_mutants::controls::error;
use assay_mutants::switch::{
    Arm, Blamed, Places, Switch, Switched, body_number, is_javascript, weight,
};
use std::collections::{HashMap, HashSet, VecDeque};

/// The functions of all sources, by what can be done with them.
pub(crate) struct Switches<'a> {
    sources: &'a [Source],
    /// Of each source.
    all: Vec<Option<Switch>>,
    /// The number of each source's first unit.
    first: Vec<usize>,
    /// What is left to the plain way: functions, by source and unit,
    functions: HashSet<(usize, usize)>,
    /// and files.
    files: HashSet<usize>,
    /// Whether an error that was planted was noticed.
    pub is_proven: bool,
    /// True if a driver runs the tests.
    pub is_driven: bool,
}

/// A mutant as the table has it: its index there, its source, and its own index in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    pub index: usize,
    pub source: usize,
    pub mutant: usize,
}

/// The mutants of one build. One's number is its place here, from 1; behind them all come the errors that are planted, by unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    pub mutants: Vec<Own>,
    /// The functions in which errors are planted: their number, source and unit.
    pub planted: Vec<(usize, usize)>,
}

/// What a file says in a build.
pub(crate) struct Standing {
    pub source: usize,
    pub switched: Switched,
}

/// What a failed build taught.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Lesson {
    /// Mutants that can't be built, with what the compiler said.
    pub unviable: Vec<(usize, String)>,
    /// Whether anything was left to the plain way, or an error is planted no more.
    pub has_more: bool,
}

impl<'a> Switches<'a> {
    /// Those of all sources; `None`: no function can have one. Where a driver runs the tests, that is JavaScript, else what is compiled.
    pub fn of(sources: &'a [Source], is_driven: bool) -> Option<Self> {
        let all: Vec<Option<Switch>> = sources
            .iter()
            .map(|own| {
                // Who else reads a header, and in which language, nobody can say.
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

    /// Whether a mutant stands behind one.
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

    /// The number of a mutant's unit among those of all sources.
    pub fn unit(&self, own: Own) -> usize {
        self.first[own.source] + self.sources[own.source].found.all[own.mutant].unit
    }

    /// The source and unit of such a number.
    fn place(&self, number: usize) -> Option<(usize, usize)> {
        let source = self.first.partition_point(|first| *first <= number).checked_sub(1)?;
        Some((source, number - self.first[source]))
    }

    /// Leaves a unit to the plain way, by its number.
    pub fn leave(&mut self, unit: usize) {
        self.functions.extend(self.place(unit));
    }

    /// A unit's name and file, by its number.
    pub fn name(&self, unit: usize) -> String {
        let Some((source, unit)) = self.place(unit) else { return String::new() };
        let source = &self.sources[source];
        format!("{} of {}", source.found.units[unit].name, source.path)
    }

    /// The next build's: as many tasks as one build may hold, at most that many changes, and at least one task. What was left to the plain way meanwhile goes to `plain`.
    pub fn next(
        &self,
        tasks: &mut VecDeque<Vec<Own>>,
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

    /// The number of the error that is planted in a unit, by the unit's number.
    pub fn planted(&self, round: &Round, unit: usize) -> Option<usize> {
        let place = self.place(unit)?;
        let index = round.planted.iter().position(|own| *own == place)?;
        (!self.functions.contains(&place) && !self.files.contains(&place.0))
            .then_some(round.mutants.len() + index + 1)
    }

    /// What the files say in a build in which these can't stand, and whose switch is there.
    pub fn standing(
        &self,
        round: &Round,
        unviable: &HashSet<usize>,
        at: &At,
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
            let places = Places { switch, reached, bodies, first: self.first[source] };
            let own = self.all[source].as_ref()?;
            let switched = own.text(&file.text, &file.found.units, &arms, places)?;
            all.push(Standing { source, switched });
        }
        all.sort_by_key(|own| own.source);
        Some(all)
    }

    /// Learns from what a failed build said.
    pub fn learn(&mut self, said: &str, round: &Round, standing: &[Standing]) -> Lesson {
        let mut lesson = Lesson::default();
        let mut seen = HashSet::new();
        for error in said.lines().filter_map(Error::of) {
            let (source, blamed) = match body_number(error.path) {
                Some(number) => (0, Blamed::Arm(number)),
                None => {
                    let Some(file) = self.file(&error, standing) else { continue };
                    (file.source, file.switched.blamed(error.line))
                }
            };
            match blamed {
                Blamed::Arm(number) => {
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
                Blamed::Unit(unit) => {
                    lesson.has_more |= self.functions.insert((source, unit));
                }
                Blamed::File => lesson.has_more |= self.files.insert(source),
            }
        }
        lesson
    }

    /// The file that an error is in. Compilers name it from where they were started, or with all that is above.
    fn file<'s>(&self, error: &Error<'_>, standing: &'s [Standing]) -> Option<&'s Standing> {
        let named = error.path.trim_start_matches("./");
        let ends = |long: &str, short: &str| {
            long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        // What stands in an arm tells its number, wherever it is.
        let mut found = standing.iter().filter(|own| {
            let path = &self.sources[own.source].path;
            ends(path, named) || ends(named, path)
        });
        let first = found.next()?;
        // Of several files of one name it is the one that has such an arm, else nobody knows.
        let mut all = std::iter::once(first).chain(found);
        let only = all.clone().nth(1).is_none();
        if only { Some(first) } else { all.find(|own| own.switched.has(error.line)) }
    }
}

/// An error as compilers write it on a line.
struct Error<'a> {
    path: &'a str,
    line: usize,
    said: &'a str,
}

impl<'a> Error<'a> {
    /// `PATH:LINE:COLUMN: SAID`, without what is no error: of C and Rust, lines that don't say so.
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
    use assay_mutants::{Generator, Language};
    use std::path::Path;

    fn source(path: &str, language: Language, text: &str) -> Source {
        let text = text.as_bytes().to_vec();
        let found = Generator::new(language).unwrap().mutants(path, &text);
        Source::new(path.to_owned(), language, text, found)
    }

    fn tasks(sources: &[Source]) -> VecDeque<Vec<Own>> {
        let all = sources
            .iter()
            .enumerate()
            .flat_map(|(source, own)| (0..own.found.all.len()).map(move |mutant| (source, mutant)));
        let own = |(index, (source, mutant))| vec![Own { index, source, mutant }];
        all.enumerate().map(own).collect()
    }

    fn standing(switches: &Switches<'_>, round: &Round) -> Vec<Standing> {
        switches.standing(round, &HashSet::new(), &At::of(Path::new("/t"))).unwrap()
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
        // The third is of which file? Only one of them has such an arm.
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
