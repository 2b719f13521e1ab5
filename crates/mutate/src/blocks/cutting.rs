//! Divides a text into blocks by its syntax tree. Nothing is executed, and no file is read.

use crate::blocks::grammar::{Kind, grammar, is_directive, kind};
use assay_suites::coverage::{Block, Blocks, Language, Sum, lines, sum, sum_of};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use tree_sitter::{Node, Parser, TreeCursor};

/// Maximum length of a block's name, in characters. Longer names are truncated.
const LONGEST_NAME: usize = 72;

/// Divides a text into blocks. O(bytes).
pub fn cut(language: Language, text: &[u8]) -> Blocks {
    let mut parser = Parser::new();
    let known = parser.set_language(&grammar(language)).is_ok();
    let tree = if known { parser.parse(text, None) } else { None };
    let Some(tree) = tree else { return Blocks::broken(text) };
    let root = tree.root_node();
    if root.has_error() {
        return Blocks::broken(text);
    }
    let mut cutting = Cutting::new(language, text);
    cutting.walk(root.walk());
    Blocks { all: cutting.blocks(lines(text)), is_broken: false }
}

/// A block whose end has not been reached yet.
struct OpenBlock {
    name: String,
    begin: u32,
    end: u32,
    digest: Sha256,
    /// ID of the block's node.
    node: usize,
    /// ID of the node's body. The text before the body also counts toward the parent's checksum.
    body: Option<usize>,
    in_body: bool,
    /// True if the blocks nested in this one are blocks of their own.
    divides: bool,
    /// See [`Block::is_holder`].
    is_holder: bool,
}

struct Cutting<'a> {
    language: Language,
    text: &'a [u8],
    open: Vec<OpenBlock>,
    /// Names of the enclosing classes and modules, with the IDs of their nodes.
    within: Vec<(usize, String)>,
    done: Vec<OpenBlock>,
}

impl<'a> Cutting<'a> {
    fn new(language: Language, text: &'a [u8]) -> Self {
        let top = OpenBlock {
            name: String::new(),
            begin: 1,
            end: lines(text),
            digest: Sha256::new(),
            node: usize::MAX,
            body: None,
            in_body: true,
            divides: true,
            is_holder: true,
        };
        Self { language, text, open: vec![top], within: Vec::new(), done: Vec::new() }
    }

