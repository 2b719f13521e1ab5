//! The mutants of a text in every language, and properties that must hold for any text.

use crate::blocks::grammar;
use crate::mutants::tables::table;
use crate::mutants::{Generator, Language, Mutants, Operator, why_passed};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use tree_sitter::Parser;

const RUBY: &str = r#"module Shop
  # A basket.
  class Basket
    def initialize(limit = 3)
      @limit = limit
      @items = []
    end

    def add(item, *rest)
      logger.info("adding #{item}")
      raise ArgumentError, "full" if @items.size >= @limit && !item.free?
      @items << item
      i = 0
      while i < 10
        i += 1
        break if i == 7
      end
      until i <= 1.5 do i -= 1 end
      notify(:added, price(item)) unless item.nil?
      case "x" when /a+/ then (1..i).each { |n| n }
      else return -i
      end
    rescue IOError => e
      warn e
      true
    end

    def self.empty?; end
  end
end
"#;

const PYTHON: &str = r#"
import os

class Basket:
    """A basket."""

    limit: int = 3

    @property
    def free(self) -> bool:
        """Whether there is room."""
        return len(self.items) < self.limit and not self.closed

    def add(self, item: "Item", count=1):
        logging.info("adding %s", item)
        assert count > 0
        if item is None or item in self.items:
            raise ValueError(f"no {item}")
        elif count == 0x10:
            return None
        self.items.append(price(item))
        for i in range(count):
            total = i * 2 ** 1.5
            self.total += total
            if i != 3:
                continue
        while True:
            break
        try:
            x = [y for y in "ab" if y > -1]
        except OSError as e:
            print(e)
        del x
        return count if count else ""

    def nothing(self):
        """Nothing."""

    def abstract(self): ...
"#;

const JAVASCRIPT: &str = r#"
import fs from "fs";
class Basket {
  constructor(limit) { this.limit = limit; }
  add(item, count = 1) {
    console.log("adding", item);
    if (count <= 0 || item === null) throw new Error(`no ${item}`);
    const total = price(item) ** 2, { a } = item;
    for (let i = 0; i < count; i++) { this.total += total; continue; }
    for (const x of this.items) { use(x, f(1)); }
    while (!done) { done = true; break; }
    try { risky(); } catch (e) { report(e); }
    return this.items.some((x) => x.name !== "a" && /b/.test(x)) ? 1.5 : -1;
  }
}
const double = (x) => x * 2;
function nothing() {}
"#;

const TYPESCRIPT: &str = r#"
interface A { n: 1 | 2 }
type B<T = 3> = T extends "x" ? 1 : 2;
export function pick<T>(a: T[], n: number = 1): T | undefined {
  return n < a.length ? a[n] : undefined;
}
"#;

const GO: &str = r#"package shop

import "log"

type Basket struct{ items [4]int }

func (b *Basket) Add(n int) (int, error) {
	log.Printf("adding %d", n)
	if n <= 0 && !b.open {
		return 0, errors.New("no")
	}
	b.total += n
	defer b.close()
	for i := 0; i < n; i++ {
		if i == 3 {
			break
		}
		b.items[i]++
		f(i)
	}
	return n * -2, nil
}

func empty() {}

func name(t time.Time) string { return "x" }
"#;

const RUST: &str = r#"
use std::fmt;

#[derive(Debug, Clone)]
pub struct Basket { items: Vec<u32>, total: [u8; 4] }

impl Basket {
    /// Adds.
    pub fn add(&mut self, n: u32) -> Result<u32, String> {
        println!("adding {n} {}", 1 + 1);
        if n <= 0 && !self.open {
            return Err("no".to_owned());
        }
        self.total += n;
        self.items.push(n);
        for i in 0..n {
            if i == 3 { break; }
            debug_assert!(i < 5);
        }
        while self.open { self.open = false; }
        if let Some(x) = self.items.first() && *x > 2 { return Ok(*x); }
        let f = |x: u32| { return x - 1 };
        Ok(match n { 1 if f(n) > 1 => -1.5 as u32, _ => 2 })
    }

    fn name(&self) -> &str { "x" }
    fn all(&self) -> impl Iterator<Item = u32> { self.items.iter().copied() }
    fn nothing(&self) {}
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds() { assert_eq!(1 + 1, 2); }
}

#[test]
fn other() { assert!(true && false); }
"#;

const C: &str = r#"#include <stdio.h>
#define N 3
static int sizes[4] = {1};
/* Adds. */
int add(struct basket *b, int n) {
    assert(n > 0);
    LOG_INFO("adding %d", n);
    if (n <= 0 || !b->open) return -1;
    b->total += n;
    for (int i = 0; i < n; i++) { b->items[i] = f(i) << 2; if (i == 3) continue; }
    while (b->open) break;
    close(b);
    return n > 1 ? sizeof(int) : 0x10;
}
void nothing(void) {}
char *name(void) { return "x"; }
struct point at(int x) { struct point p = {x}; return p; }
"#;

