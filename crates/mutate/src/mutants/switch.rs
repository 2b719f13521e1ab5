//! Puts all mutants of a file into one text. Each function becomes a chain of its changed bodies
//! and its original body, and a switch selects which of them runs, so a project is built once for
//! many mutants. Bodies are replaced as a whole, so that declarations, borrows and moves in one
//! body do not affect the others.
//!
//! The switch is a file whose path is compiled into the text. It contains either the number of the
//! active mutant or `r`, which records the functions that are reached. The switch is not an
//! environment variable because tests may start programs with an empty environment.
//!
//! Mutants that cannot be put behind the switch ([`Switch::takes`]) are left to callers that change
//! one file at a time. Such mutants may still build.

use crate::blocks::grammar;
use crate::mutants::mutant::{Mutant, Unit, line_starts};
use assay_suites::coverage::Language;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use tree_sitter::{Node, Parser};

mod javascript;
mod runtime;

/// Factor in the line numbers of changed bodies, which makes it possible to attribute an error to a
/// mutant. A line's number is the mutant's number times this factor, plus the line within the body.
/// Longer files are left out. Only Go uses this, since Go allows any line number to be set. In Rust
/// and C, bodies are read from separate files: all lines of the text then keep their numbers, after
/// which documentation tests are named, and C90 has no line numbers above 32,767.
const LINES: usize = 1 << 14;
/// Files with more mutants than line numbers can represent are left out.
const MOST: usize = (1 << 30) / LINES;

/// How the functions of a file can hold their mutants.
#[derive(Clone, Debug)]
pub struct Switch {
    language: Language,
    /// How the body of each unit can be switched, or `None` if it cannot be.
    units: Vec<Option<Chain>>,
    /// Byte offset after which imports are inserted in Go.
    imports: usize,
}

#[derive(Clone, Debug, Default)]
struct Chain {
    /// Number of enclosing modules in the same file.
    depth: usize,
    /// Byte ranges of label names. In C and Go, labels belong to the whole function, so each body
    /// gets its own labels.
    labels: Vec<Range<usize>>,
    /// Ranges in which the switch cannot select a mutant, because the text might not parse. Mutants
    /// there are tried by changing one file at a time.
    fixed: Vec<Range<usize>>,
    /// True if the body is an expression.
    is_expression: bool,
    /// Literals before the body that the switch can select, such as default values of parameters.
    values: Vec<Range<usize>>,
}

/// A body that replaces a function's original one while the mutant with its number is active.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Index of the unit.
    pub unit: usize,
    /// Number of the mutant, from 1.
    pub number: usize,
    /// The whole body, or the text that replaces `at`.
    pub body: Vec<u8>,
    /// Byte range before the body that is replaced, or `None` if the body itself is replaced.
    pub at: Option<Range<usize>>,
}

/// Paths of the switch and of the files that belong to it.
#[derive(Clone, Copy, Debug)]
pub struct SwitchFiles<'a> {
    /// The file that contains the number of the active mutant.
    pub switch: &'a Path,
    /// The file to which lines `UNIT PROGRAM` are appended.
    pub reached: &'a Path,
    /// The directory for [`SwitchedText::bodies`].
    pub bodies: &'a Path,
    /// Number of this file's first unit in the record of reached units.
    pub first: usize,
}

/// The text of a file with a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchedText {
    /// The whole text of the file.
    pub text: Vec<u8>,
    /// In Rust and C, the bodies that the text reads from separate files, [by their
    /// numbers](body_file).
    pub bodies: Vec<(usize, Vec<u8>)>,
    /// The numbers of all changed bodies.
    numbers: Vec<usize>,
    /// The lines of each function with changed bodies, with the function's index.
    chains: Vec<(Range<usize>, usize)>,
    /// The lines of each body, with its number, for languages whose compilers report only the line
    /// of an error.
    lines: Vec<(Range<usize>, usize)>,
    /// Number of line feeds in the text.
    feeds: usize,
}

