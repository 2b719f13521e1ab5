//! Lines of any text, read with the user's own regular expression (`--pattern`). The group `value`
//! is the number, `unit` its unit, and `name` the subject; every other named group is a parameter.
//!
//! Only the first match in a line is used. Lines that do not match are skipped and reported. A file
//! without any match is an error.

use super::line_values::LineValues;
use super::{Context, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use regex::Regex;

pub(super) fn read(
    input: Input,
    context: &Context<'_>,
    pattern: &str,
) -> Result<Part, ImportError> {
    let wrong = |problem: String| ImportError::Pattern { problem };
    let regex = Regex::new(pattern).map_err(|error| wrong(error.to_string()))?;
    let groups: Vec<&str> = regex.capture_names().flatten().collect();
    if !groups.contains(&"value") {
        let groups =
            if groups.is_empty() { "no named group".to_owned() } else { groups.join(", ") };
        return Err(wrong(format!(
            "the number must be in a group named `value`, as in `time=(?<value>[0-9.]+)`; `{pattern}` has {groups}"
        )));
    }
    let others: Vec<&str> =
        groups.into_iter().filter(|group| !["value", "unit", "name"].contains(group)).collect();
    let mut values = LineValues::new(context, "value");
    let mut lines = Lines::new(input.into_reader(), context.file);
    while let Some(line) = lines.next()? {
        if line.text.trim().is_empty() {
            continue;
        }
        let found = regex.captures(line.text);
        let found = found.and_then(|found| Some((found.name("value")?.as_str(), found)));
        let Some((value, found)) = found else {
            values.skip(line.number, line.text);
            continue;
        };
        let group = |name| found.name(name).map(|group| group.as_str());
        let parts: Vec<_> = others.iter().filter_map(|&name| Some((name, group(name)?))).collect();
        let taken = values.take(group("name").unwrap_or_default(), &parts, value, group("unit"));
        taken.map_err(|problem| values.recorder.at(line.number, problem))?;
    }
    if values.taken() == 0 {
        let seen = match values.first_skipped() {
            Some((line, text)) => format!("the first, line {line}, is `{text}`"),
            None => "all are blank".to_owned(),
        };
        return Err(ImportError::Content {
            file: context.file.to_owned(),
            problem: format!("no line matches `{pattern}`; {seen}"),
        });
    }
    values.finish("that do not match `--pattern`")
}
