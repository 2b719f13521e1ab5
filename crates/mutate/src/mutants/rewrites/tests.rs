//! The rewrites in each language, and code that is left alone because an equivalence is uncertain.

use crate::mutants::{Generator, Language, Mutant, Operator};
use std::fmt::Write;

fn all(language: Language, text: &str) -> Vec<Mutant> {
    let mut generator = Generator::new(language).unwrap();
    let units = generator.mutants("a", text.as_bytes()).units;
    let found = generator.rewrites("a", text.as_bytes(), &units);
    // Each rewritten text parses, and each rewrite has its own id.
    for own in &found {
        assert!(own.operator.is_rewrite());
        let applied = own.applied(text.as_bytes());
        let again = generator.mutants("a", &applied);
        assert!(!again.is_broken, "{}", String::from_utf8_lossy(&applied));
    }
    let mut ids: Vec<&str> = found.iter().map(|own| own.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), found.len());
    found
}

/// Returns the rewrites of a text as diffs.
fn shown(language: Language, text: &str) -> String {
    let mut shown = String::new();
    for own in all(language, text) {
        let _never_fails = writeln!(shown, "{}", own.operator);
        let diff = own.diff(text.as_bytes());
        let changed = diff.lines().filter(|line| line.starts_with(['-', '+']));
        changed.for_each(|line| {
            let _never_fails = writeln!(shown, "    {line}");
        });
    }
    shown
}

fn kinds(language: Language, text: &str) -> Vec<Operator> {
    all(language, text).into_iter().map(|own| own.operator).collect()
}

const PYTHON: &str = r#"
class Cart:
    def total(self, lines, limit=3):
        count = 0
        label = "sum"
        factor = 2
        for line in lines:
            count += line.price * factor
        if count > 100 and limit is not None:
            note(label, count)
        else:
            count = self._least(count)
        return count * 2 + 1

    def _least(self, count):
        if 5 == count: return 5
        else: return max(count, 1)
"#;

const RUBY: &str = r#"
class Cart
  def total(lines)
    count = 0
    label = "sum"
    factor = 2
    lines.each { |line| count += line.price * factor }
    if count == 7
      note(label, count)
    else
      count = least(count)
    end
    return count if count > 9
    count * 2 + 1
  end

  private

  def least(count)
    [count, 1].max
  end
end
"#;

const JAVASCRIPT: &str = r#"
class Cart {
  total(lines) {
    let count = 0;
    const factor = 2;
    for (const line of lines) {
      count += line.price * factor;
    }
    if (count > 100) {
      note(count);
    } else {
      count = this._least(count);
    }
    return count * 2 + 1;
  }

  _least(count) {
    return count === undefined ? 1 : Math.max(count, 1);
  }
}
"#;

const GO: &str = r#"
package cart

func Total(lines []Line, limit int) (int, error) {
	count := 0
	factor := 2
	for _, line := range lines {
		count += line.Price * factor
	}
	if err := check(count); err != nil {
		return 0, err
	} else {
		note(count)
	}
	if count > limit {
		count = limit
	} else {
		count++
	}
	return count, nil
}

func least(a int, b float64) bool {
	return float64(a)*2 > b || a > 3
}

func more(a, b int) bool {
	return a*2 > b
}
"#;

const RUST: &str = r#"
impl Cart {
    fn total(&self, limit: usize) -> usize {
        let mut count = 0;
        let factor: usize = 2;
        let least = 1;
        for line in &self.lines {
            count += line.price * factor;
        }
        if count > 100 {
            count = limit;
        } else {
            note(count);
        }
        if let Some(own) = self.first() {
            count += own;
        } else {
            count += least;
        }
        count * 2 + limit
    }
}
"#;

#[test]
fn what_means_the_same_is_written_in_another_way() {
    for (language, text) in [
        (Language::Python, PYTHON),
        (Language::Ruby, RUBY),
        (Language::JavaScript, JAVASCRIPT),
        (Language::Go, GO),
        (Language::Rust, RUST),
    ] {
        insta::assert_snapshot!(format!("rewrites_{}", language.name()), shown(language, text));
    }
}

