//! The distributions of synthetic data, and their notation: `2000 * mix(0.7: lognormal(0, 0.2),
//! 0.3: 1 + lognormal(0, 0.2))`.
//!
//! The notation consists of numbers, distributions with their parameters, `+`, `-`, `*`,
//! parentheses, and `mix`, which combines distributions by their shares. A distribution that occurs
//! twice is drawn twice, so the parts of a sum are independent. The recursive-descent parser
//! rejects input that is nested too deeply or has too many parts, so that no input can exhaust the
//! stack.
//!
//! The grammar: `sum = product (('+'|'-') product)*`, `product = atom ('*' atom)*`, `atom = number
//! | '-' atom | '(' sum ')' | name '(' number (',' number)* ')' | 'mix' '(' share ':' sum (','
//! share ':' sum)* ')'`.

use std::fmt;
use std::str::FromStr;

/// Maximum nesting depth of atoms; parentheses, minus signs and `mix` each add one level.
const DEEPEST: usize = 32;
/// Maximum number of numbers, distributions, pairs of parentheses and operators in one text.
pub const MOST_PARTS: usize = 256;
/// Tolerance for the sum of a mixture's shares, due to rounding of decimals.
const SHARES_WITHIN: f64 = 1e-9;

/// The distribution of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// A constant.
    Constant(f64),
    /// Uniform between `low` and `high`, where `low` < `high`.
    Uniform {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// Normal, with the given mean and standard deviation (≥ 0).
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
    },
    /// The exponential of a normal number with this mean and standard deviation (≥ 0), as in R's
    /// `rlnorm`.
    LogNormal {
        /// Mean of the logarithm.
        mean: f64,
        /// Standard deviation of the logarithm.
        sd: f64,
    },
    /// Exponential, given its mean (> 0); R's `rexp` takes 1/mean.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Student's t, given its degrees of freedom (> 0): the fewer, the heavier the tails.
    Student {
        /// Degrees of freedom.
        df: f64,
    },
    /// Pareto: `least` (> 0) times a power of a uniform number. The smaller the `shape` (> 0), the
    /// heavier the tail.
    Pareto {
        /// Exponent of the tail.
        shape: f64,
        /// The smallest value.
        least: f64,
    },
    /// The negated value.
    Negative(Box<Distribution>),
    /// The sum of two independent values.
    Sum(Box<Distribution>, Box<Distribution>),
    /// The difference of two independent values.
    Difference(Box<Distribution>, Box<Distribution>),
    /// The product of two independent values.
    Product(Box<Distribution>, Box<Distribution>),
    /// One of several distributions, each with its share; the shares are positive and sum to 1.
    Mix(Vec<(f64, Distribution)>),
}

/// An error in the notation of a distribution, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {position} of `{text}`: {problem}")]
pub struct DistributionError {
    /// The text of the distribution, with control characters replaced.
    pub text: String,
    /// Start of the problem in characters, counted from 1; one past the end if something is
    /// missing.
    pub position: usize,
    /// Description of the problem, if possible with a correction.
    pub problem: String,
}

/// The index of an invalid parameter, and the problem.
type WrongParameter = (usize, &'static str);

/// A named distribution, with its parameters and a function that creates it from their values or
/// reports the invalid one.
struct NamedDistribution {
    name: &'static str,
    parameters: &'static [&'static str],
    make: fn(&[f64]) -> Result<Distribution, WrongParameter>,
}

const NAMED: [NamedDistribution; 6] = [
    NamedDistribution {
        name: "uniform",
        parameters: &["LOW", "HIGH"],
        make: |p| {
            let (low, high) = (p[0], p[1]);
            // The difference between the bounds must also be finite.
            if low < high && (high - low).is_finite() {
                Ok(Distribution::Uniform { low, high })
            } else {
                Err((1, "HIGH must be larger than LOW"))
            }
        },
    },
    NamedDistribution {
        name: "normal",
        parameters: &["MEAN", "SD"],
        make: |p| not_negative(p, "SD").map(|()| Distribution::Normal { mean: p[0], sd: p[1] }),
    },
    NamedDistribution {
        name: "lognormal",
        parameters: &["MEAN_OF_LOG", "SD_OF_LOG"],
        make: |p| {
            not_negative(p, "SD_OF_LOG").map(|()| Distribution::LogNormal { mean: p[0], sd: p[1] })
        },
    },
    NamedDistribution {
        name: "exponential",
        parameters: &["MEAN"],
        make: |p| match p[0] {
            mean if mean > 0.0 => Ok(Distribution::Exponential { mean }),
            _ => Err((0, "MEAN must be more than 0")),
        },
    },
    NamedDistribution {
        name: "student",
        parameters: &["DF"],
        make: |p| match p[0] {
            df if df > 0.0 => Ok(Distribution::Student { df }),
            _ => Err((0, "DF must be more than 0")),
        },
    },
    NamedDistribution {
        name: "pareto",
        parameters: &["SHAPE", "LEAST"],
        make: |p| match (p[0], p[1]) {
            (shape, least) if shape > 0.0 && least > 0.0 => {
                Ok(Distribution::Pareto { shape, least })
            }
            (shape, _) if shape > 0.0 => Err((1, "LEAST must be more than 0")),
            _ => Err((0, "SHAPE must be more than 0")),
        },
    },
];

