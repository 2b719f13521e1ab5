//! Finds functions that have object code of their own, complete and for every argument. If the
//! compiler emits the same code for two bodies of such a function, the bodies mean the same.
//!
//! Generic functions are left out because only instances for some types are compiled, which says
//! nothing about other types. Equal code also proves nothing for conditionally compiled code
//! (`cfg`), or for methods of a type declared within the function, since other functions call them.
//! Whether a compiler really emitted a function is not known here. The caller checks that first,
//! with a planted change ([`controls::certain_body`](crate::mutants::controls::certain_body)).

use crate::blocks::grammar;
use crate::mutants::mutant::{Mutant, Unit};
use crate::mutants::switch::{has_macro, words};
use assay_suites::coverage::Language;
use std::ops::Range;
use tree_sitter::{Node, Parser};

/// A function with object code of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmittedFunction {
    /// In Go, the function's symbol without the package: `F`, `T.F`, `(*T).F`. In Rust, the
    /// function's name. This is not a symbol, so the function must be given one.
    pub symbol: String,
    body: Range<usize>,
    /// Items within the function that other functions may call.
    others: Vec<Range<usize>>,
}

impl EmittedFunction {
    /// Returns true if a mutant changes only this function's own code.
    pub fn takes(&self, mutant: &Mutant) -> bool {
        let (own, body) = (&mutant.range, &self.body);
        let touches = |other: &Range<usize>| other.start < own.end && own.start < other.end;
        body.start <= own.start && own.end <= body.end && !self.others.iter().any(touches)
    }
}

/// Returns an entry for each of these functions that has object code of its own, and `None` for the
/// others. All are `None` in languages other than Go and Rust. O(bytes).
pub fn emitted(language: Language, text: &[u8], units: &[Unit]) -> Vec<Option<EmittedFunction>> {
    let nothing = || vec![None; units.len()];
    let mut parser = Parser::new();
    let is_known = matches!(language, Language::Go | Language::Rust)
        && parser.set_language(&grammar(language)).is_ok();
    let Some(tree) = is_known.then(|| parser.parse(text, None)).flatten() else {
        return nothing();
    };
    let root = tree.root_node();
    // Go files that call C are rewritten before they are compiled.
    if language == Language::Go && imports_c(root, text) {
        return nothing();
    }
    let of = |unit: &Unit| {
        let node = unit.node(root).filter(|own| !own.has_error())?;
        if language == Language::Go { go(node, text) } else { rust(node, text) }
    };
    units.iter().map(of).collect()
}

fn imports_c(root: Node<'_>, text: &[u8]) -> bool {
    let mut cursor = root.walk();
    root.children(&mut cursor)
        .any(|own| own.kind() == "import_declaration" && words(text, own).contains("\"C\""))
}

fn go(function: Node<'_>, text: &[u8]) -> Option<EmittedFunction> {
    let name = words(text, function.child_by_field_name("name")?);
    let before = function.prev_sibling().map_or("", |own| words(text, own));
    // There may be several functions with this name, or a directive may change how the function is
    // compiled.
    if function.child_by_field_name("type_parameters").is_some()
        || matches!(name, "init" | "_")
        || before.starts_with("//go:")
    {
        return None;
    }
    let symbol = match function.child_by_field_name("receiver") {
        None => name.to_owned(),
        Some(receiver) => {
            let receiver = words(text, receiver).trim_matches(['(', ')', ' ']);
            // The method belongs to a generic type.
            if receiver.contains('[') {
                return None;
            }
            let kind = receiver.split_whitespace().next_back()?;
            match kind.strip_prefix('*') {
                Some(kind) => format!("(*{kind}).{name}"),
                None => format!("{kind}.{name}"),
            }
        }
    };
    let body = function.child_by_field_name("body")?.byte_range();
    Some(EmittedFunction { symbol, body, others: Vec::new() })
}

/// Rust attributes that give a function a symbol themselves, or make its code unusual.
const SYMBOLS: [&str; 5] = ["no_mangle", "export_name", "naked", "panic_handler", "lang"];

fn rust(function: Node<'_>, text: &[u8]) -> Option<EmittedFunction> {
    let body = function.child_by_field_name("body")?;
    let name = words(text, function.child_by_field_name("name")?);
    let mut cursor = function.walk();
    let modifiers = function.children(&mut cursor).find(|own| own.kind() == "function_modifiers");
    let modifiers = modifiers.map_or("", |own| words(text, own));
    let says = |text: &str, word: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|own| own == word)
    };
    // The code of an `async` function is in another function, which is called when the future is
    // polled. An unnamed argument type (`impl`) makes the function generic in the actual type.
    let head = text.get(function.start_byte()..body.start_byte())?;
    let head = std::str::from_utf8(head).ok()?;
    if says(modifiers, "async") || says(modifiers, "gen") || says(head, "impl") {
        return None;
    }
    if says(words(text, body), "cfg") || name == "main" {
        return None;
    }
    let mut around = Some(function);
    while let Some(own) = around {
        if has_types(own, text) || own.kind() == "trait_item" || has_macro(own, text) {
            return None;
        }
        around = own.parent();
    }
    let mut before = function.prev_named_sibling();
    while let Some(own) = before.filter(|own| own.kind() == "attribute_item") {
        if SYMBOLS.iter().any(|word| says(words(text, own), word)) {
            return None;
        }
        before = own.prev_named_sibling();
    }
    Some(EmittedFunction { symbol: name.to_owned(), body: body.byte_range(), others: items(body)? })
}

