//! Parameter scans such as `-P n=1..8`: parses the option, lists the combinations to measure, and
//! substitutes values into commands.
//!
//! A dimension is one parameter with its values. Dimensions are multiplied, or stepped through
//! together with `--zip`. A command may have its own values (`2:n=…`), which replace the general
//! values one by one, so that it is clear which values are compared. Nothing is run here.

use anyhow::{Context, bail, ensure};
use assay_data::ParameterValue;
use std::collections::BTreeMap;

/// Maximum number of values of one parameter. More are unlikely to be intended.
const MOST_VALUES: usize = 1_000_000;
/// Maximum number of decimals in the ends and the step of a range.
const MOST_DECIMALS: usize = 9;

/// One parameter and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Dimension {
    name: String,
    /// Values for the commands that have no values of their own.
    general: Option<Vec<String>>,
    /// Values for individual commands, by the index of the command.
    own: BTreeMap<usize, Vec<String>>,
}

impl Dimension {
    /// Returns the number of values of the parameter.
    fn len(&self) -> usize {
        self.general.iter().chain(self.own.values()).map(Vec::len).next().unwrap_or(0)
    }

    fn value(&self, command: usize, index: usize) -> Option<&str> {
        let values = self.own.get(&command).or(self.general.as_ref())?;
        values.get(index).map(String::as_str)
    }
}

/// All scanned parameters of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scan {
    dimensions: Vec<Dimension>,
    zip: bool,
}

impl Scan {
    /// Parses the options that describe a scan over this many commands.
    pub fn parse(parameters: &[String], zip: bool, commands: usize) -> anyhow::Result<Self> {
        let mut dimensions: Vec<Dimension> = Vec::new();
        for text in parameters {
            let (command, name, values) =
                parameter(text).with_context(|| format!("--parameter {text}"))?;
            if let Some(index) = command {
                ensure!(
                    index < commands,
                    "--parameter {text}: the commands are counted from 1 to {commands}"
                );
            }
            let known = dimensions.iter().position(|d| d.name == name).unwrap_or_else(|| {
                let name = name.clone();
                dimensions.push(Dimension { name, general: None, own: BTreeMap::new() });
                dimensions.len() - 1
            });
            let dimension = &mut dimensions[known];
            let is_taken = match command {
                Some(index) => dimension.own.contains_key(&index),
                None => dimension.general.is_some(),
            };
            ensure!(
                !is_taken,
                "--parameter {text}: `{name}` is given twice; put its values in one list"
            );
            let before = dimension.len();
            ensure!(
                before == 0 || before == values.len(),
                "--parameter {text}: {} values, but `{name}` has {before} elsewhere; values for a single command replace the general ones one by one",
                values.len()
            );
            match command {
                Some(index) => {
                    dimension.own.insert(index, values);
                }
                None => dimension.general = Some(values),
            }
        }
        ensure!(
            !zip || !dimensions.is_empty(),
            "--zip steps through several parameters together, and none is given: give them with -P, as in -P n=1,2 -P m=10,20, or leave out --zip"
        );
        if zip && let Some(first) = dimensions.first() {
            for other in &dimensions {
                ensure!(
                    other.len() == first.len(),
                    "--zip steps through all parameters together, but `{}` has {} values and `{}` has {}",
                    first.name,
                    first.len(),
                    other.name,
                    other.len()
                );
            }
        }
        Ok(Self { dimensions, zip })
    }

    /// Returns true if nothing is scanned.
    pub fn is_empty(&self) -> bool {
        self.dimensions.is_empty()
    }