const KNOWN: &str = "uniform(LOW, HIGH), normal(MEAN, SD), lognormal(MEAN_OF_LOG, SD_OF_LOG), exponential(MEAN), student(DF), \
                     pareto(SHAPE, LEAST) and mix(SHARE: DISTRIBUTION, ...)";

fn not_negative(parameters: &[f64], name: &str) -> Result<(), WrongParameter> {
    match parameters[1] {
        sd if sd >= 0.0 => Ok(()),
        _ if name == "SD" => Err((1, "SD must not be negative")),
        _ => Err((1, "SD_OF_LOG must not be negative")),
    }
}

impl FromStr for Distribution {
    type Err = DistributionError;

    fn from_str(text: &str) -> Result<Self, DistributionError> {
        let mut reader = Reader { text, at: 0, depth: 0, parts: 0 };
        let distribution = reader.sum()?;
        reader.skip_blanks();
        match reader.peek() {
            None => Ok(distribution),
            Some(found) => {
                let problem =
                    format!("`{found}` is one too many; expected `+`, `-`, `*` or the end");
                Err(reader.error(problem))
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Offset of the next character in the text, in bytes.
    at: usize,
    depth: usize,
    parts: usize,
}

impl Reader<'_> {
    fn sum(&mut self) -> Result<Distribution, DistributionError> {
        let mut left = self.product()?;
        loop {
            if self.take('+') {
                left = Distribution::Sum(Box::new(left), Box::new(self.product()?));
            } else if self.take('-') {
                left = Distribution::Difference(Box::new(left), Box::new(self.product()?));
            } else {
                return Ok(left);
            }
            self.count()?;
        }
    }

    fn product(&mut self) -> Result<Distribution, DistributionError> {
        let mut left = self.atom()?;
        while self.take('*') {
            left = Distribution::Product(Box::new(left), Box::new(self.atom()?));
            self.count()?;
        }
        Ok(left)
    }

    fn atom(&mut self) -> Result<Distribution, DistributionError> {
        self.skip_blanks();
        self.count()?;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(format!("nested more than {DEEPEST} deep")));
        }
        let distribution = match self.peek() {
            Some('(') => {
                self.at += 1;
                let distribution = self.sum()?;
                self.expect(')')?;
                distribution
            }
            Some('-') => {
                self.at += 1;
                match self.atom()? {
                    Distribution::Constant(number) => Distribution::Constant(-number),
                    other => Distribution::Negative(Box::new(other)),
                }
            }
            Some(c) if c.is_ascii_digit() || c == '.' => Distribution::Constant(self.number()?),
            Some(c) if c.is_alphabetic() => self.named()?,
            Some(found) => {
                return Err(self.error(format!(
                    "expected a number or a distribution, not `{found}`; known distributions are {KNOWN}"
                )));
            }
            None => {
                return Err(self.error(format!(
                    "a number or a distribution is missing; known distributions are {KNOWN}"
                )));
            }
        };
        self.depth -= 1;
        Ok(distribution)
    }

    fn named(&mut self) -> Result<Distribution, DistributionError> {
        let began = self.at;
        let word = self.word();
        if word == "mix" {
            return self.mix();
        }
        let Some(named) = NAMED.iter().find(|named| named.name == word) else {
            let problem = format!("there is no distribution `{word}`; known are {KNOWN}");
            return Err(self.error_at(began, problem));
        };
        self.expect('(')?;
        let (mut values, mut places) = (Vec::new(), Vec::new());
        let usage = || format!("{}({})", named.name, named.parameters.join(", "));
        for (index, _) in named.parameters.iter().enumerate() {
            if index > 0 && !self.take(',') {
                return Err(self.error(format!("a parameter is missing; write {}", usage())));
            }
            self.skip_blanks();
            places.push(self.at);
            values.push(self.signed_number()?);
        }
        self.skip_blanks();
        if self.peek() == Some(',') {
            return Err(self.error(format!("one parameter too many; write {}", usage())));
        }
        self.expect(')')?;
        (named.make)(&values).map_err(|(index, problem)| {
            self.error_at(places[index], format!("{problem}: {}", usage()))
        })
    }

    /// Parses the arguments of `mix`.
    fn mix(&mut self) -> Result<Distribution, DistributionError> {
        self.expect('(')?;
        let mut parts = Vec::new();
        let first = self.at;
        loop {
            self.skip_blanks();
            let began = self.at;
            let mut share = self.number()?;
            if self.take('%') {
                share /= 100.0;
            }
            if !(share > 0.0 && share <= 1.0) {
                let problem = "a share lies between 0 and 1, or 0 % and 100 %".to_owned();
                return Err(self.error_at(began, problem));
            }
            self.expect(':')?;
            parts.push((share, self.sum()?));
            if !self.take(',') {
                break;
            }
        }
        self.expect(')')?;
        let together: f64 = parts.iter().map(|(share, _)| share).sum();
        if (together - 1.0).abs() > SHARES_WITHIN {
            let problem = format!(
                "the shares of a mix must add up to 1, these add up to {}",
                short(together)
            );
            return Err(self.error_at(first, problem));
        }
        Ok(Distribution::Mix(parts))
    }