const CPP: &str = r#"namespace shop {
template <typename T = int> class Basket {
 public:
  Basket(int n) : n_(n) { open_ = true; }
  std::vector<int> add(T n) const {
    if (n <= 0 && !open_) throw std::runtime_error("no");
    try { f(n); } catch (const std::exception& e) { g(); }
    for (auto x : items_) { total_ -= x; }
    return {n + 1};
  }
  int& at(int i) { return items_[i]; }
};
int Other::size() const { return 2; }
}
"#;

const JAVA: &str = r#"package shop;
import java.util.List;
@Entity(name = "b")
class Basket {
  Basket(int n) { super(n); this.n = n; }
  @Override public boolean add(Item item, int n) {
    log.info("adding");
    assert n > 0;
    if (n <= 0 || item == null) { throw new IllegalArgumentException("no"); }
    for (int i = 0; i < n; i++) { total += i; items.add(i); }
    while (!open) { break; }
    return n > 1L ? true : items.isEmpty();
  }
  List<String> all() { return items; }
  void nothing() { }
  abstract int size();
}
"#;

const TEXTS: [(Language, &str, &str); 9] = [
    (Language::Ruby, "lib/basket.rb", RUBY),
    (Language::Python, "basket.py", PYTHON),
    (Language::JavaScript, "basket.js", JAVASCRIPT),
    (Language::TypeScript, "pick.ts", TYPESCRIPT),
    (Language::Go, "basket.go", GO),
    (Language::Rust, "src/basket.rs", RUST),
    (Language::C, "basket.c", C),
    (Language::Cpp, "basket.cpp", CPP),
    (Language::Java, "Basket.java", JAVA),
];

fn mutants(language: Language, path: &str, text: &str) -> Mutants {
    Generator::new(language).unwrap().mutants(path, text.as_bytes())
}

/// Returns a list of all units and their changes, each with line, operator, original text and
/// replacement.
fn listed(text: &str, found: &Mutants) -> String {
    let mut list = String::new();
    for (unit, own) in found.units.iter().enumerate() {
        writeln!(list, "{} {}-{}", own.name, own.begin, own.end).unwrap();
        for mutant in found.all.iter().filter(|mutant| mutant.unit == unit) {
            let on_a_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let before = on_a_line(&text[mutant.range.clone()]);
            let before = match before.char_indices().nth(40) {
                Some((end, _)) => format!("{}…", &before[..end]),
                None => before,
            };
            let (line, operator) = (mutant.line, mutant.operator);
            writeln!(list, "  {line}: {operator}: {before} → {}", on_a_line(&mutant.replacement))
                .unwrap();
        }
    }
    list
}

#[test]
fn every_language_has_its_mutants() {
    for (language, path, text) in TEXTS {
        let found = mutants(language, path, text);
        assert!(!found.is_broken, "{path}");
        insta::assert_snapshot!(path.replace('/', "-"), listed(text, &found));
    }
}

#[test]
fn every_operator_is_somebodys() {
    let all = TEXTS.iter().flat_map(|(language, path, text)| mutants(*language, path, text).all);
    let made: BTreeSet<Operator> = all.map(|own| own.operator).collect();
    assert_eq!(made.into_iter().collect::<Vec<_>>(), Operator::ALL);
}

#[test]
fn the_kinds_in_the_tables_are_those_of_the_grammars() {
    let shared: BTreeSet<String> =
        [Language::JavaScript, Language::C, Language::Cpp, Language::Java]
            .iter()
            .flat_map(|language| {
                let grammar = grammar(*language);
                let number = |number: usize| u16::try_from(number).unwrap();
                let kinds = (0..grammar.node_kind_count())
                    .filter_map(|own| grammar.node_kind_for_id(number(own)).map(str::to_owned));
                kinds.collect::<Vec<_>>()
            })
            .collect();
    for language in Language::ALL {
        let (grammar, table) = (grammar(language), table(language));
        let is_shared = matches!(
            language,
            Language::JavaScript
                | Language::TypeScript
                | Language::Tsx
                | Language::C
                | Language::Cpp
                | Language::Java
        );
        let kinds = table.entries.iter().copied().flatten();
        let kinds = kinds.flat_map(|own| [own.kinds, own.within, own.of, own.not_of].concat());
        for kind in kinds {
            let is_known = grammar.id_for_node_kind(kind, true) > 0;
            assert!(is_known || (is_shared && shared.contains(kind)), "{language:?}: {kind}");
        }
    }
}

