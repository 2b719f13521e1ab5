//! The user's stopping condition: `width < 0.5% and blocks >= 30`, `clear or seconds > 120`.
//!
//! A condition consists of comparisons of a quantity with a number, joined by `and` (which has
//! higher precedence) and `or`, with parentheses. The word `clear` means that every comparison of
//! the experiment has its answer. A condition is parsed before measuring begins, and errors are
//! reported with their position. The experiment supplies the state.
//!
//! ```
//! use assay_analysis::until::{Condition, State};
//!
//! let condition = Condition::parse("width < 0.5% and blocks >= 30")?;
//! let mut state = State { blocks: 29, seconds: 3.0, width: 0.004, clear: false };
//! assert!(!condition.holds(&state));
//! state.blocks = 30;
//! assert!(condition.holds(&state));
//! assert_eq!(condition.to_string(), "width < 0.5% and blocks >= 30");
//! # Ok::<(), assay_analysis::until::UntilError>(())
//! ```

use std::fmt;

/// Maximum nesting depth of parentheses; no meaningful condition reaches it.
const DEEPEST: usize = 32;

/// The state of an experiment after a block that conditions can refer to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Number of blocks.
    pub blocks: u32,
    /// Seconds since the start of the measurement.
    pub seconds: f64,
    /// Half width of the widest deciding interval, as a fraction; infinite if there is none.
    pub width: f64,
    /// True if every comparison has its answer.
    pub clear: bool,
}

/// A parsed condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition(Node);

/// An error in a condition, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {position} of `{text}`: {problem}")]
pub struct UntilError {
    /// The whole text of the condition.
    pub text: String,
    /// Start of the problem, in characters counted from 1; one past the end if something is
    /// missing.
    pub position: usize,
    /// Description of the problem, with a correction.
    pub problem: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Clear,
    Holds { quantity: Quantity, op: Op, number: f64, unit: Option<MeasureUnit> },
    All(Vec<Node>),
    Any(Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Blocks,
    Seconds,
    Width,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Less,
    AtMost,
    More,
    AtLeast,
}

/// The symbol of a unit, and its size in base units.
type MeasureUnit = (&'static str, f64);

const PERCENT: MeasureUnit = ("%", 0.01);
const TIMES: [MeasureUnit; 4] = [("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)];
const QUANTITIES: [(&str, Quantity); 3] =
    [("blocks", Quantity::Blocks), ("seconds", Quantity::Seconds), ("width", Quantity::Width)];
/// The comparison operators. Those of two characters come first, so that `<=` is not read as `<`.
const OPS: [(&str, Op); 4] =
    [("<=", Op::AtMost), (">=", Op::AtLeast), ("<", Op::Less), (">", Op::More)];

impl Condition {
    /// Parses a condition.
    ///
    /// # Errors
    /// Returns an error with its position and a correction if the text is not a condition.
    pub fn parse(text: &str) -> Result<Self, UntilError> {
        let mut reader = Reader { text, at: 0 };
        let node = reader.any(0)?;
        reader.skip_spaces();
        if reader.at < text.len() {
            return Err(reader.problem("expected `and`, `or`, or nothing more"));
        }
        Ok(Self(node))
    }

    /// Returns a condition that is never true.
    pub(crate) fn never() -> Self {
        Self(Node::Any(Vec::new()))
    }

    /// Returns true if the condition is true in this state.
    pub fn holds(&self, state: &State) -> bool {
        self.0.holds(state)
    }

    /// Returns true if the condition depends on the samples, rather than only on blocks and
    /// seconds.
    pub fn asks_samples(&self) -> bool {
        self.0.asks_samples()
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f)
    }
}

impl Node {
    fn holds(&self, state: &State) -> bool {
        match self {
            Self::Clear => state.clear,
            Self::All(parts) => parts.iter().all(|part| part.holds(state)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(state)),
            Self::Holds { quantity, op, number, unit } => {
                let value = match quantity {
                    Quantity::Blocks => f64::from(state.blocks),
                    Quantity::Seconds => state.seconds,
                    Quantity::Width => state.width,
                };
                let limit = number * unit.map_or(1.0, |(_, factor)| factor);
                match op {
                    Op::Less => value < limit,
                    Op::AtMost => value <= limit,
                    Op::More => value > limit,
                    Op::AtLeast => value >= limit,
                }
            }
        }
    }

    fn asks_samples(&self) -> bool {
        match self {
            Self::Clear => true,
            Self::Holds { quantity, .. } => *quantity == Quantity::Width,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::asks_samples),
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, word) = match self {
            Self::Clear => return f.write_str("clear"),
            Self::Holds { quantity, op, number, unit } => {
                let symbol = unit.map_or("", |(symbol, _)| symbol);
                let quantity = spelled(&QUANTITIES, *quantity);
                return write!(f, "{quantity} {} {number}{symbol}", spelled(&OPS, *op));
            }
            Self::All(parts) => (parts, " and "),
            Self::Any(parts) => (parts, " or "),
        };
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                f.write_str(word)?;
            }
            // `and` has higher precedence, so only an `or` within it needs parentheses.
            if matches!((self, part), (Self::All(_), Self::Any(_))) {
                f.write_str("(")?;
                part.write(f)?;
                f.write_str(")")?;
            } else {
                part.write(f)?;
            }
        }
        Ok(())
    }
}

