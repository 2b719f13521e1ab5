//! Generates the mutants of a file in one walk over its syntax tree, using the table of its
//! language. Each change is then parsed, and those that the grammar rejects are dropped. Nothing is
//! random: the same text always has the same mutants, in source order.

use crate::blocks::{Kind, grammar, kind};
use crate::mutants::absent::{BuildPlatform, absent};
use crate::mutants::keep::KeepReasons;
use crate::mutants::literal;
use crate::mutants::mutant::{Mutant, Unit, id_of};
use crate::mutants::nothing::{self, EmptyResult};
use crate::mutants::operator::Operator;
use crate::mutants::passed::{is_for_tests, is_talk};
use crate::mutants::pragmas::marked;
use crate::mutants::tables::{Change, Entry, Table, table};
use crate::mutants::trial::Trial;
use assay_suites::coverage::Language;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use tree_sitter::{Node, Parser};
use units::cut;

mod units;

/// The possible changes to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutants {
    /// Functions and methods that contain something to change.
    pub units: Vec<Unit>,
    /// The mutants in source order, grouped by unit.
    pub all: Vec<Mutant>,
    /// True if the grammar does not understand parts of the file. The remaining parts are still
    /// mutated.
    pub is_broken: bool,
    /// Number of changes dropped because the grammar rejects them.
    pub rejected: usize,
}

/// A generator of mutants of files in one language.
pub struct Generator {
    pub(crate) language: Language,
    table: &'static Table,
    pub(crate) parser: Parser,
    /// Entries of the language's table, indexed by the number of the node kind.
    entries: Vec<Vec<&'static Entry>>,
    passed: HashSet<u16>,
}

impl Generator {
    /// Creates a generator for a language, or returns `None` if the language's grammar cannot be
    /// loaded.
    pub fn new(language: Language) -> Option<Self> {
        let grammar = grammar(language);
        let mut parser = Parser::new();
        parser.set_language(&grammar).ok()?;
        let table = table(language);
        let mut entries = vec![Vec::new(); grammar.node_kind_count()];
        for entry in table.entries.iter().copied().flatten() {
            for kind in entry.kinds {
                // Shared entries contain node kinds that some languages lack. The grammar returns 0
                // for these.
                let number = usize::from(grammar.id_for_node_kind(kind, true));
                if let Some(own) = entries.get_mut(number).filter(|_| number > 0) {
                    own.push(entry);
                }
            }
        }
        let passed = table.passed.iter().map(|kind| grammar.id_for_node_kind(kind, true));
        let passed = passed.filter(|number| *number > 0).collect();
        Some(Self { language, table, parser, entries, passed })
    }

    /// Generates the mutants of `text`, the contents of the file at `path`. O(bytes + mutants ·
    /// bytes of their function) in the worst case.
    pub fn mutants(&mut self, path: &str, text: &[u8]) -> Mutants {
        self.mutants_here(path, text, &BuildPlatform::default())
    }