    /// Returns advice for reducing the number of combinations.
    pub fn fewer(&self) -> &'static str {
        match self.dimensions.len() {
            0 | 1 => "take fewer values, with a factor or a step, as in -P n=1..1000000*10",
            _ => "take fewer values, or --zip",
        }
    }

    /// Returns the number of combinations, which is 1 if nothing is scanned; `None` on overflow.
    pub fn combinations(&self) -> Option<usize> {
        if self.zip {
            return Some(self.dimensions.first().map_or(1, Dimension::len));
        }
        self.dimensions.iter().try_fold(1_usize, |product, d| product.checked_mul(d.len()))
    }

    /// Returns the parameters of a command in a combination, in the order in which they were given.
    pub fn parameters(&self, combination: usize, command: usize) -> Vec<(String, ParameterValue)> {
        let mut found = Vec::new();
        // The last parameter changes fastest, as in nested loops.
        let mut rest = combination;
        for dimension in self.dimensions.iter().rev() {
            let index = if self.zip { combination } else { rest % dimension.len().max(1) };
            rest /= dimension.len().max(1);
            if let Some(value) = dimension.value(command, index) {
                found.push((dimension.name.clone(), value.into()));
            }
        }
        found.reverse();
        found
    }

    /// Checks that every parameter is used in at least one text, and that the commands that use it
    /// have values for it. A text belongs to the command at that index, or to all commands if
    /// `None`.
    pub fn check_use(
        &self,
        texts: &[(Option<usize>, &str)],
        commands: usize,
    ) -> anyhow::Result<()> {
        for dimension in &self.dimensions {
            let place = format!("{{{}}}", dimension.name);
            let used = |command: usize| {
                texts
                    .iter()
                    .any(|(of, text)| of.is_none_or(|of| of == command) && text.contains(&place))
            };
            ensure!(
                (0..commands).any(used),
                "--parameter {}: no command contains {place}",
                dimension.name
            );
            if let Some(command) =
                (0..commands).find(|&c| used(c) && dimension.value(c, 0).is_none())
            {
                bail!(
                    "command {} contains {place}, but --parameter {} gives it no values",
                    command + 1,
                    dimension.name
                );
            }
        }
        Ok(())
    }
}

