//! Advice on assertions that would detect a change, in plain words, with one entry per kind of
//! change. The terminal report, the page and all written files use this wording.
//!
//! Only source text is examined, without knowledge of types or values. If a condition can't be
//! parsed, a wording that is always valid is used.

use super::survivor::Survivor;
use crate::names::shorten;
use assay_data::mutation::Fate;

/// Maximum width of code within a sentence, in columns.
const LONGEST_CODE: usize = 60;

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Fixed text.
    Words(&'static str),
    /// Code from the user's sources.
    Code(String),
}

/// A sentence without its final period.
pub(crate) type Advice = Vec<Piece>;

/// A change with the text before and after it.
struct Changed<'a> {
    before: &'a str,
    after: &'a str,
    /// Name of the function, without enclosing classes.
    function: &'a str,
    /// The terms of a comparison, if both sides are simple enough to be named.
    sides: Option<(&'a str, &'a str)>,
}

type Adviser = fn(&Changed<'_>) -> Advice;

/// Every kind of change by name, most severe first.
const KNOWN: [(&str, Adviser); 19] = [
    ("body", |own| {
        vec![
            Piece::Words("assert what "),
            code(own.function),
            words(" returns, or what it changes"),
        ]
    }),
    ("statement", statement),
    ("raise", |own| {
        vec![
            words("call "),
            code(own.function),
            words(" so that it raises this exception, and assert that it does"),
        ]
    }),
    ("loop", |_| vec![words("give the loop something to go through, and assert what it does")]),
    ("handler", |_| {
        vec![words("cause the exception that is handled here, and assert what happens then")]
    }),
    ("return", |own| {
        vec![
            words("assert the value that "),
            code(own.function),
            words(" returns here: no test looks at it"),
        ]
    }),
    ("value", |own| {
        vec![words("assert something that depends on "), code(own.before), words(" here")]
    }),
    ("call", |own| {
        vec![words("assert something that depends on what "), code(own.before), words(" gives")]
    }),
    ("condition", condition),
    ("negation", |own| both_ways(own.before)),
    ("boolean", |own| {
        vec![words("assert something that depends on "), code(own.before), words(" here")]
    }),
    ("logic", |_| {
        vec![words(
            "add a case in which one of the conditions holds and the other does not, and assert the result",
        )]
    }),
    ("comparison", |own| match own.sides {
        Some((left, right)) => both_ways(&format!("{left} {} {right}", own.before)),
        None => vec![words(
            "assert the result once where the comparison holds, and once where it does not",
        )],
    }),
    ("arithmetic", |own| {
        vec![
            words("choose values for which "),
            code(own.before),
            words(" and "),
            code(own.after),
            words(" give different results, and assert the result"),
        ]
    }),
    ("sign", |own| {
        vec![
            words("choose a value for which "),
            code(own.before),
            words(" and "),
            code(own.after),
            words(" differ, and assert the result"),
        ]
    }),
    ("jump", |own| {
        vec![
            words("add a case in which the loop has something left to do after "),
            code(own.before),
            words(", and assert the result"),
        ]
    }),
    ("text", |own| instead(own)),
    ("number", |own| instead(own)),
    ("boundary", boundary),
];

/// Returns the rank of a kind of change. The most severe kind has rank 0, and unknown kinds come
/// last.
pub(crate) fn rank(operator: &str) -> usize {
    KNOWN.iter().position(|(name, _)| *name == operator).unwrap_or(KNOWN.len())
}

/// Returns the names of all kinds of change for which there is advice, most severe first.
pub fn known() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(name, _)| *name)
}

/// Returns the advice for a survivor.
pub(crate) fn of(survivor: &Survivor<'_>) -> Advice {
    let function = simple_name(&survivor.unit.name);
    if survivor.own.fate == Fate::Uncovered {
        let call = words("call ");
        return vec![
            call,
            code(function),
            words(" in a test, and assert what it returns or changes"),
        ];
    }
    let (line, range) = survivor.line_of_change();
    let changed = Changed {
        before: survivor.before(),
        after: &survivor.own.replacement,
        function,
        sides: range
            .and_then(|(from, to)| Some((left(line.get(..from)?)?, right(line.get(to..)?)?))),
    };
    match KNOWN.iter().find(|(name, _)| *name == survivor.own.operator) {
        Some((_, told)) => told(&changed),
        None => vec![words("assert something that depends on this code")],
    }
}

/// Returns the sentence as plain text, with code in backticks.
pub(crate) fn plain(advice: &Advice) -> String {
    let piece = |own: &Piece| match own {
        Piece::Words(words) => (*words).to_owned(),
        Piece::Code(code) => format!("`{code}`"),
    };
    advice.iter().map(piece).collect()
}

fn words(text: &'static str) -> Piece {
    Piece::Words(text)
}

/// Formats code as one line.
fn code(text: &str) -> Piece {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Piece::Code(shorten(&crate::names::clean(&line), LONGEST_CODE, "…"))
}