    /// Like [`Self::mutants`], for the platform and settings for which the tests are built.
    pub fn mutants_here(&mut self, path: &str, text: &[u8], here: &BuildPlatform) -> Mutants {
        let Some(tree) = self.parser.parse(text, None) else { return Mutants::default() };
        let mut walk = Walk {
            language: self.language,
            table: self.table,
            entries: &self.entries,
            passed: &self.passed,
            text,
            within: Vec::new(),
            open: None,
            functions: Vec::new(),
            kinds: Vec::new(),
            units: Vec::new(),
            found: Vec::new(),
        };
        walk.walk(tree.root_node());
        let Walk { mut units, found, .. } = walk;
        let is_broken = tree.root_node().has_error();
        let kept = KeepReasons::of(text, self.table.comment);
        let marked = marked(self.language, text, tree.root_node());
        let absent = absent(self.language, path, text, tree.root_node(), here);
        let mut trial: Option<(usize, Trial)> = None;
        let mut seen = HashSet::new();
        let mut ordinals: HashMap<(String, Operator, &[u8], String), usize> = HashMap::new();
        let mut all = Vec::new();
        let mut rejected = 0;
        for change in found {
            let UnparsedChange { unit, operator, range, replacement, line, last_line } = change;
            let before = text.get(range.clone()).unwrap_or_default();
            if before == replacement.as_bytes()
                || !seen.insert((range.clone(), replacement.clone()))
            {
                continue;
            }
            let own = &units[unit];
            let parser = &mut self.parser;
            let (_, tried) = match trial.take_if(|(of, _)| *of == unit) {
                Some(known) => trial.insert(known),
                None => trial.insert((unit, Trial::new(parser, &tree, text, &own.range))),
            };
            if !tried.is_read(parser, &range, &replacement) {
                rejected += 1;
                continue;
            }
            // Equal changes, including those in units with the same name, are distinguished by
            // their order.
            let key = (own.name.clone(), operator, before, replacement.clone());
            let ordinal = ordinals.entry(key).or_insert(0);
            let parts = [
                path.as_bytes(),
                own.name.as_bytes(),
                operator.name().as_bytes(),
                before,
                replacement.as_bytes(),
            ];
            let id = id_of(&parts, *ordinal);
            *ordinal += 1;
            // An accepted line does not accept a mutant of the whole function.
            let (from, to) =
                if operator.is_extreme() { (own.begin, own.begin) } else { (line, last_line) };
            let is_within = |first: u32, last: u32| first <= from && from <= last;
            let mark = marked.iter().find(|(first, last, _)| is_within(*first, *last));
            let kept = kept.reason(from, to, own.begin).or(mark.map(|(_, _, word)| word.as_str()));
            let kept = kept.map(str::to_owned);
            let absent = absent.iter().find(|own| is_within(own.first, own.last));
            let absent = absent.map(|own| own.why.clone());
            all.push(Mutant {
                id,
                unit,
                operator,
                range,
                replacement,
                line,
                last_line,
                kept,
                absent,
            });
        }
        // Units without mutants are removed.
        let used: HashSet<usize> = all.iter().map(|own| own.unit).collect();
        let numbers: Vec<usize> = (0..units.len())
            .scan(0, |next, unit| {
                let own = *next;
                *next += usize::from(used.contains(&unit));
                Some(own)
            })
            .collect();
        all.iter_mut().for_each(|own| own.unit = numbers[own.unit]);
        let mut number = 0;
        units.retain(|_| {
            number += 1;
            used.contains(&(number - 1))
        });
        Mutants { units, all, is_broken, rejected }
    }
}

/// A change that has not been parsed yet.
struct UnparsedChange {
    unit: usize,
    operator: Operator,
    range: Range<usize>,
    replacement: String,
    line: u32,
    last_line: u32,
}

struct Walk<'a, 't> {
    language: Language,
    table: &'static Table,
    entries: &'a [Vec<&'static Entry>],
    passed: &'a HashSet<u16>,
    text: &'a [u8],
    /// Names of the enclosing classes and modules, with the ids of their nodes.
    within: Vec<(usize, String)>,
    /// Index of the enclosing unit, and the ID of its node.
    open: Option<(usize, usize)>,
    /// The enclosing functions, including anonymous ones.
    functions: Vec<Node<'t>>,
    /// Kinds of the enclosing nodes.
    kinds: Vec<&'t str>,
    units: Vec<Unit>,
    found: Vec<UnparsedChange>,
}

