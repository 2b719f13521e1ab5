//! Counts lines by test, level and shape in one pass, in bounded memory.
//!
//! Shapes are counted in a small table for the current test, which is merged into the tables of the
//! whole log when the next test begins; those keep the frequent shapes ([`Frequent`]). Counts by
//! test and level are exact for as many tests as there is room for.

use super::frequent::{Frequent, IdentityHasher};
use super::heading::{Heading, LineClass};
use super::looking::LogLine;
use super::marker::Marker;
use super::message::{self, Group};
use super::shape::{Shape, hash};
use assay_data::test_log::{ByLevel, Level, LineShape, LoggedTest, TestLog};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::rc::Rc;

/// Maximum number of tests counted by name.
const MOST_TESTS: usize = 30_000;
/// Maximum total length of the names of tests, in bytes.
const MOST_BYTES_OF_NAMES: usize = 3 << 20;
/// Maximum number of pairs of a test and a shape whose counts are kept.
const SHAPES_OF_TESTS: usize = 16_384;
/// Maximum number of shapes whose counts over all tests are kept.
const SHAPES_OF_ALL: usize = 2_048;
/// Maximum number of shapes of the current test before they are merged into the tables.
const SHAPES_OF_PRESENT: usize = 1_024;
/// Maximum number of most frequent shapes in the result for each test.
const SHOWN_OF_TEST: usize = 3;
/// Maximum number of most frequent shapes in the result for all tests together.
const SHOWN_OF_ALL: usize = 20;

type ByHash<V> = HashMap<u64, V, BuildHasherDefault<IdentityHasher>>;

/// Data about a test.
#[derive(Default)]
struct Test {
    name: Box<[u8]>,
    lines: u64,
    levels: [u32; Level::COUNT + 1],
    /// Number of lines of the current logger record; 0 before the first record.
    record: u64,
    longest: u64,
    /// True if a heading began the test, which is then listed even if it has no lines.
    by_heading: bool,
}

/// Data about a shape in the current test.
struct CurrentShape {
    count: u64,
    first: u32,
    last: u32,
    has_level: bool,
    /// Offset and length of the text in [`Tally::texts`].
    text: (u32, u8),
}

/// Data about a shape in one test.
struct TestShape {
    test: u32,
    shape: u64,
    first: u32,
    last: u32,
    has_level: bool,
    text: Rc<[u8]>,
}

/// The counts so far.
pub(super) struct Tally {
    lines: u64,
    bytes: u64,
    begun: u64,
    beyond: u64,
    levels: ByLevel,
    tests: Vec<Test>,
    by_name: HashMap<Box<[u8]>, u32>,
    bytes_of_names: usize,
    /// The current test; `None` if it did not fit into the table.
    current: Option<u32>,
    present: ByHash<CurrentShape>,
    /// Concatenated texts of the current shapes.
    texts: Vec<u8>,
    of_tests: Frequent<TestShape>,
    of_all: Frequent<Rc<[u8]>>,
    shape: Shape,
    heading: Heading,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            lines: 0,
            bytes: 0,
            begun: 0,
            beyond: 0,
            levels: ByLevel::default(),
            tests: vec![Test::default()],
            by_name: HashMap::new(),
            bytes_of_names: 0,
            current: Some(0),
            present: ByHash::default(),
            texts: Vec::new(),
            of_tests: Frequent::new(SHAPES_OF_TESTS),
            of_all: Frequent::new(SHAPES_OF_ALL),
            shape: Shape::default(),
            heading: Heading::default(),
        }
    }
}

impl Tally {
    /// Adds to the number of bytes read.
    pub(super) fn bytes(&mut self, more: u64) {
        self.bytes += more;
    }