/// Returns the name of the file that contains a body. Patterns that builds use to find sources do
/// not match this name.
pub fn body_file(number: usize) -> String {
    format!("{number}.body")
}

/// Returns the number of the body in the file at `path`, as named by a compiler.
pub fn body_number(path: &str) -> Option<usize> {
    let (directory, name) = path.rsplit_once('/')?;
    let is_own = directory.ends_with(BODIES);
    name.strip_suffix(".body").filter(|_| is_own)?.parse().ok()
}

/// First line of a changed body in C, which prevents warnings about the body from failing the
/// build.
const QUIET: &[u8] = b"#pragma GCC system_header\n";

/// The last components of the path of the directory that contains bodies.
pub const BODIES: &str = ".assay/bodies";

/// The part of a text that an error is attributed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorOrigin {
    /// The body with this number.
    Arm(usize),
    /// The function with this index, with all its bodies.
    Unit(usize),
    /// Any other part of the file.
    File,
}

impl SwitchedText {
    /// Returns true if a line number may belong to this file, because it encodes either no mutant's
    /// number or the number of one of the file's mutants.
    pub fn has(&self, line: usize) -> bool {
        line < LINES || !self.lines.is_empty() || self.numbers.contains(&(line / LINES))
    }

    /// Attributes an error to a part of the text. `line` is numbered as the compiler numbers it.
    pub fn blamed(&self, line: usize) -> ErrorOrigin {
        let is_within = |(lines, _): &&(Range<usize>, usize)| lines.contains(&line);
        if let Some((_, number)) = self.lines.iter().find(is_within) {
            return ErrorOrigin::Arm(*number);
        }
        if line >= LINES && self.lines.is_empty() {
            return ErrorOrigin::Arm(line / LINES);
        }
        let holds = |(lines, _): &&(Range<usize>, usize)| lines.contains(&line);
        let chain = self.chains.iter().find(holds).map(|(_, unit)| ErrorOrigin::Unit(*unit));
        chain.unwrap_or(ErrorOrigin::File)
    }
}