#[test]
fn a_mutant_is_known_whatever_stands_around_its_unit() {
    let ids = |text: &str| -> Vec<String> {
        mutants(Language::Python, "a.py", text).all.into_iter().map(|own| own.id).collect()
    };
    let before = ids("def f(x):\n    return x + 1 + 1\n");
    assert_eq!(before.len(), before.iter().collect::<BTreeSet<_>>().len(), "{before:?}");
    let after = ids(
        "import os\n\ndef g():\n    return 2\n\n\ndef f(x):\n    # why\n    return x + 1 + 1\n",
    );
    assert!(before.iter().all(|id| after.contains(id)));
    assert!(ids("def f(x):\n    return x + 2 + 1\n").iter().any(|id| !before.contains(id)));
}

#[test]
fn a_comment_accepts_what_it_stands_at() {
    let text = "def f(x):\n    # assay: keep nobody sees it\n    a(x)\n    return x\n";
    let found = mutants(Language::Python, "a.py", text);
    let kept: Vec<_> =
        found.all.iter().filter(|own| own.kept.is_some()).map(|own| own.line).collect();
    assert_eq!(kept, [3]);
}

#[test]
fn what_is_broken_is_changed_where_it_is_understood() {
    let text = "int a(int x) { return x + 1; }\nint b( { ]] }\nint c(int x) { return x - 1; }\n";
    let found = mutants(Language::C, "a.c", text);
    assert!(found.is_broken);
    assert!(found.units.iter().any(|own| own.name == "a"), "{:?}", found.units);
    let nothing = mutants(Language::Python, "a.py", "def f(:\n  x +\n");
    assert!(nothing.is_broken && nothing.all.is_empty());
}

#[test]
fn tests_and_what_is_generated_are_passed_over() {
    let why = |language, path, text: &str| why_passed(language, path, text.as_bytes());
    assert_eq!(why(Language::Python, "tests/test_a.py", ""), Some("holds tests"));
    assert_eq!(why(Language::Python, "tests/helper.py", ""), Some("is in a directory of tests"));
    assert_eq!(why(Language::Java, "src/BasketTest.java", ""), Some("holds tests"));
    assert_eq!(why(Language::Rust, "src/basket/tests.rs", ""), Some("holds tests"));
    assert_eq!(why(Language::Rust, "src/basket/test.rs", ""), None);
    let generated = "// Code generated by stringer. DO NOT EDIT.\n";
    assert_eq!(why(Language::Go, "a.go", generated), Some("is marked as generated"));
    assert_eq!(why(Language::Python, "a.py", "x = 1\n"), None);
    let line = "function f(a,b){return a<b}".repeat(200);
    assert_eq!(why(Language::JavaScript, "a.js", &line), Some("is minified"));
    assert_eq!(why(Language::JavaScript, "a.js", &line.replace('}', "}\n")), None);
}

/// Returns true if a text parses without an error.
fn is_read(language: Language, text: &[u8]) -> bool {
    let mut parser = Parser::new();
    parser.set_language(&grammar(language)).unwrap();
    !parser.parse(text, None).unwrap().root_node().has_error()
}

#[test]
fn every_mutant_is_read_from_the_start_too() {
    for (language, path, text) in TEXTS {
        let found = mutants(language, path, text);
        assert_eq!(found, mutants(language, path, text), "{path}");
        for mutant in &found.all {
            let applied = mutant.applied(text.as_bytes());
            assert!(is_read(language, &applied), "{path}: {}", mutant.diff(text.as_bytes()));
            assert_ne!(applied, text.as_bytes());
            let diff = mutant.diff(text.as_bytes());
            assert!(diff.lines().any(|line| line.starts_with('-')), "{path}: {diff}");
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..80), which in 0_usize..10) {
        let language = Language::ALL[which];
        let found = Generator::new(language).unwrap().mutants("a", &bytes);
        for mutant in &found.all {
            mutant.diff(&bytes);
            prop_assert!(mutant.range.end <= bytes.len());
        }
    }

    /// Texts made of pieces of real programs, which are cut and joined at random.
    #[test]
    fn no_pieces_are_too_odd(which in 0_usize..9, cuts in proptest::collection::vec(0_usize..900, 4)) {
        let (language, path, text) = TEXTS[which];
        let at = |cut: usize| cut.min(text.len());
        let (a, b, c, d) = (at(cuts[0]), at(cuts[1]), at(cuts[2]), at(cuts[3]));
        let bytes = text.as_bytes();
        let joined = [&bytes[a.min(b)..a.max(b)], &bytes[c.min(d)..c.max(d)]].concat();
        let found = Generator::new(language).unwrap().mutants(path, &joined);
        let ids: BTreeSet<&str> = found.all.iter().map(|own| own.id.as_str()).collect();
        prop_assert_eq!(ids.len(), found.all.len());
        for mutant in &found.all {
            let applied = mutant.applied(&joined);
            prop_assert!(applied != joined);
            prop_assert!(found.is_broken || is_read(language, &applied));
            mutant.diff(&joined);
        }
    }
}