    fn signed_number(&mut self) -> Result<f64, DistributionError> {
        if self.take('-') { Ok(-self.number()?) } else { self.number() }
    }

    fn number(&mut self) -> Result<f64, DistributionError> {
        self.skip_blanks();
        let rest = &self.text.as_bytes()[self.at..];
        let digits = |from: usize| rest[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut end = digits(0);
        if rest.get(end) == Some(&b'.') {
            end += 1;
            end += digits(end);
        }
        if matches!(rest.get(end), Some(b'e' | b'E')) {
            let signed = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits((end + 1 + signed).min(rest.len()));
            if exponent > 0 {
                end += 1 + signed + exponent;
            }
        }
        let number = self.text[self.at..self.at + end].parse::<f64>();
        match number {
            Ok(number) if number.is_finite() => {
                self.at += end;
                Ok(number)
            }
            Ok(_) => Err(self.error("the number is too large".to_owned())),
            Err(_) => Err(self.error(match self.peek() {
                Some(found) => format!("expected a number, not `{found}`"),
                None => "a number is missing".to_owned(),
            })),
        }
    }

    fn word(&mut self) -> String {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += end;
        rest[..end].to_owned()
    }

    fn expect(&mut self, wanted: char) -> Result<(), DistributionError> {
        if self.take(wanted) {
            return Ok(());
        }
        Err(self.error(match self.peek() {
            Some(found) => format!("expected `{wanted}`, not `{found}`"),
            None => format!("`{wanted}` is missing"),
        }))
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip_blanks();
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Counts a part of the distribution. Returns an error if there are too many.
    fn count(&mut self) -> Result<(), DistributionError> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return Err(self.error(format!("a distribution can have at most {MOST_PARTS} parts")));
        }
        Ok(())
    }

    fn error(&self, problem: String) -> DistributionError {
        self.error_at(self.at, problem)
    }

    fn error_at(&self, offset: usize, problem: String) -> DistributionError {
        let position = self.text[..offset].chars().count() + 1;
        let clean = |text: &str| -> String {
            text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
        };
        DistributionError { text: clean(self.text), position, problem: clean(&problem) }
    }
}

/// Formats a number with at most six decimals, which hides the rounding errors of a sum of
/// decimals.
fn short(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats a number so that it parses back to the same double, using an exponent instead of many
/// zeros.
pub fn written(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

fn named(f: &mut fmt::Formatter<'_>, name: &str, parameters: &[f64]) -> fmt::Result {
    let parameters: Vec<String> = parameters.iter().map(|&p| written(p)).collect();
    write!(f, "{name}({})", parameters.join(", "))
}

/// Precedence of a distribution's outermost operator, lowest first.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Bond {
    Sum,
    Product,
    Atom,
}

impl Distribution {
    fn bond(&self) -> Bond {
        match self {
            Self::Sum(..) | Self::Difference(..) => Bond::Sum,
            Self::Product(..) => Bond::Product,
            _ => Bond::Atom,
        }
    }

    /// Writes the distribution, in parentheses if its context requires a higher precedence.
    fn write(&self, f: &mut fmt::Formatter<'_>, place: Bond) -> fmt::Result {
        if self.bond() < place {
            f.write_str("(")?;
            self.write(f, Bond::Sum)?;
            return f.write_str(")");
        }
        let both = |f: &mut fmt::Formatter<'_>,
                    left: &Self,
                    sign: &str,
                    right: &Self,
                    own: Bond,
                    tighter: Bond| {
            left.write(f, own)?;
            f.write_str(sign)?;
            right.write(f, tighter)
        };
        match self {
            Self::Constant(number) => f.write_str(&written(*number)),
            Self::Uniform { low, high } => named(f, "uniform", &[*low, *high]),
            Self::Normal { mean, sd } => named(f, "normal", &[*mean, *sd]),
            Self::LogNormal { mean, sd } => named(f, "lognormal", &[*mean, *sd]),
            Self::Exponential { mean } => named(f, "exponential", &[*mean]),
            Self::Student { df } => named(f, "student", &[*df]),
            Self::Pareto { shape, least } => named(f, "pareto", &[*shape, *least]),
            Self::Negative(distribution) => {
                f.write_str("-")?;
                distribution.write(f, Bond::Atom)
            }
            Self::Sum(left, right) => both(f, left, " + ", right, Bond::Sum, Bond::Product),
            Self::Difference(left, right) => both(f, left, " - ", right, Bond::Sum, Bond::Product),
            Self::Product(left, right) => both(f, left, " * ", right, Bond::Product, Bond::Atom),
            Self::Mix(parts) => {
                f.write_str("mix(")?;
                for (index, (share, distribution)) in parts.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    write!(f, "{}: ", written(*share))?;
                    distribution.write(f, Bond::Sum)?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Distribution {
    /// Formats the distribution so that it can be parsed back, with one space around signs and
    /// after commas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Bond::Sum)
    }
}