fn simple_name(name: &str) -> &str {
    let last = name.rsplit(['.', '#', ':']).next().unwrap_or(name);
    if last.is_empty() { name } else { last }
}

/// Returns advice on a removed statement, derived from its text: an assertion about the target of
/// an assignment, the receiver of a call, or the function called.
fn statement(own: &Changed<'_>) -> Advice {
    let text = own.before.trim().trim_end_matches(';');
    let text = text.strip_prefix("await ").unwrap_or(text);
    if let Some(target) = assigned(text) {
        return vec![
            words("assert the value of "),
            code(target),
            words(" after "),
            code(own.function),
            words(" has run"),
        ];
    }
    let called = text.split_once('(').map_or(text, |(called, _)| called).trim();
    match called.rsplit_once(['.', '#']) {
        Some((receiver, _)) if is_name(receiver) => vec![
            words("assert something about "),
            code(receiver),
            words(" that differs without "),
            code(own.before),
        ],
        None if text.contains('(') && is_name(called) => vec![
            words("assert something that differs if "),
            code(own.function),
            words(" does not call "),
            code(called),
        ],
        _ => vec![words("assert something that differs without "), code(own.before)],
    }
}

/// Returns true if the text is a name, possibly qualified by the objects it belongs to.
fn is_name(text: &str) -> bool {
    let plain = text.replace("->", ".");
    is_term(&plain) && plain.chars().all(is_of_term)
}

/// Returns the target of an assignment, or `None` for other statements.
fn assigned(text: &str) -> Option<&str> {
    if let Some(target) = text.strip_suffix("++").or_else(|| text.strip_suffix("--")) {
        return Some(target.trim());
    }
    let at = text.find('=')?;
    let (before, after) = (text.get(..at)?, text.get(at + 1..)?);
    let target =
        before.trim_end_matches(['+', '-', '*', '/', '%', '|', '&', '^', '<', '>', ':', '?']);
    let target = target.trim();
    let is_one =
        !after.starts_with(['=', '>', '~']) && !target.ends_with('!') && !target.contains('(');
    (is_one && !target.is_empty()).then_some(target)
}

fn condition(own: &Changed<'_>) -> Advice {
    let fixed = own.after.trim().trim_matches(['(', ')']).to_lowercase();
    let ends = match fixed.as_str() {
        "true" | "1" => " does not hold, and assert what is different then",
        "false" | "0" => " holds, and assert what is different then",
        _ => return both_ways(own.before),
    };
    vec![words("add a case in which "), code(bare(own.before)), words(ends)]
}

fn both_ways(condition: &str) -> Advice {
    vec![
        words("assert the result once where "),
        code(bare(condition)),
        words(" holds, and once where it does not"),
    ]
}

fn instead(own: &Changed<'_>) -> Advice {
    vec![
        words("assert a result that differs with "),
        code(own.after),
        words(" in place of "),
        code(own.before),
    ]
}

fn boundary(own: &Changed<'_>) -> Advice {
    match own.sides {
        _ if own.before.starts_with("..") => {
            vec![words("try the value at the end of the range, and assert the result")]
        }
        Some((left, right)) => vec![
            words("try the value at the boundary, "),
            code(&format!("{left} == {right}")),
            words(", and assert the result"),
        ],
        None => vec![
            words("try the value at the boundary, where both sides of "),
            code(own.before),
            words(" are equal, and assert the result"),
        ],
    }
}

/// Removes parentheses that enclose the whole condition.
fn bare(condition: &str) -> &str {
    let text = condition.trim();
    let inner = text.strip_prefix('(').and_then(|own| own.strip_suffix(')'));
    inner.filter(|own| !own.contains(['(', ')'])).unwrap_or(text)
}

/// Returns the left operand of a comparison, if it is one simple term not preceded by a part of the
/// same expression.
fn left(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let mut depth = 0_usize;
    let mut begin = text.len();
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' if depth == 0 => break,
            '(' | '[' => depth -= 1,
            _ if depth > 0 || is_of_term(c) => {}
            _ => break,
        }
        begin = at;
    }
    let (before, term) = text.split_at(begin);
    let is_free = match last_word(before.trim_end()) {
        "" => before.trim_end().is_empty() || before.trim_end().ends_with(OPENS),
        word => OPENING_WORDS.contains(&word),
    };
    (depth == 0 && is_free && is_term(term)).then_some(term)
}

/// Returns the right operand of a comparison, if it is one simple term not followed by a part of
/// the same expression.
fn right(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let mut depth = 0_usize;
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth == 0 => {
                end = at;
                break;
            }
            ')' | ']' => depth -= 1,
            '-' if at == 0 => {}
            _ if depth > 0 || is_of_term(c) => {}
            _ => {
                end = at;
                break;
            }
        }
    }
    let (term, after) = text.split_at(end);
    let after = after.trim_start();
    let word: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let is_free = match word.as_str() {
        "" => after.is_empty() || CLOSES.iter().any(|own| after.starts_with(own)),
        word => CLOSING_WORDS.contains(&word),
    };
    (depth == 0 && is_free && is_term(term)).then_some(term)
}