    /// Counts the next line.
    pub(super) fn line(&mut self, line: &LogLine<'_>, marker: &Marker) {
        if marker.takes_headings && (self.heading.holds() || line.text.first() == Some(&b'-')) {
            match self.heading.see(line.text) {
                LineClass::Held => return,
                LineClass::Name(name) => return self.begin(&name, true),
                LineClass::Lines(lines) => {
                    self.held_back(&lines, Some(marker));
                    if self.heading.holds() {
                        return;
                    }
                }
                LineClass::Line => {}
            }
        }
        self.plain(line, line.may_mark.then_some(marker));
    }

    /// Counts lines that were held back and are not a heading.
    fn held_back(&mut self, lines: &[Vec<u8>], marker: Option<&Marker>) {
        for text in lines {
            let line = LogLine::of(text, true, &mut self.shape);
            self.plain(&line, marker);
        }
    }

    /// Counts a line that is not part of a heading; `marker` is given if the line may contain it.
    fn plain(&mut self, line: &LogLine<'_>, marker: Option<&Marker>) {
        let &LogLine { level, message, .. } = line;
        if let Some(name) = marker.and_then(|marker| marker.name(message)) {
            return self.begin(name, false);
        }
        let place = level.map_or(Level::COUNT, |level| level as usize);
        self.lines += 1;
        self.levels[place] += 1;
        let at = match self.current.and_then(|test| self.tests.get_mut(test as usize)) {
            Some(test) => {
                let at = test.lines;
                test.lines += 1;
                test.levels[place] = test.levels[place].saturating_add(1);
                test.record = match (level, test.record) {
                    (Some(_), _) => 1,
                    (None, 0) => 0,
                    (None, lines) => lines + 1,
                };
                test.longest = test.longest.max(test.record);
                u32::try_from(at).unwrap_or(u32::MAX)
            }
            None => {
                self.beyond += 1;
                0
            }
        };
        let key = line.shape;
        if let Some(known) = self.present.get_mut(&key) {
            known.count += 1;
            known.last = at;
            return;
        }
        // Recomputed, but only for the first line of its shape in a test.
        self.shape.find(message);
        let begin = self.texts.len() as u32;
        self.texts.extend_from_slice(self.shape.text());
        // A shape is shorter than 256 bytes.
        let text = (begin, self.shape.text().len() as u8);
        let has_level = level.is_some();
        self.present.insert(key, CurrentShape { count: 1, first: at, last: at, has_level, text });
        if self.present.len() >= SHAPES_OF_PRESENT {
            self.put_away();
        }
    }

    fn begin(&mut self, name: &[u8], by_heading: bool) {
        self.put_away();
        self.begun += 1;
        self.current = self.numbered(name);
        if let Some(test) = self.current.and_then(|test| self.tests.get_mut(test as usize)) {
            test.record = 0;
            test.by_heading |= by_heading;
        }
    }

    /// Returns the index of the test with this name; `None` if the table is full.
    fn numbered(&mut self, name: &[u8]) -> Option<u32> {
        if name.is_empty() {
            return Some(0);
        }
        if let Some(test) = self.by_name.get(name) {
            return Some(*test);
        }
        let has_room = self.tests.len() < MOST_TESTS
            && self.bytes_of_names + name.len() <= MOST_BYTES_OF_NAMES;
        if !has_room {
            return None;
        }
        let number = self.tests.len() as u32;
        self.bytes_of_names += name.len();
        self.by_name.insert(name.into(), number);
        self.tests.push(Test { name: name.into(), ..Test::default() });
        Some(number)
    }

    /// Merges the shapes of the current test into the tables of the log.
    fn put_away(&mut self) {
        for (shape, present) in self.present.drain() {
            let (begin, length) = present.text;
            let begin = begin as usize;
            let text = &self.texts[begin..begin + usize::from(length)];
            let text = self.of_all.add(shape, present.count, || text.into());
            let Some(test) = self.current else { continue };
            let (first, last, has_level) = (present.first, present.last, present.has_level);
            let new = || TestShape { test, shape, first, last, has_level, text: Rc::clone(text) };
            let mut own = [0; 12];
            own[..8].copy_from_slice(&shape.to_le_bytes());
            own[8..].copy_from_slice(&test.to_le_bytes());
            let known = self.of_tests.add(hash(&own), present.count, new);
            known.last = known.last.max(last);
        }
        self.texts.clear();
    }