impl Switch {
    /// Analyzes a text with these units. Returns `None` if its language is not supported or the
    /// text is too long.
    pub fn of(language: Language, text: &[u8], units: &[Unit]) -> Option<Self> {
        if !matches!(language, Language::Rust | Language::Go | Language::C)
            && !is_javascript(language)
            || line_starts(text).len() >= LINES
        {
            return None;
        }
        let mut parser = Parser::new();
        parser.set_language(&grammar(language)).ok()?;
        let tree = parser.parse(text, None)?;
        let root = tree.root_node();
        let mut imports = 0;
        if language == Language::Go {
            let mut cursor = root.walk();
            let all: Vec<Node<'_>> = root.children(&mut cursor).collect();
            imports = all.iter().find(|own| own.kind() == "package_clause")?.end_byte();
            // Go files that call C are rewritten before they are compiled.
            let is_c = |own: &&Node<'_>| {
                own.kind() == "import_declaration" && words(text, **own).contains("\"C\"")
            };
            if all.iter().any(|own| is_c(&own)) {
                return None;
            }
        }
        let units = units.iter().map(|unit| chain(language, unit.node(root)?, text)).collect();
        Some(Self { language, units, imports })
    }

    /// Returns true if the switch can select a mutant.
    pub fn takes(&self, unit: &Unit, mutant: &Mutant) -> bool {
        let Some(body) = unit.body.as_ref() else { return false };
        let Some(Some(chain)) = self.units.get(mutant.unit) else { return false };
        let range = &mutant.range;
        let is_label_there =
            || chain.labels.iter().any(|own| own.start < range.end && range.start < own.end);
        let is_fixed =
            || chain.fixed.iter().any(|own| own.start <= range.start && range.end <= own.end);
        body == range
            || body.start <= range.start
                && range.end <= body.end
                && !is_label_there()
                && !is_fixed()
            || self.before(unit, mutant).is_some()
    }

    /// Returns the byte range of a mutant that changes a value before the body, if the switch can
    /// select that value.
    pub fn before(&self, unit: &Unit, mutant: &Mutant) -> Option<Range<usize>> {
        let chain = self.units.get(mutant.unit)?.as_ref()?;
        let body = unit.body.as_ref()?;
        let is_before = unit.range.start <= mutant.range.start && mutant.range.end <= body.start;
        (is_before && chain.values.contains(&mutant.range)).then(|| mutant.range.clone())
    }

    /// Returns true if the body of a unit can be switched.
    pub fn can(&self, unit: usize) -> bool {
        self.units.get(unit).is_some_and(Option::is_some)
    }

    /// Returns the body of a unit with a mutant that the switch can select.
    pub fn body(&self, unit: &Unit, mutant: &Mutant, text: &[u8]) -> Option<Vec<u8>> {
        if self.before(unit, mutant).is_some() {
            return Some(mutant.replacement.as_bytes().to_vec());
        }
        let whole = unit.body.clone()?;
        let chain = self.units.get(mutant.unit)?.as_ref()?;
        let piece = |range: Range<usize>| {
            let (mut piece, mut at) = (Vec::with_capacity(range.len()), range.start);
            for label in chain.labels.iter().filter(|own| range.contains(&own.start)) {
                piece.extend_from_slice(text.get(at..label.end)?);
                piece.extend_from_slice(format!("_{}", mutant.id).as_bytes());
                at = label.end;
            }
            piece.extend_from_slice(text.get(at..range.end)?);
            Some(piece)
        };
        let before = piece(whole.start..mutant.range.start)?;
        let after = piece(mutant.range.end..whole.end)?;
        Some([&before[..], mutant.replacement.as_bytes(), &after].concat())
    }

    /// Builds the text with these bodies. The bodies of one unit must be consecutive, and the units
    /// in order. Returns `None` if a path cannot be written in the language, or there are too many
    /// bodies. O(bytes of the text and the bodies).
    pub fn text(
        &self,
        text: &[u8],
        units: &[Unit],
        arms: &[Arm],
        places: SwitchFiles<'_>,
    ) -> Option<SwitchedText> {
        let tag = format!("{:x}", places.first);
        let (head, tail) = runtime::of(self.language, &places, &tag, units.len())?;
        if arms.iter().any(|arm| arm.number >= MOST) {
            return None;
        }
        let lines = line_starts(text);
        let mut out = SwitchedText::default();
        if self.language == Language::Go {
            out.put(&text[..self.imports]);
            out.put(head.as_bytes());
        } else {
            out.put(head.as_bytes());
        }
        let mut at = if self.language == Language::Go { self.imports } else { 0 };
        for arms in arms.chunk_by(|a, b| a.unit == b.unit) {
            let number = arms.first()?.unit;
            let unit = units.get(number)?;
            let (chain, body) = (self.units.get(number)?.as_ref()?, unit.body.clone()?);
            let original = text.get(body.clone())?;
            out.put(text.get(at..unit.range.start)?);
            let place = ChainPosition { tag: &tag, unit: number, lines: &lines, body: body.start };
            let first = out.feeds + 1;
            match self.language {
                Language::Rust => {
                    // Warnings about unused or unreachable code in a changed body must not fail the
                    // build.
                    out.put(b"#[allow(warnings, unused)] ");
                    out.put(text.get(unit.range.start..body.start)?);
                    out.rust(chain, arms, original, (&place, places.bodies))?;
                }
                Language::Go => {
                    out.put(text.get(unit.range.start..body.start)?);
                    out.go(arms, original, &place);
                }
                Language::JavaScript | Language::TypeScript | Language::Tsx => {
                    out.before(arms, text, unit.range.start..body.start, &place)?;
                    out.javascript(chain, arms, original, &place);
                }
                _ => {
                    out.put(text.get(unit.range.start..body.start)?);
                    out.c(arms, original, (&place, places.bodies))?;
                }
            }
            out.numbers.extend(arms.iter().map(|arm| arm.number));
            let lines = match is_javascript(self.language) {
                true => first..out.feeds + 2,
                false => unit.begin as usize..unit.end as usize + 1,
            };
            out.chains.push((lines, number));
            at = body.end;
        }
        out.put(text.get(at..)?);
        out.put(tail.as_bytes());
        Some(out)
    }
}