/// Replaces each `{name}` in a text by its value. Other braces are kept, because shells and
/// programs use them as well.
pub(crate) fn fill(text: &str, parameters: &[(String, ParameterValue)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        rest = &rest[open..];
        let found = parameters.iter().find_map(|(name, value)| {
            let after = rest[1..].strip_prefix(name.as_str())?.strip_prefix('}')?;
            Some((value, after))
        });
        match found {
            Some((value, after)) => {
                filled.push_str(value.as_str());
                rest = after;
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// Parses `[N:]NAME=VALUES`.
pub(crate) fn parameter(text: &str) -> anyhow::Result<(Option<usize>, String, Vec<String>)> {
    let (head, values) = text.split_once('=').with_context(|| {
        format!(
            "write the values after the name: -P {text}=1..8, with a step -P {text}=0..1+0.25, or as a list -P {text}=a,b"
        )
    })?;
    let (command, name) = match head.split_once(':') {
        Some((number, name)) => {
            let number: usize = number.parse().ok().filter(|&n| n > 0).with_context(|| {
                format!("`{number}` is not the number of a command; they are counted from 1")
            })?;
            (Some(number - 1), name)
        }
        None => (None, head),
    };
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    ensure!(
        is_name,
        "`{name}` is not a name: use letters, digits, `_` and `-`, starting with a letter"
    );
    Ok((command, name.to_owned(), values_of(values)?))
}

/// Parses the values of a parameter, which are a range or a list.
fn values_of(text: &str) -> anyhow::Result<Vec<String>> {
    if let Some((first, rest)) = text.split_once("..")
        && !text.contains(',')
        && let Some(first) = Decimal::parse(first)
    {
        return range(text, first, rest);
    }
    ensure!(!text.is_empty(), "the list of values is empty");
    let values = listed(text);
    ensure!(values.iter().all(|v| !v.is_empty()), "`{text}` contains an empty value");
    check_list(text, &values)?;
    for (index, value) in values.iter().enumerate() {
        ensure!(!values[..index].contains(value), "`{value}` is in the list twice");
        ensure!(index < MOST_VALUES, "more than {MOST_VALUES} values");
    }
    Ok(values)
}

/// Rejects a malformed range, and a list with a separator other than a comma.
fn check_list(text: &str, values: &[String]) -> anyhow::Result<()> {
    let is_number = |text: &str| Decimal::parse(text.trim()).is_some();
    if let [_] = values {
        let parts: Vec<&str> = text.split([';', ' ']).filter(|part| !part.is_empty()).collect();
        ensure!(
            parts.len() < 2 || !parts.iter().all(|&part| is_number(part)),
            "`{text}`: values are separated by commas: {}",
            parts.join(",")
        );
        // A path may begin or end with two dots.
        let is_path = |part: &str| part.is_empty() || part.contains('/');
        let ends = text.split_once("..").filter(|&(first, last)| !is_path(first) && !is_path(last));
        ensure!(
            ends.is_none(),
            "`{text}`: a range needs numbers, as in 1..8; other values are listed, as in a,b,c"
        );
        return Ok(());
    }
    for value in values {
        let has_number = |&(first, last): &(&str, &str)| is_number(first) || is_number(last);
        ensure!(
            value.split_once("..").filter(has_number).is_none(),
            "`{value}` in a list is not a value: a range stands alone, as in 1..8, and decimals have a point, as in 0.5..1+0.1"
        );
    }
    Ok(())
}

/// Splits a list at its commas. As in hyperfine, `\,` is a comma within a value.
fn listed(text: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    let mut goes_on = false;
    for part in text.split(',') {
        let (own, is_open) = part.strip_suffix('\\').map_or((part, false), |own| (own, true));
        match values.last_mut().filter(|_| goes_on) {
            Some(value) => {
                value.push(',');
                value.push_str(own);
            }
            None => values.push(own.to_owned()),
        }
        goes_on = is_open;
    }
    // No comma follows the last part, so its backslash is literal.
    if let Some(value) = values.last_mut().filter(|_| goes_on) {
        value.push('\\');
    }
    values
}

/// Parses a range `A..B`, `A..B+STEP` or `A..B*FACTOR`, of which `first` is `A` and `rest` follows
/// the dots.
fn range(text: &str, first: Decimal, rest: &str) -> anyhow::Result<Vec<String>> {
    let (last, step, factor) = match (rest.split_once('+'), rest.split_once('*')) {
        (Some((last, step)), _) => (last, Some(step), None),
        (None, Some((last, factor))) => (last, None, Some(factor)),
        (None, None) => (rest, None, None),
    };
    let number = |part: &str| {
        Decimal::parse(part).with_context(|| {
            format!("`{part}` is not a number; write a range as 1..8, 0..1+0.25 or 1..1024*2")
        })
    };
    let last = number(last)?;
    let step = step.map(number).transpose()?;
    let factor = factor.map(number).transpose()?;
    let decimals =
        [Some(first), Some(last), step].iter().flatten().map(|d| d.decimals).max().unwrap_or(0);
    let (from, to) = (first.scaled(decimals)?, last.scaled(decimals)?);
    ensure!(from <= to, "`{text}` ends before it begins");
    let mut values = Vec::new();
    let mut at = from;
    let step = step.map_or_else(
        || Decimal { digits: 1, decimals: 0 }.scaled(decimals),
        |s| s.scaled(decimals),
    )?;
    ensure!(step > 0, "the step of `{text}` must be greater than 0");
    if let Some(factor) = factor {
        ensure!(
            factor.decimals == 0 && factor.digits > 1 && from > 0,
            "`{text}`: the factor must be a whole number above 1, and the range must start above 0"
        );
    }
    while at <= to {
        values.push(Decimal { digits: at, decimals }.to_string());
        ensure!(values.len() <= MOST_VALUES, "`{text}` has more than {MOST_VALUES} values");
        let next = match factor {
            Some(factor) => at.checked_mul(factor.digits),
            None => at.checked_add(step),
        };
        let Some(next) = next else { break };
        at = next;
    }
    Ok(values)
}

/// An exact decimal number: 0.25 is stored as 25 hundredths. Adding the step of a range repeatedly
/// must not accumulate rounding errors of binary fractions.
#[derive(Clone, Copy, Debug)]
struct Decimal {
    digits: i64,
    decimals: usize,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let unsigned = whole.strip_prefix('-').unwrap_or(whole);
        if unsigned.is_empty()
            || !is_number(unsigned)
            || !is_number(fraction)
            || text.ends_with('.')
            || fraction.len() > MOST_DECIMALS
        {
            return None;
        }
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Self { digits, decimals: fraction.len() })
    }

    fn scaled(self, decimals: usize) -> anyhow::Result<i64> {
        let factor = 10_i64.pow((decimals - self.decimals) as u32);
        self.digits.checked_mul(factor).context("the numbers of the range are too large")
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = 10_u64.pow(self.decimals as u32);
        let (whole, fraction) =
            (self.digits.unsigned_abs() / unit, self.digits.unsigned_abs() % unit);
        let sign = if self.digits < 0 { "-" } else { "" };
        match self.decimals {
            0 => write!(f, "{sign}{whole}"),
            decimals => write!(f, "{sign}{whole}.{fraction:0decimals$}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        values_of(text).expect("it is right")
    }

    fn scan(parameters: &[&str], zip: bool, commands: usize) -> anyhow::Result<Scan> {
        let parameters: Vec<String> = parameters.iter().map(|&p| p.to_owned()).collect();
        Scan::parse(&parameters, zip, commands)
    }

    fn all(scan: &Scan, command: usize) -> Vec<String> {
        let shown = |c| {
            let parameters = scan.parameters(c, command);
            parameters.iter().map(|(n, v)| format!("{n}{v}")).collect::<Vec<_>>().join(" ")
        };
        (0..scan.combinations().expect("countable")).map(shown).collect()
    }

    #[test]
    fn ranges_count_by_steps_and_by_factors_without_rounding() {
        assert_eq!(values("1..4"), ["1", "2", "3", "4"]);
        assert_eq!(values("1..64*4"), ["1", "4", "16", "64"]);
        assert_eq!(values("0..0.3+0.1"), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(values("-1..1"), ["-1", "0", "1"]);
        assert_eq!(values("10..16+5"), ["10", "15"]);
        assert_eq!(values("a,b c"), ["a", "b c"]);
        assert_eq!(values("../x,../y"), ["../x", "../y"]);
        assert_eq!(values(r"a\,b,c"), ["a,b", "c"]);
        assert_eq!(values("--a,--b"), ["--a", "--b"]);
        assert_eq!(values(r"C:\x,\y"), [r"C:\x", r"\y"]);
    }

    #[test]
    fn what_is_no_range_says_why() {
        for (text, why) in [
            ("8..1", "before it begins"),
            ("1..8+0", "greater than 0"),
            ("0..8*2", "must start above 0"),
            ("1..8*1", "above 1"),
            ("1..x", "`x` is not a number"),
            ("a,,b", "empty value"),
            ("a,b,a", "twice"),
            ("1..9999999", "more than"),
            ("1..9223372036854775807+0.5", "too large"),
        ] {
            let error = values_of(text).expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn parameters_are_multiplied_or_walked_in_step() {
        let product = scan(&["n=1,2", "l=a,b"], false, 1).expect("right");
        assert_eq!(all(&product, 0), ["n1 la", "n1 lb", "n2 la", "n2 lb"]);
        let zipped = scan(&["n=1,2", "l=a,b"], true, 1).expect("right");
        assert_eq!(all(&zipped, 0), ["n1 la", "n2 lb"]);
        assert!(scan(&["n=1,2", "l=a"], true, 1).is_err());
        assert_eq!(Scan::default().combinations(), Some(1));
    }

    #[test]
    fn a_command_may_have_values_of_its_own() {
        let scan = scan(&["n=1,2", "2:n=10,20", "1:flag=-x,-y"], true, 2).expect("right");
        assert_eq!(all(&scan, 0), ["n1 flag-x", "n2 flag-y"]);
        assert_eq!(all(&scan, 1), ["n10", "n20"]);
        let texts = [(Some(0), "a {n} {flag}"), (Some(1), "b {n}")];
        assert!(scan.check_use(&texts, 2).is_ok());
        let error = scan.check_use(&[(None, "{n} {flag}")], 2).expect_err("2 has no flag");
        assert!(error.to_string().contains("command 2"), "{error}");
    }

    #[test]
    fn a_parameter_that_nobody_uses_is_a_mistake() {
        let scan = scan(&["n=1,2"], false, 1).expect("right");
        assert!(scan.check_use(&[(None, "sleep 1")], 1).is_err());
        assert!(scan.check_use(&[(None, "sleep {n}")], 1).is_ok());
    }

    #[test]
    fn a_million_combinations_are_counted_and_not_made() {
        let thousand = "n=1..1000";
        let scan = scan(&[thousand, &thousand.replace('n', "m")], false, 1).expect("right");
        assert_eq!(scan.combinations(), Some(1_000_000));
        assert_eq!(scan.parameters(999_999, 0)[0].1, "1000");
    }

    #[test]
    fn only_the_parameters_own_braces_are_filled() {
        let parameters = [("n".to_owned(), "7".into()), ("no".to_owned(), "x".into())];
        assert_eq!(fill("awk '{print {n}}' {no} {m} {", &parameters), "awk '{print 7}' x {m} {");
        // A value is not substituted again.
        let nested = [("n".to_owned(), "{no}".into()), ("no".to_owned(), "x".into())];
        assert_eq!(fill("{n}", &nested), "{no}");
    }
}