impl<'t> Walk<'_, 't> {
    fn walk(&mut self, root: Node<'t>) {
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            if self.enter(node) {
                self.kinds.push(node.kind());
                if cursor.goto_first_child() {
                    continue;
                }
                self.kinds.pop();
            }
            self.leave(node);
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                self.kinds.pop();
                self.leave(cursor.node());
            }
        }
    }

    fn words(&self, node: Node<'_>) -> &str {
        let bytes = self.text.get(node.byte_range()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Visits a node. Returns true if its children should be visited.
    fn enter(&mut self, node: Node<'t>) -> bool {
        if !node.is_named() {
            return false;
        }
        if self.passed.contains(&node.kind_id()) || node.is_error() {
            return false;
        }
        if self.language == Language::Rust
            && matches!(node.kind(), "function_item" | "mod_item" | "impl_item")
            && is_for_tests(node, self.text)
        {
            return false;
        }
        match kind(self.language, node) {
            Kind::Comment => return false,
            Kind::Container if self.open.is_none() => {
                let name =
                    node.child_by_field_name("name").or_else(|| node.child_by_field_name("type"));
                let name = name.map_or("", |name| self.words(name));
                self.within.push((node.id(), cut(name)));
            }
            Kind::Function => {
                self.functions.push(node);
                if self.open.is_none() {
                    self.begin(node);
                }
                return true;
            }
            Kind::Callback => {
                self.functions.push(node);
                return true;
            }
            Kind::Container | Kind::Other => {}
        }
        if matches!(node.kind(), "lambda_expression" | "closure_expression" | "func_literal") {
            self.functions.push(node);
        }
        let Some((unit, _)) = self.open else { return true };
        if is_talk(self.table, node, self.text) || self.is_documentation(node) {
            return false;
        }
        let entries = self.entries;
        for entry in entries.get(usize::from(node.kind_id())).into_iter().flatten() {
            self.apply(entry, node, unit);
        }
        true
    }

    fn leave(&mut self, node: Node<'t>) {
        if self.within.last().is_some_and(|(own, _)| *own == node.id()) {
            self.within.pop();
        }
        if self.functions.last().is_some_and(|own| own.id() == node.id()) {
            self.functions.pop();
        }
        if self.open.is_some_and(|(_, own)| own == node.id()) {
            self.open = None;
        }
    }

    /// Returns true if the node is a Python docstring.
    fn is_documentation(&self, node: Node<'_>) -> bool {
        self.language == Language::Python
            && node.kind() == "expression_statement"
            && node.named_child(0).is_some_and(|only| only.kind() == "string")
    }

    fn begin(&mut self, node: Node<'t>) {
        let name = cut(&self.name_of(node));
        let receiver = self.receiver_of(node).filter(|_| self.language == Language::Go);
        let name = receiver.map_or(name.clone(), |own| format!("{own}.{name}"));
        let within: Vec<&str> = self
            .within
            .iter()
            .map(|(_, name)| name.as_str())
            .filter(|name| !name.is_empty())
            .collect();
        let name = if within.is_empty() { name } else { format!("{}.{name}", within.join(".")) };
        let unit = self.units.len();
        self.units.push(Unit {
            name,
            range: node.byte_range(),
            body: node.child_by_field_name("body").map(|body| body.byte_range()),
            begin: line(node.start_position().row),
            end: line(node.end_position().row),
        });
        self.open = Some((unit, node.id()));
        if let Some(body) = node.child_by_field_name("body")
            && let Some(gone) = self.gone(node, body)
        {
            self.push(unit, Operator::Body, body, body.byte_range(), gone);
        }
    }

    fn apply(&mut self, entry: &Entry, node: Node<'t>, unit: usize) {
        let first = node.named_child(0);
        let first_kind = first.map_or("", |own| own.kind());
        let around = self.kinds.last().copied().unwrap_or_default();
        if (!entry.within.is_empty() && !entry.within.contains(&around))
            || (!entry.of.is_empty() && !entry.of.contains(&first_kind))
            || (!entry.not_of.is_empty() && entry.not_of.contains(&first_kind))
        {
            return;
        }
        // In `x if y`, only x is a statement.
        if around.ends_with("_modifier") && is_condition(entry, node) {
            return;
        }
        // Tests need not detect the removal of a statement that only logs or asserts.
        if entry.operator == Operator::Statement
            && first.is_some_and(|own| is_talk(self.table, own, self.text))
        {
            return;
        }
        let operator = entry.operator;
        match entry.change {
            Change::Word(pairs) => self.swap_words(operator, node, unit, pairs),
            Change::Same(pairs) => {
                let other = pairs.iter().find(|(from, _)| *from == self.words(node));
                if let Some((_, to)) = other {
                    self.push(unit, operator, node, node.byte_range(), (*to).to_owned());
                }
            }
            Change::Whole(to) => self.replace(operator, node, unit, Some(node), to),
            Change::Field(field, to) => {
                self.replace(operator, node, unit, node.child_by_field_name(field), to);
            }
            Change::Child(index, to) => {
                let child = u32::try_from(index).ok().and_then(|index| node.named_child(index));
                self.replace(operator, node, unit, child, to);
            }
            Change::Last(to) => {
                let last =
                    u32::try_from(node.named_child_count()).unwrap_or_default().checked_sub(1);
                let last = last.and_then(|last| node.named_child(last));
                self.replace(operator, node, unit, last, to);
            }
            Change::Unwrap => {
                let sign = node.child(0).map_or("", |own| own.kind());
                let inner =
                    u32::try_from(node.named_child_count()).unwrap_or_default().checked_sub(1);
                if let Some(inner) = inner.and_then(|inner| node.named_child(inner))
                    && matches!(sign, "!" | "-" | "~" | "^" | "not")
                {
                    let inner = self.words(inner).to_owned();
                    self.push(unit, operator, node, node.byte_range(), inner);
                }
            }
            Change::Increment => {
                if let Some(next) = literal::incremented(self.words(node)) {
                    self.push(unit, operator, node, node.byte_range(), next);
                }
            }
            Change::Quoted => {
                let is_go = self.language == Language::Go;
                let other = if is_go { literal::quoted_go } else { literal::quoted };
                if let Some(other) = other(self.words(node)) {
                    self.push(unit, operator, node, node.byte_range(), other);
                }
            }
            Change::Returned => {
                let function = self.functions.last().copied();
                let nothing = function.map(|own| nothing::of(self.language, own, self.text));
                if let (Some(EmptyResult::Value(nothing)), Some(first)) = (nothing, first)
                    && self.words(first) != nothing
                {
                    self.push(unit, operator, node, first.byte_range(), nothing);
                }
            }
        }
    }

    fn swap_words(
        &mut self,
        operator: Operator,
        node: Node<'t>,
        unit: usize,
        pairs: &[(&'static str, &'static str)],
    ) {
        for index in 0..node.child_count() {
            let Some(child) = node.child(index).filter(|own| !own.is_named()) else { continue };
            if let Some((_, to)) = pairs.iter().find(|(from, _)| *from == child.kind()) {
                self.push(unit, operator, child, child.byte_range(), (*to).to_owned());
            }
        }
        // In some grammars, a single node spans a statement that consists of one word.
        if node.child_count() == 0
            && let Some((from, to)) = pairs.iter().find(|(from, _)| *from == self.words(node))
        {
            let start = node.start_byte();
            self.push(unit, operator, node, start..start + from.len(), (*to).to_owned());
        }
    }

    /// Replaces a node with a text, after filling in the placeholders for the node's own text
    /// (`{}`) and for that of its `parameter` field.
    fn replace(
        &mut self,
        operator: Operator,
        node: Node<'t>,
        unit: usize,
        replaced: Option<Node<'t>>,
        to: &str,
    ) {
        let Some(replaced) = replaced else { return };
        let mut text = to.replace("{}", self.words(replaced));
        if let Some((_, rest)) = to.split_once("{parameter}") {
            let Some(parameter) = node.child_by_field_name("parameter") else { return };
            text = to.replace("{parameter}", self.words(parameter));
            debug_assert!(!rest.contains("{parameter}"), "once is enough");
        }
        self.push(unit, operator, replaced, replaced.byte_range(), text);
    }

    fn push(
        &mut self,
        unit: usize,
        operator: Operator,
        node: Node<'_>,
        range: Range<usize>,
        replacement: String,
    ) {
        let (first, last) = (line(node.start_position().row), line(node.end_position().row));
        self.found.push(UnparsedChange {
            unit,
            operator,
            range,
            replacement,
            line: first,
            last_line: last,
        });
    }
}

/// Returns true if a statement entry would change the condition of a modifier rather than its body.
fn is_condition(entry: &Entry, node: Node<'_>) -> bool {
    let body = node.parent().and_then(|around| around.child_by_field_name("body"));
    entry.operator == Operator::Statement && body.is_none_or(|body| body.id() != node.id())
}

pub(crate) fn line(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1)
}
