//! Divides real texts into blocks.

use crate::blocks::{Grammars, cut, serve};
use assay_suites::coverage::{ABSENT, Blocks, Cutter, Language, Sum, wire};
use std::collections::BTreeSet;

fn names(language: Language, text: &str) -> Vec<(String, u32, u32)> {
    let blocks = cut(language, text.as_bytes());
    assert!(!blocks.is_broken, "{text}");
    let all = blocks.all.into_iter().skip(1);
    all.map(|block| (block.name, block.begin, block.end)).collect()
}

fn is_found(language: Language, text: &str, expected: &[(&str, u32, u32)]) {
    let expected: Vec<_> =
        expected.iter().map(|(name, begin, end)| ((*name).to_owned(), *begin, *end)).collect();
    assert_eq!(names(language, text), expected);
}

const RUBY: &str = "# frozen_string_literal: true
class User
  LIMIT = 3
  def initialize(name)
    @name = name
  end

  def total
    items.sum do |item|
      item.price
    end
  end
  attr_reader :name
end
";

#[test]
fn each_language_is_cut_into_its_functions() {
    is_found(Language::Ruby, RUBY, &[("User.initialize", 4, 6), ("User.total", 8, 12)]);
    let spec = "describe User do\n  let(:user) { User.new }\n  it \"adds\" do\n    expect(1).to eq 1\n  end\n  it 'x' do\n  end\nend\n";
    is_found(
        Language::Ruby,
        spec,
        &[
            ("describe User", 1, 8),
            ("describe User › it \"adds\"", 3, 5),
            ("describe User › it 'x'", 6, 7),
        ],
    );
    let python = "import os\n\n@cache\ndef a(x=1):\n    def inner():\n        pass\n    return inner\n\nclass B:\n    c = 1\n    async def d(self):\n        return [e for e in self]\n";
    is_found(Language::Python, python, &[("a", 3, 7), ("B.d", 11, 12)]);
    let script = "describe('x', () => {\n  it('y', async () => {\n    expect(1)\n  })\n})\nconst f = (a) => {\n  return a\n}\nclass A { b() { return 1 } }\n";
    is_found(
        Language::JavaScript,
        script,
        &[
            ("describe('x')", 1, 5),
            ("describe('x') › it('y')", 2, 4),
            ("(a) =>", 6, 8),
            ("A.b", 9, 9),
        ],
    );
    let go = "package a\n\nfunc A() int {\n\treturn 1\n}\n\nfunc (b *B) C() {\n}\n";
    is_found(Language::Go, go, &[("A", 3, 5), ("C", 7, 8)]);
    let rust =
        "impl A {\n    fn b(&self) -> u8 {\n        1\n    }\n}\nmod c {\n    fn d() {}\n}\n";
    is_found(Language::Rust, rust, &[("A.b", 2, 4), ("c.d", 7, 7)]);
    let types = "export function f(a: number): number {\n  return a\n}\n";
    is_found(Language::TypeScript, types, &[("f", 1, 3)]);
}

fn sums(text: &str) -> Vec<Sum> {
    cut(Language::Ruby, text.as_bytes()).all.iter().map(|block| block.sum).collect()
}

#[test]
fn a_block_changes_by_what_it_says_and_not_by_where_it_stands() {
    let before = sums(RUBY);
    let moved = RUBY
        .replace("class User\n", "# about\n\n\nclass User\n")
        .replace("@name = name", "@name  =  name # it");
    assert_eq!(sums(&moved), before);
    let one = |from: &str, to: &str| -> Vec<bool> {
        sums(&RUBY.replace(from, to)).iter().zip(&before).map(|(a, b)| a != b).collect()
    };
    assert_eq!(one("@name = name", "@name = name.to_s"), [false, true, false]);
    assert_eq!(one("item.price", "item.cost"), [false, false, true]);
    assert_eq!(one("LIMIT = 3", "LIMIT = 4"), [true, false, false]);
    assert_eq!(
        one("(name)", "(name, _)"),
        [true, true, false],
        "its first line is what holds it, too"
    );
    assert_eq!(
        one("frozen_string_literal: true", "frozen_string_literal: false"),
        [true, false, false]
    );
    assert_eq!(one("class User", "class Users"), [true, true, true]);
    let more = sums(&RUBY.replace("  attr_reader", "  def more\n  end\n  attr_reader"));
    assert_eq!((more.len(), more[0] == before[0], more[1] == before[1]), (4, false, true));
    // The checksum distinguishes the content of a node from the text that follows it.
    let python = |text: &str| cut(Language::Python, text.as_bytes()).all[0].sum;
    assert_ne!(python("if a:\n    b\n    c\n"), python("if a:\n    b\nc\n"));
}

#[test]
fn two_blocks_that_say_the_same_are_two() {
    let text = "class A\n  def x\n    1\n  end\nend\nclass B\n  def x\n    1\n  end\nend\nclass A\n  def x\n    1\n  end\nend\n";
    let sums = sums(text);
    assert_eq!(sums.iter().collect::<BTreeSet<_>>().len(), 4);
}

#[test]
fn what_is_no_program_is_one_block() {
    let broken = cut(Language::Ruby, b"class A\n  def x\n    1 +\n  end\nend\n");
    assert!(broken.all.len() == 1 && broken.is_broken);
    assert!(cut(Language::Python, b"def x(:\n").is_broken);
    assert!(cut(Language::Go, &[0xff, 0xfe, 0]).is_broken);
    assert!(!cut(Language::Python, b"").is_broken);
    // Deeply nested input must not overflow the stack.
    let deep = format!("x = {}1{}\n", "(".repeat(20_000), ")".repeat(20_000));
    assert_eq!(cut(Language::Python, deep.as_bytes()).all.len(), 1);
}

#[test]
fn whoever_asks_the_program_gets_what_the_library_says() {
    let texts: [(Language, &[u8]); 3] = [
        (Language::Ruby, RUBY.as_bytes()),
        (Language::Python, b"def x(:\n"),
        (Language::TypeScript, b"export function f(a: number): number {\n  return a\n}\n"),
    ];
    let mut asked = Vec::new();
    wire::write_request(&mut asked, &texts).unwrap();
    wire::write_request(&mut asked, &texts[..1]).unwrap();
    let mut answered = Vec::new();
    serve(&mut &asked[..], &mut answered).unwrap();
    let mut input = answered.strip_prefix(&wire::GREETING).unwrap();
    let expected: Vec<Blocks> = Grammars.cut(&texts).into_iter().flatten().collect();
    assert_eq!(wire::read_answer(&mut input, 3).unwrap(), expected);
    assert_eq!(wire::read_answer(&mut input, 1).unwrap(), expected[..1]);
    assert!(input.is_empty());
    assert!(serve(&mut &b"GET / HTTP/1.1\r\n"[..], &mut Vec::new()).is_err());
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_odd(text in "\\PC{0,60}", which in 0_usize..10) {
        let blocks = cut(Language::ALL[which], text.as_bytes());
        proptest::prop_assert!(!blocks.all.is_empty());
        proptest::prop_assert!(blocks.all.iter().all(|block| block.begin <= block.end && block.sum > ABSENT));
        let moved = cut(Language::ALL[which], format!("\n{text}").as_bytes());
        // Ruby's grammar tells a sign from an operator by whether a blank precedes it.
        let is_sign = text.starts_with(|first| "+-*&:[(<?%/".contains(first));
        if !text.starts_with("#!") && !is_sign && !blocks.is_broken && !moved.is_broken {
            proptest::prop_assert_eq!(blocks.sums(), moved.sums());
        }
    }
}