#[test]
fn a_name_of_which_one_mention_is_not_understood_stays() {
    use Language::{Go, JavaScript, Python, Ruby, Rust};
    for (language, text) in [
        // In these texts the name also occurs in a string, a comment, an attribute, the name of an
        // argument, a parameter or a nested function, or it is declared global or nonlocal.
        (Python, "def a():\n    x = f()\n    g('x')\n    return x\n"),
        (Python, "def a():\n    x = f()  # x\n    return x\n"),
        (Python, "def a(y):\n    x = f()\n    y.x = x\n"),
        (Python, "def a():\n    x = f()\n    g(x=x)\n"),
        (Python, "def a(x):\n    x = f(x)\n    g(x)\n"),
        (Python, "def a():\n    x = f()\n    g(lambda: x)\n"),
        (Python, "def a():\n    global x\n    x = f()\n"),
        (Python, "def a():\n    x = f()\n    g(f'{x=}')\n"),
        (Python, "def a():\n    x = f()\n    g(locals(), x)\n"),
        (Ruby, "def a\n  x = f()\n  g(:x, x)\nend"),
        (Ruby, "def a\n  x = f()\n  y.x(x)\nend"),
        (Ruby, "def a\n  g(x)\n  x = f()\nend"),
        (Ruby, "def a\n  g { x = f() }\n  x\nend"),
        (Ruby, "def a\n  x = f()\n  g(x: x)\nend"),
        (Ruby, "def a\n  x = f()\n  g(binding, x)\nend"),
        (JavaScript, "function a() { x = f(); g(x); }"),
        (JavaScript, "function a() { { let x = f(); } g(x); }"),
        (JavaScript, "function a() { const x = f(); g({ x }); }"),
        (JavaScript, "function a() { const x = f(); g(() => x); }"),
        (JavaScript, "function a() { const x = f(); g(`x`, x); }"),
        (Go, "package p\nfunc a() {\n\tx := x\n\tg(y.x, x)\n}\n"),
        (Go, "package p\nfunc a() {\n\tif x := f(); x {\n\t\tg()\n\t}\n}\n"),
        (Go, "package p\nfunc a() {\n\tx := f()\n\tg(T{x: x})\n}\n"),
        (Rust, "fn a() { let x = f(); println!(\"{x}\"); }"),
        (Rust, "fn a() { let x = f(); g(T { x }); }"),
        (Rust, "fn a() { let x = f(); g(|| x); }"),
    ] {
        assert!(!kinds(language, text).contains(&Operator::Rename), "{text}");
    }
}

#[test]
fn what_others_may_wait_for_keeps_its_name() {
    use Language::{JavaScript, Python, Ruby};
    for (language, text) in [
        (
            Python,
            "class A(Base):\n    def _x(self):\n        return 1\n\n    def b(self):\n        self._x()\n",
        ),
        (Python, "@hook\ndef _x():\n    return 1\n\n_x()\n"),
        (Python, "def _x():\n    return 1\n\ngetattr(m, '_x')\n_x()\n"),
        (
            Python,
            "class A:\n    def __x(self):\n        return 1\n\n    def b(self):\n        self.__x()\n",
        ),
        (Ruby, "class A < B\n  def b\n    own\n  end\n  private\n  def own\n    1\n  end\nend"),
        (
            Ruby,
            "class A\n  include B\n  def b\n    own\n  end\n  private\n  def own\n    1\n  end\nend",
        ),
        (Ruby, "class A\n  def b\n    own\n  end\n  def own\n    1\n  end\nend"),
        (
            Ruby,
            "class A\n  def b\n    send(:own)\n    own\n  end\n  private\n  def own\n    1\n  end\nend",
        ),
        (JavaScript, "class A extends B { _x() { return 1; } b() { this._x(); } }"),
    ] {
        assert!(!kinds(language, text).contains(&Operator::RenamePrivate), "{text}");
    }
}

#[test]
fn nothing_changes_places_with_a_call_or_a_method_that_is_anybodys() {
    use Language::{Go, JavaScript, Python, Ruby, Rust};
    for (language, text) in [
        (Python, "def a(x, y):\n    if x < y:\n        f()\n"),
        (Python, "def a(x):\n    if 0 < x < 5:\n        f()\n"),
        (Ruby, "def a(x)\n  f if x < 5\nend"),
        (Ruby, "def a(x, y)\n  f if x == y\nend"),
        (JavaScript, "function a(x) { if (x == 5) f(); }"),
        (Rust, "fn a(x: T, y: T) { if x < y { f() } }"),
        (Go, "package p\nfunc a(x, y int) {\n\tif x < y {\n\t\tf()\n\t}\n}\n"),
        (Python, "def a():\n    x = f()\n    y = g()\n"),
        (Python, "def a():\n    x = 1\n    x = 2\n"),
        (Python, "def a():\n    global x\n    x = 1\n    y = 2\n"),
        (Python, "def a(b):\n    b.x = 1\n    b.y = 2\n"),
        (Ruby, "def a\n  @x = 1\n  @y = 2\nend"),
        (JavaScript, "function a() { const x = f(); const y = 1; }"),
        (JavaScript, "function a() { return () => 1; }"),
        (Rust, "fn a() -> u8 { lock().value + 1 }"),
        (Go, "package p\nfunc a() int64 {\n\treturn 1 << 3\n}\n"),
        (
            Python,
            "def a(x):\n    if x:\n        f()\n    elif y:\n        g()\n    else:\n        h()\n",
        ),
        (Ruby, "def a(x)\n  if x\n    y = f\n  else\n    g(y)\n  end\nend"),
        (Ruby, "def a(x)\n  if x\n    g(y)\n  else\n    y = f\n  end\nend"),
        (JavaScript, "function a(x) { if (x) { function f() {} } else { g(); } f(); }"),
        (Rust, "fn a(x: Option<u8>) { if let Some(y) = x { f(y) } else { g() } }"),
    ] {
        let kinds = kinds(language, text);
        assert!(kinds.iter().all(|own| *own == Operator::Rename), "{text}: {kinds:?}");
    }
}

#[test]
fn of_languages_of_which_nobody_wrote_it_down_there_are_none() {
    let text =
        "int a(int x) { int y = 0; int z = 1; if (x > 3) { y = z; } else { y = 2; } return y; }";
    assert!(all(Language::C, text).is_empty());
    // The name that a rewrite would add may already have a meaning there.
    let text = "def a(x):\n    assay_value = 1\n    return x + assay_value\n";
    assert!(all(Language::Python, text).is_empty());
}