/// Characters that may precede a term.
const OPENS: [char; 8] = ['(', '[', '{', ',', ';', '&', '|', '?'];
const OPENING_WORDS: [&str; 13] = [
    "if", "elif", "elsif", "unless", "while", "until", "and", "or", "not", "return", "when",
    "assert", "in",
];
/// Tokens that may follow a term.
const CLOSES: [&str; 11] = [")", "]", "}", ",", ";", ":", "{", "&&", "||", "?", "#"];
const CLOSING_WORDS: [&str; 6] = ["and", "or", "if", "else", "then", "do"];

fn is_of_term(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '@' | '$')
}

fn is_term(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '$'))
        && !OPENING_WORDS.contains(&text)
}

fn last_word(text: &str) -> &str {
    let at = text.rfind(|c: char| !c.is_alphanumeric() && c != '_');
    at.map_or(text, |at| {
        let c = text[at..].chars().next().map_or(0, char::len_utf8);
        &text[at + c..]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(operator: &str, before: &str, after: &str, sides: Option<(&str, &str)>) -> String {
        let changed = Changed { before, after, function: "largest", sides };
        let (_, told) = KNOWN.iter().find(|(name, _)| *name == operator).expect("a known one");
        plain(&told(&changed))
    }

    #[test]
    fn each_kind_of_change_says_what_to_assert() {
        let found: Vec<String> = KNOWN
            .iter()
            .map(|(name, _)| format!("{name}: {}\n", told(name, "a\n  + b", "c", None)))
            .collect();
        insta::assert_snapshot!(found.concat());
    }

    #[test]
    fn a_condition_says_which_case_is_missing() {
        let holds = told("condition", "(a > b)", "True", None);
        assert_eq!(
            holds,
            "add a case in which `a > b` does not hold, and assert what is different then"
        );
        let fails = told("condition", "a > b", "(false)", None);
        assert_eq!(fails, "add a case in which `a > b` holds, and assert what is different then");
        let boundary = told("boundary", "<", "<=", Some(("n", "limit")));
        assert_eq!(boundary, "try the value at the boundary, `n == limit`, and assert the result");
        let reversed = told("comparison", "<", ">=", Some(("n", "limit")));
        assert!(reversed.contains("`n < limit` holds"), "{reversed}");
        assert!(told("boundary", "..", "...", None).contains("the end of the range"));
    }

    #[test]
    fn a_statement_says_what_to_look_at() {
        let told = |before: &str| told("statement", before, "pass", None);
        assert_eq!(
            told("self.items.append(x)"),
            "assert something about `self.items` that differs without `self.items.append(x)`"
        );
        assert_eq!(told("count += 1"), "assert the value of `count` after `largest` has run");
        assert_eq!(told("p->n++;"), "assert the value of `p->n` after `largest` has run");
        assert_eq!(
            told("pass_x(a == b)"),
            "assert something that differs if `largest` does not call `pass_x`"
        );
    }

    #[test]
    fn both_sides_of_a_comparison_are_named_only_where_they_are_simple() {
        for (text, expected) in [
            ("    if number |>| best:", Some(("number", "best"))),
            ("while (i |<| self.size) {", Some(("i", "self.size"))),
            ("if a and b[i + 1] |<| f(x, y) or c", Some(("b[i + 1]", "f(x, y)"))),
            ("return n |<=| -1;", Some(("n", "-1"))),
            ("x = @count |>| 0 ? 1 : 2", None),
            ("if a + b |<| c:", None),
            ("if a |<| b + c:", None),
            ("if \"a\" |<| b:", None),
            ("|<|", None),
            ("if é |<| ü:", Some(("é", "ü"))),
            ("é|<|ü→", None),
        ] {
            let parts: Vec<&str> = text.split('|').collect();
            let (before, after) = (parts[0], parts[parts.len() - 1]);
            let found = left(before).and_then(|left| Some((left, right(after)?)));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn the_name_of_a_function_is_without_what_it_stands_in() {
        assert_eq!(simple_name("Stack.push"), "push");
        assert_eq!(simple_name("Stack#push"), "push");
        assert_eq!(simple_name("a::b"), "b");
        assert_eq!(simple_name("=="), "==");
        assert_eq!(simple_name("a."), "a.");
    }

    proptest::proptest! {
        #[test]
        fn whatever_stands_beside_a_comparison_is_taken_without_harm(before in ".{0,40}", after in ".{0,40}") {
            if let (Some(left), Some(right)) = (left(&before), right(&after)) {
                proptest::prop_assert!(before.contains(left) && after.contains(right));
            }
        }
    }
}