/// Returns true if an item has generic parameters other than lifetimes.
fn has_types(item: Node<'_>, text: &[u8]) -> bool {
    let Some(parameters) = item.child_by_field_name("type_parameters") else { return false };
    let mut cursor = parameters.walk();
    let is_lifetime = |own: Node<'_>| {
        matches!(own.kind(), "lifetime" | "lifetime_parameter")
            || words(text, own).starts_with('\'')
    };
    parameters.named_children(&mut cursor).any(|own| !is_lifetime(own))
}

/// Returns the items within a body, or `None` if there is an attribute, which may transform the
/// code that follows.
fn items(body: Node<'_>) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::new();
    let mut cursor = body.walk();
    loop {
        let node = cursor.node();
        match node.kind() {
            "impl_item" | "trait_item" | "macro_definition" | "mod_item" => {
                found.push(node.byte_range());
            }
            "attribute_item" | "inner_attribute_item" => return None,
            _ => {}
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() || cursor.node().id() == body.id() {
                return Some(found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::Generator;

    /// The symbols of all functions that have one.
    fn symbols(language: Language, text: &str) -> Vec<(String, String)> {
        let found = Generator::new(language).unwrap().mutants("a", text.as_bytes());
        let all = emitted(language, text.as_bytes(), &found.units);
        let own = found.units.into_iter().zip(all);
        own.filter_map(|(unit, own)| Some((unit.name, own?.symbol))).collect()
    }

    #[test]
    fn what_is_generic_in_rust_has_no_code_of_its_own() {
        let text = "\
            pub fn plain(x: i32) -> i32 { x + 1 }\n\
            fn lent<'a>(x: &'a str) -> &'a str { &x[1..] }\n\
            fn generic<T: Clone>(x: &T, n: usize) -> usize { n + 1 }\n\
            fn sized<const N: usize>() -> usize { N + 1 }\n\
            fn hidden(x: impl Fn() -> i32) -> i32 { x() + 1 }\n\
            fn many(n: u32) -> impl Iterator<Item = u32> { (0..n).map(|x| x + 1) }\n\
            async fn later(n: u32) -> u32 { n + 1 }\n\
            fn built(n: u32) -> u32 { if cfg!(unix) { n + 1 } else { n } }\n\
            fn set(n: u32) -> u32 { #[cfg(unix)] { return n + 1; } n + 2 }\n\
            #[no_mangle] pub extern \"C\" fn exported(n: u32) -> u32 { n + 1 }\n\
            #[inline] fn quick(n: u32) -> u32 { n + 1 }\n\
            #[made_by_a_macro] fn made(n: u32) -> u32 { n + 1 }\n\
            fn main() { plain(1); }\n\
            struct A<'a, T>(&'a T); struct B<'a>(&'a str);\n\
            impl<'a, T> A<'a, T> { fn of(&self) -> u32 { 1 + 2 } }\n\
            impl<'a> B<'a> { fn of(&self) -> u32 { 1 + 2 } }\n\
            trait C { fn given(&self) -> u32 { 1 + 2 } }\n\
            impl C for B<'_> { fn given(&self) -> u32 { 3 + 4 } }\n\
            mod inner { pub fn deep(n: u32) -> u32 { n + 1 } }\n";
        let found = symbols(Language::Rust, text);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["plain", "lent", "quick", "B<'a>.of", "B<'_>.given", "inner.deep"]);
    }

    #[test]
    fn symbols_of_go_name_the_type_of_a_method() {
        let text = "\
            package p\n\
            func Plain(x int) int { return x + 1 }\n\
            func Generic[T any](x T, n int) int { return n + 1 }\n\
            func (s *Stack) Top() int { return s.n - 1 }\n\
            func (s Stack) Size() int { return s.n + 1 }\n\
            func (*Stack) Least() int { return 1 }\n\
            func (s *Many[T]) Push(n int) int { return n + 1 }\n\
            func init() { n = 1 + 2 }\n\
            //go:noinline\n\
            func Told(x int) int { return x + 1 }\n";
        let found = symbols(Language::Go, text);
        let all: Vec<&str> = found.iter().map(|(_, symbol)| symbol.as_str()).collect();
        assert_eq!(all, ["Plain", "(*Stack).Top", "Stack.Size", "(*Stack).Least"]);
        let with_c = text.replace("package p", "package p\nimport \"C\"");
        assert!(symbols(Language::Go, &with_c).is_empty());
        assert!(symbols(Language::C, "int a(int x) { return x + 1; }").is_empty());
    }

    #[test]
    fn what_others_call_within_a_function_is_not_in_its_code() {
        let text = "fn a(n: u32) -> u32 { struct B; impl B { fn c(&self) -> u32 { 1 } } n + 2 }";
        let found = Generator::new(Language::Rust).unwrap().mutants("a", text.as_bytes());
        let all = emitted(Language::Rust, text.as_bytes(), &found.units);
        let own = all[0].as_ref().unwrap();
        let taken = |replacement: &str| {
            let mutant = found.all.iter().find(|own| own.replacement == replacement).unwrap();
            own.takes(mutant)
        };
        assert!(taken("3"), "of its own");
        assert!(!taken("2"), "within B");
        let extreme = found.all.iter().find(|own| own.operator.is_extreme()).unwrap();
        assert!(!own.takes(extreme), "it takes the others away");
    }
}