    /// Returns the counts.
    pub(super) fn finish(mut self) -> TestLog {
        let rest = self.heading.rest();
        self.held_back(&rest, None);
        self.put_away();
        let mut shapes = self.shapes_of_tests();
        let mut tests: Vec<LoggedTest> = Vec::new();
        for (test, shapes) in self.tests.into_iter().zip(&mut shapes) {
            if test.lines == 0 && !test.by_heading {
                continue;
            }
            let (message, shapes) = std::mem::take(shapes);
            tests.push(LoggedTest {
                name: String::from_utf8_lossy(&test.name).into_owned(),
                lines: test.lines,
                levels: test.levels.map(u64::from),
                message,
                shapes,
            });
        }
        tests.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.name.cmp(&b.name)));
        let missed = self.of_all.missed();
        let all = self.of_all.into_entries().map(|(_, lines, text)| shape_of(&text, lines, missed));
        TestLog {
            lines: self.lines,
            bytes: self.bytes,
            begun: self.begun,
            tests,
            beyond: self.beyond,
            levels: self.levels,
            shapes: most_frequent(all.collect(), SHOWN_OF_ALL),
        }
    }

    /// Returns for each test the number of lines that look like one message, and its most frequent
    /// shapes.
    fn shapes_of_tests(&mut self) -> Vec<(Option<u64>, Vec<LineShape>)> {
        let table = std::mem::replace(&mut self.of_tests, Frequent::new(0));
        let missed = table.missed();
        let mut tests_with: ByHash<u32> = ByHash::default();
        for (_, _, own) in table.entries() {
            *tests_with.entry(own.shape).or_default() += 1;
        }
        let mut entries: Vec<(u64, TestShape)> =
            table.into_entries().map(|(_, lines, own)| (lines, own)).collect();
        entries.sort_unstable_by_key(|(_, own)| own.test);
        let are_several = self.tests.iter().filter(|test| test.lines > 0).count() > 1;
        let mut found: Vec<(Option<u64>, Vec<LineShape>)> = Vec::new();
        found.resize_with(self.tests.len(), Default::default);
        for of_test in entries.chunk_by(|(_, a), (_, b)| a.test == b.test) {
            let groups: Vec<Group> = of_test
                .iter()
                .map(|(lines, own)| Group {
                    lines: *lines,
                    first: own.first,
                    last: own.last,
                    // A single test cannot be compared with others.
                    is_own: are_several && tests_with.get(&own.shape) == Some(&1),
                    is_record: own.has_level || message::looks_like_record(&own.text),
                    is_blank: own.text.is_empty(),
                })
                .collect();
            let Some((_, first)) = of_test.first() else { continue };
            let number = first.test as usize;
            let (Some(test), Some(place)) = (self.tests.get(number), found.get_mut(number)) else {
                continue;
            };
            let shapes = of_test.iter().map(|(lines, own)| shape_of(&own.text, *lines, missed));
            place.0 = message::large(test.lines, test.longest, &groups);
            place.1 = most_frequent(shapes.collect(), SHOWN_OF_TEST);
        }
        found
    }
}

fn shape_of(text: &[u8], lines: u64, missed: u64) -> LineShape {
    LineShape { text: String::from_utf8_lossy(text).into_owned(), lines, missed }
}

/// Returns the shapes with the most lines; ties are sorted by text so that the output is
/// deterministic.
fn most_frequent(mut shapes: Vec<LineShape>, most: usize) -> Vec<LineShape> {
    shapes.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.text.cmp(&b.text)));
    shapes.truncate(most);
    shapes.shrink_to_fit();
    shapes
}