/// The function for which a chain is written.
struct ChainPosition<'a> {
    tag: &'a str,
    unit: usize,
    lines: &'a [usize],
    /// Byte offset of the function's original body.
    body: usize,
}

impl ChainPosition<'_> {
    fn line(&self) -> usize {
        self.lines.partition_point(|start| *start <= self.body)
    }

    fn column(&self) -> usize {
        self.body - self.lines[self.line() - 1] + 1
    }
}

impl SwitchedText {
    fn put(&mut self, bytes: &[u8]) {
        self.feeds += bytes.iter().filter(|byte| **byte == b'\n').count();
        self.text.extend_from_slice(bytes);
    }

    fn rust(
        &mut self,
        chain: &Chain,
        arms: &[Arm],
        original: &[u8],
        (place, bodies): (&ChainPosition<'_>, &Path),
    ) -> Option<()> {
        let above = "super::".repeat(chain.depth);
        let head = format!("{{ match {above}assay_switch::number({}) {{ ", place.unit);
        self.put(head.as_bytes());
        for arm in arms {
            let path = quoted(&bodies.join(body_file(arm.number)))?;
            self.put(format!("{} => include!({path}), ", arm.number).as_bytes());
            self.bodies.push((arm.number, arm.body.clone()));
        }
        self.put(b"_ => ");
        self.put(original);
        self.put(b" } }");
        Some(())
    }

    fn go(&mut self, arms: &[Arm], original: &[u8], place: &ChainPosition<'_>) {
        let head = format!("{{ if assayNumber := assaySwitch{}({}); ", place.tag, place.unit);
        self.put(head.as_bytes());
        for (index, arm) in arms.iter().enumerate() {
            let other = if index == 0 { "" } else { " else if " };
            let line = arm.number * LINES + 1;
            let own = format!("{other}assayNumber == {} /*line :{line}:1*/", arm.number);
            self.put(own.as_bytes());
            self.put(&arm.body);
        }
        self.put(format!(" else /*line :{}:{}*/", place.line(), place.column()).as_bytes());
        self.put(original);
        self.put(b" }");
    }

    /// Builds the text in C. The text contains a digest of each body because a build may look only
    /// at the text to see whether anything has changed.
    fn c(
        &mut self,
        arms: &[Arm],
        original: &[u8],
        (place, bodies): (&ChainPosition<'_>, &Path),
    ) -> Option<()> {
        let head = format!("{{ int assay_number = assay_switch_{}({});", place.tag, place.unit);
        self.put(head.as_bytes());
        for arm in arms {
            let path = quoted(&bodies.join(body_file(arm.number)))?;
            let digest = assay_suites::coverage::sum(&arm.body);
            let own = format!(
                "\nif (assay_number == {}) /* {digest:x} */\n#include {path}\nelse",
                arm.number
            );
            self.put(own.as_bytes());
            self.bodies.push((arm.number, [QUIET, &arm.body, b"\n"].concat()));
        }
        self.put(format!("\n#line {}\n", place.line()).as_bytes());
        self.put(original);
        self.put(b" }");
        Some(())
    }
}

pub(crate) fn words<'a>(text: &'a [u8], node: Node<'_>) -> &'a str {
    std::str::from_utf8(text.get(node.byte_range()).unwrap_or_default()).unwrap_or_default()
}

/// Returns true if the language is JavaScript or compiles to it.
pub fn is_javascript(language: Language) -> bool {
    matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx)
}

/// Returns how the body of a function can be switched, or `None` if this is impossible or unknown.
fn chain(language: Language, function: Node<'_>, text: &[u8]) -> Option<Chain> {
    let body = function.child_by_field_name("body")?;
    let mut labels = Vec::new();
    let mut cursor = body.walk();
    'walk: loop {
        let node = cursor.node();
        match node.kind() {
            // In Rust, labels belong to their loops.
            "label_name" | "statement_identifier" if language != Language::Rust => {
                labels.push(node.byte_range());
            }
            // The directive would also affect the code of later functions.
            "preproc_def" | "preproc_function_def" | "preproc_call" => return None,
            _ => {}
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() || cursor.node().id() == body.id() {
                break 'walk;
            }
        }
    }
    match language {
        Language::Rust => rust(function, body, text),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            javascript::chain(function, body, text)
        }
        Language::Go => {
            let before = function.prev_sibling().map_or("", |own| words(text, own));
            let can = !before.starts_with("//go:");
            can.then(|| Chain { labels, ..Chain::default() })
        }
        _ => Some(Chain { labels, ..Chain::default() }),
    }
}