    /// Visits all nodes without recursion, since files may be nested to any depth.
    fn walk(&mut self, mut cursor: TreeCursor<'_>) {
        loop {
            let goes_down = self.enter(cursor.node());
            if goes_down && cursor.goto_first_child() {
                continue;
            }
            self.leave(cursor.node());
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                self.leave(cursor.node());
            }
        }
    }

    fn text_of(&self, node: Node<'_>) -> &'a [u8] {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Enters a node, and returns true if its children should be visited.
    fn enter(&mut self, node: Node<'_>) -> bool {
        let found = kind(self.language, node);
        if found == Kind::Comment {
            let text = self.text_of(node);
            if is_directive(self.language, &String::from_utf8_lossy(text)) {
                self.open[0].digest.update(text);
            }
            return false;
        }
        if let Some(last) = self.open.last_mut()
            && last.body == Some(node.id())
        {
            last.in_body = true;
        }
        match found {
            Kind::Container => {
                let name =
                    node.child_by_field_name("name").or_else(|| node.child_by_field_name("type"));
                let name = name.map_or(String::new(), |name| self.words(self.text_of(name)));
                self.within.push((node.id(), name));
            }
            Kind::Function | Kind::Callback => self.begin(node, found),
            Kind::Comment | Kind::Other => {}
        }
        self.feed(&node.kind_id().to_le_bytes());
        if node.child_count() == 0 {
            self.feed(self.text_of(node));
            self.feed(&[0]);
        }
        true
    }

    fn begin(&mut self, node: Node<'_>, kind: Kind) {
        let divides = self.open.iter().all(|open| open.divides && open.in_body);
        let (first, last) = (node.start_position().row, node.end_position().row);
        // Each line must belong to one block and the blocks that enclose it, so a callback that
        // begins and ends on one line is part of the enclosing block.
        if !divides || (kind == Kind::Callback && first == last) {
            return;
        }
        let number = |row: usize| u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1);
        if let Some(holder) = self.open.last_mut() {
            holder.is_holder = true;
        }
        let around = self.named(node);
        let name = match node.child_by_field_name("name").filter(|_| kind == Kind::Function) {
            Some(name) => self.words(self.text_of(name)),
            None => self.words(self.before(around, node)),
        };
        let within: Vec<&str> = self.within.iter().map(|(_, name)| name.as_str()).collect();
        let before = self.open.last().map(|open| open.name.as_str()).unwrap_or_default();
        let name = match (before.is_empty(), within.is_empty()) {
            (true, true) => name,
            (true, false) => format!("{}.{name}", within.join(".")),
            (false, _) => format!("{before} › {name}"),
        };
        let mut digest = Sha256::new();
        digest.update(name.as_bytes());
        digest.update([0]);
        self.open.push(OpenBlock {
            name,
            begin: number(around.start_position().row),
            end: number(last),
            digest,
            node: node.id(),
            body: node.child_by_field_name("body").map(|body| body.id()),
            // If a block has no body, all of its text also counts toward the parent's checksum.
            in_body: false,
            divides: kind == Kind::Callback,
            is_holder: kind == Kind::Callback && self.open.len() == 1,
        });
    }

    /// Returns the node at which a block begins when it is executed. For a decorated function, this
    /// is the decorated definition; for a callback, it is the call to which the callback is passed.
    fn named<'t>(&self, node: Node<'t>) -> Node<'t> {
        let Some(parent) = node.parent() else { return node };
        let is_around = match self.language {
            Language::Python => parent.kind() == "decorated_definition",
            Language::Ruby => parent.kind() == "call",
            _ => false,
        };
        match parent.kind() {
            "arguments" => parent.parent().unwrap_or(parent),
            _ if is_around => parent,
            _ => node,
        }
    }

    /// Returns the first line of the text from the start of `around` to the start of `node`, which
    /// is nested in it. If both are the same node, returns the first line of the node.
    fn before(&self, around: Node<'_>, node: Node<'_>) -> &'a [u8] {
        let end = if around.id() == node.id() { node.end_byte() } else { node.start_byte() };
        let text = self.text.get(around.start_byte()..end).unwrap_or_default();
        text.split(|byte| *byte == b'\n').next().unwrap_or_default()
    }

    /// Returns a text shortened for display in a block's name.
    fn words(&self, text: &[u8]) -> String {
        let text = String::from_utf8_lossy(text);
        let text = text.trim().trim_end_matches([',', '{']).trim_end();
        let (opened, closed) = (text.matches('(').count(), text.matches(')').count());
        match text.char_indices().nth(LONGEST_NAME) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None if opened == closed + 1 => format!("{text})"),
            None => text.to_owned(),
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        let mut open = self.open.iter_mut().rev();
        if let Some(own) = open.next() {
            own.digest.update(bytes);
            if !own.in_body
                && let Some(parent) = open.next()
            {
                parent.digest.update(bytes);
            }
        }
    }

    fn leave(&mut self, node: Node<'_>) {
        if kind(self.language, node) == Kind::Comment {
            return;
        }
        // Separates the content of a node from the text that follows it.
        self.feed(&[0xff]);
        if self.open.last().is_some_and(|open| open.node == node.id())
            && let Some(open) = self.open.pop()
        {
            self.done.push(open);
        }
        if self.within.last().is_some_and(|(own, _)| *own == node.id()) {
            self.within.pop();
        }
    }

    fn blocks(mut self, lines: u32) -> Vec<Block> {
        let mut all = Vec::with_capacity(self.done.len() + 1);
        if let Some(top) = self.open.pop() {
            let sum = sum_of(top.digest);
            all.push(Block { name: String::new(), begin: 1, end: lines, sum, is_holder: true });
        }
        let mut known: HashMap<Sum, u64> = HashMap::new();
        self.done.sort_by_key(|open| (open.begin, std::cmp::Reverse(open.end)));
        for OpenBlock { name, begin, end, digest, is_holder, .. } in self.done {
            let mut own = sum_of(digest);
            // Blocks with the same text in the same position get different checksums.
            let times = known.entry(own).or_insert(0);
            *times += 1;
            if *times > 1 {
                own = sum(format!("{own} {times}").as_bytes());
            }
            all.push(Block { name, begin, end, sum: own, is_holder });
        }
        all
    }
}