fn spelled<T: PartialEq>(table: &[(&'static str, T)], wanted: T) -> &'static str {
    table.iter().find(|(_, entry)| *entry == wanted).map_or("", |(word, _)| word)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn any(&mut self, depth: usize) -> Result<Node, UntilError> {
        let mut parts = vec![self.all(depth)?];
        while self.takes_word("or") {
            parts.push(self.all(depth)?);
        }
        Ok(joined(parts, Node::Any, |node| match node {
            Node::Any(inner) => Ok(inner),
            other => Err(other),
        }))
    }

    fn all(&mut self, depth: usize) -> Result<Node, UntilError> {
        let mut parts = vec![self.one(depth)?];
        while self.takes_word("and") {
            parts.push(self.one(depth)?);
        }
        Ok(joined(parts, Node::All, |node| match node {
            Node::All(inner) => Ok(inner),
            other => Err(other),
        }))
    }

    fn one(&mut self, depth: usize) -> Result<Node, UntilError> {
        self.skip_spaces();
        if self.takes("(") {
            if depth == DEEPEST {
                return Err(self.problem("too many parentheses within each other"));
            }
            let inner = self.any(depth + 1)?;
            self.skip_spaces();
            return if self.takes(")") { Ok(inner) } else { Err(self.problem("expected `)`")) };
        }
        let begin = self.at;
        match self.word() {
            "clear" => Ok(Node::Clear),
            word => match QUANTITIES.iter().find(|(name, _)| *name == word) {
                Some(&(name, quantity)) => self.comparison(name, quantity),
                None => {
                    self.at = begin;
                    Err(self.problem("expected `blocks`, `seconds`, `width`, `clear` or `(`"))
                }
            },
        }
    }

    fn comparison(&mut self, name: &str, quantity: Quantity) -> Result<Node, UntilError> {
        self.skip_spaces();
        let found = OPS.iter().find(|(sign, _)| self.takes(sign));
        let Some(&(_, op)) = found else {
            return Err(self.problem(&format!("expected `<`, `<=`, `>` or `>=` after `{name}`")));
        };
        self.skip_spaces();
        let begin = self.at;
        let number = self.number()?;
        let unit = self.unit();
        let (unit, wrong) = match (quantity, unit) {
            (Quantity::Blocks, "") if number.fract() == 0.0 => (None, None),
            (Quantity::Blocks, _) => (None, Some("blocks are counted: write a whole number")),
            (Quantity::Seconds, "") => (None, None),
            (Quantity::Seconds, unit) => {
                let known = TIMES.into_iter().find(|(symbol, _)| *symbol == unit);
                let wrong = "write a span of time such as `90s` or `2min`";
                (known, known.is_none().then_some(wrong))
            }
            (Quantity::Width, "%") => (Some(PERCENT), None),
            (Quantity::Width, "") if number < 1.0 => (None, None),
            (Quantity::Width, _) => {
                (None, Some("write a width in percent, such as `0.5%`, or as a fraction below 1"))
            }
        };
        if let Some(wrong) = wrong {
            self.at = begin;
            return Err(self.problem(wrong));
        }
        Ok(Node::Holds { quantity, op, number, unit })
    }

    fn number(&mut self) -> Result<f64, UntilError> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        match rest[..end].parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.at += end;
                Ok(number)
            }
            _ => Err(self.problem("expected a number")),
        }
    }

    /// Returns the unit after a number, with or without a space between them; empty if a keyword or
    /// nothing follows.
    fn unit(&mut self) -> &str {
        let begin = self.at;
        self.skip_spaces();
        if self.takes("%") {
            return "%";
        }
        let from = self.at;
        let word = self.word();
        let (length, keyword) = (word.len(), matches!(word, "and" | "or"));
        // A word directly after the number is always its unit.
        if length == 0 || (keyword && from > begin) {
            self.at = begin;
            return "";
        }
        &self.text[from..from + length]
    }

    fn word(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_alphabetic() && c != '_').unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn takes_word(&mut self, wanted: &str) -> bool {
        let begin = self.at;
        self.skip_spaces();
        let found = self.word() == wanted;
        if !found {
            self.at = begin;
        }
        found
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = self.text[self.at..].starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn problem(&self, problem: &str) -> UntilError {
        UntilError {
            text: self.text.to_owned(),
            position: self.text[..self.at].chars().count() + 1,
            problem: problem.to_owned(),
        }
    }
}

/// Joins parts. A single part remains unchanged, and nested parts of the same kind are flattened,
/// so that equal conditions have equal trees.
fn joined(
    mut parts: Vec<Node>,
    join: impl Fn(Vec<Node>) -> Node,
    open: impl Fn(Node) -> Result<Vec<Node>, Node>,
) -> Node {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let flat = parts.into_iter().flat_map(|part| open(part).unwrap_or_else(|other| vec![other]));
    join(flat.collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;
    use proptest::prelude::*;

    const STATE: State = State { blocks: 30, seconds: 90.0, width: 0.004, clear: false };

    fn holds(text: &str) -> bool {
        Condition::parse(text).unwrap().holds(&STATE)
    }

    fn refused(text: &str) -> (usize, String) {
        let error = Condition::parse(text).unwrap_err();
        (error.position, error.problem)
    }

    #[test]
    fn quantities_are_held_against_numbers() {
        assert!(holds("blocks >= 30") && !holds("blocks > 30") && holds("blocks<=30"));
        assert!(holds("seconds >= 1.5min") && holds("seconds < 0.1 h") && !holds("seconds > 90s"));
        assert!(holds("width < 0.5%") && holds("width < 0.005") && !holds("width < 0.4 %"));
        assert!(!holds("clear"));
    }

    #[test]
    fn and_binds_more_closely_than_or() {
        assert!(holds("blocks > 1 or blocks > 99 and clear"));
        assert!(!holds("(blocks > 1 or blocks > 99) and clear"));
        assert!(holds("seconds > 1 and (clear or width < 1%)"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        assert_eq!(refused("").0, 1);
        assert_eq!(refused("width <"), (8, "expected a number".to_owned()));
        assert_eq!(refused("width < 5").0, 9);
        assert_eq!(refused("blocks >= 3.5").0, 11);
        assert_eq!(refused("seconds > 3 MiB").0, 11);
        assert_eq!(refused("clear clear").0, 7);
        assert_eq!(refused("(clear").1, "expected `)`");
        assert_eq!(refused("µ > 3").0, 1);
        assert_eq!(refused("blocks = 3").0, 8);
        let error = Condition::parse("clear and").unwrap_err().to_string();
        assert!(error.starts_with("at character 10 of `clear and`: expected `blocks`"), "{error}");
        assert!(Condition::parse(&"(".repeat(100_000)).is_err());
    }

    #[test]
    fn without_an_interval_no_width_is_small_enough() {
        let state = State { width: f64::INFINITY, ..STATE };
        assert!(!Condition::parse("width < 99%").unwrap().holds(&state));
    }

    fn condition() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("clear".to_owned()),
            (0u32..2000).prop_map(|n| format!("blocks >= {n}")),
            (0.0..1e4).prop_map(|x| format!("seconds > {x}")),
            (0.0..500.0).prop_map(|x| format!("seconds<={x}min")),
            (0.0..50.0).prop_map(|x| format!("width < {x} %")),
            (0.0..0.9).prop_map(|x| format!("width <= {x}")),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            (prop::collection::vec(inner, 1..4), any::<bool>(), any::<bool>()).prop_map(
                |(parts, all, closed)| {
                    let text = parts.join(if all { " and " } else { " or " });
                    if closed { format!("({text})") } else { text }
                },
            )
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back_as_the_same_condition(text in condition()) {
            let condition = Condition::parse(&text).unwrap();
            prop_assert_eq!(Condition::parse(&condition.to_string()).unwrap(), condition);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[a-z0-9<>=%(). µ]{0,40}") {
            if let Err(error) = Condition::parse(&text) {
                prop_assert!(error.position <= text.chars().count() + 1);
            }
        }
    }
}