fn rust(function: Node<'_>, body: Node<'_>, text: &[u8]) -> Option<Chain> {
    let mut cursor = function.walk();
    let modifiers = function.children(&mut cursor).find(|own| own.kind() == "function_modifiers");
    let is_one = |word: &str| ["const", "async", "gen"].contains(&word);
    let modifiers = modifiers.map_or("", |own| words(text, own));
    // Each body would have a different return type.
    let returned = function.child_by_field_name("return_type").map_or("", |own| words(text, own));
    let has_impl = returned.split(|c: char| !c.is_alphanumeric()).any(|word| word == "impl");
    let inner = words(text, body).trim_start_matches('{').trim_start();
    if modifiers.split_whitespace().any(is_one) || has_impl || inner.starts_with("#!") {
        return None;
    }
    let mut depth = 0;
    let mut around = Some(function);
    while let Some(own) = around {
        if has_macro(own, text) {
            return None;
        }
        depth += usize::from(own.kind() == "mod_item");
        around = own.parent();
    }
    Some(Chain { depth, ..Chain::default() })
}

/// Attributes of the language and its tools that leave a body as it is written. Any other attribute
/// may be a macro that reads the body, or say that the function runs within the compiler, which has
/// finished by the time the switch is set.
const PLAIN: [&str; 24] = [
    "allow",
    "cfg",
    "cfg_attr",
    "cold",
    "deny",
    "deprecated",
    "derive",
    "diagnostic",
    "doc",
    "expect",
    "forbid",
    "export_name",
    "inline",
    "link_section",
    "macro_use",
    "must_use",
    "no_mangle",
    "non_exhaustive",
    "path",
    "repr",
    "target_feature",
    "track_caller",
    "unsafe",
    "warn",
];

/// Returns true if an item has an attribute that may be a macro.
pub(crate) fn has_macro(item: Node<'_>, text: &[u8]) -> bool {
    let mut before = item.prev_named_sibling();
    while let Some(own) = before {
        match own.kind() {
            "attribute_item" => {
                let own = words(text, own).trim_start_matches(['#', '[', ' ']);
                let name = own.split(|c: char| !c.is_alphanumeric() && c != '_').next();
                let is_tool = ["clippy::", "rustfmt::"].iter().any(|tool| own.starts_with(tool));
                if !is_tool && !name.is_some_and(|name| PLAIN.contains(&name)) {
                    return true;
                }
            }
            "line_comment" | "block_comment" => {}
            _ => return false,
        }
        before = own.prev_named_sibling();
    }
    false
}

/// Returns the number of bytes that a body takes up in the text, including the code around it.
pub fn weight(body: &[u8]) -> usize {
    const AROUND: usize = 64;
    body.len() + AROUND
}

/// Returns a path in double quotes, in a form that is valid in all these languages.
fn quoted(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\') || c == ' ';
    // Some C compilers read `??/` as a backslash.
    let is_plain = text.chars().all(plain) && !text.contains("??");
    let mut quoted = String::new();
    write!(quoted, "\"{text}\"").ok()?;
    is_plain.then_some(quoted)
}

#[cfg(test)]
mod tests;
