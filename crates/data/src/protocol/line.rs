//! Parses one line of the sample protocol, independently of the lines around it.
//!
//! Text is borrowed from the input, because a program may write a million lines.

use crate::excerpt::excerpt;
use serde::Deserialize;
use serde_json::error::Category;
use std::borrow::Cow;

/// Properties of a metric stated by a line, other than numbers.
#[derive(Debug, Default, PartialEq)]
pub(super) struct About<'a> {
    pub unit: Option<Cow<'a, str>>,
    pub better: Option<Cow<'a, str>>,
    pub take: Option<Cow<'a, str>>,
}

/// Content of a line.
#[derive(Debug, PartialEq)]
pub(super) enum Gives {
    /// Values of a metric. Empty if the line only declares properties.
    Values(Vec<f64>),
    /// One value, without an allocation.
    Value(f64),
    /// The clock at the start of a region, in nanoseconds, and the thread.
    Start(u64, u64),
    /// The clock at the end of a region, in nanoseconds, and the thread.
    Stop(u64, u64),
    /// The duration of a region, in nanoseconds.
    Duration(f64),
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A number, or the `null` that some languages write for NaN.
#[derive(Deserialize)]
struct Number(Option<f64>);

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow)]
    metric: Option<Text<'a>>,
    #[serde(borrow)]
    start: Option<Text<'a>>,
    #[serde(borrow)]
    stop: Option<Text<'a>>,
    #[serde(borrow)]
    region: Option<Text<'a>>,
    #[serde(borrow)]
    unit: Option<Text<'a>>,
    #[serde(borrow)]
    better: Option<Text<'a>>,
    #[serde(borrow)]
    take: Option<Text<'a>>,
    #[serde(default, deserialize_with = "present")]
    value: Option<Number>,
    values: Option<Vec<Number>>,
    t: Option<u64>,
    ns: Option<f64>,
    #[serde(default)]
    thread: u64,
}

/// Returns `Some` for a member that is present, even if it is `null`.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Number>, D::Error> {
    Number::deserialize(from).map(Some)
}

/// Parses a nonblank line into a name, the properties stated about it, and the content.
pub(super) fn read(line: &[u8]) -> Result<(Cow<'_, str>, About<'_>, Gives), String> {
    // Without this check, a list would be accepted as an object with its members in order.
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err(format!("`{}` is not a JSON object", excerpt(&String::from_utf8_lossy(line))));
    }
    let members: Members<'_> = serde_json::from_slice(line).map_err(|e| json_error(&e, line))?;
    let kinds = [&members.metric, &members.start, &members.stop, &members.region];
    match kinds.into_iter().flatten().count() {
        0 => {
            return Err("the line is of an unknown kind: it has none of `metric`, `start`, `stop` and `region`"
                .to_owned());
        }
        1 => {}
        _ => return Err("a line has only one of `metric`, `start`, `stop` and `region`".to_owned()),
    }

    let clock = |kind: &str| {
        let missing = || {
            format!(
                "`{kind}` needs its own time `t`, the monotonic clock in whole nanoseconds: assay does \
                 not look while the program runs"
            )
        };
        members.t.ok_or_else(missing)
    };
    let gives = if members.start.is_some() {
        Gives::Start(clock("start")?, members.thread)
    } else if members.stop.is_some() {
        Gives::Stop(clock("stop")?, members.thread)
    } else if members.region.is_some() {
        match members.ns {
            Some(ns) if ns >= 0.0 => Gives::Duration(ns),
            Some(_) => return Err("`ns` is negative; a duration is stop minus start".to_owned()),
            None => return Err("`region` needs its duration `ns`, in nanoseconds".to_owned()),
        }
    } else {
        values(members.value, members.values)?
    };
    let about = About {
        unit: members.unit.map(|text| text.0),
        better: members.better.map(|text| text.0),
        take: members.take.map(|text| text.0),
    };
    if matches!(&gives, Gives::Values(none) if none.is_empty()) && about == About::default() {
        return Err("`metric` needs a number: `value`, or several in `values`".to_owned());
    }
    let name =
        [members.metric, members.start, members.stop, members.region].into_iter().flatten().next();
    let name = name.expect("exactly one of them is there, counted above");
    Ok((name.0, about, gives))
}

fn values(value: Option<Number>, values: Option<Vec<Number>>) -> Result<Gives, String> {
    let number = |number: Number| {
        number.0.ok_or_else(|| {
            "a value is `null`, which some languages write for NaN and infinity; leave such values out".to_owned()
        })
    };
    match (value, values) {
        (Some(_), Some(_)) => Err("a line has either `value` or `values`".to_owned()),
        (Some(one), None) => Ok(Gives::Value(number(one)?)),
        (None, Some(many)) if many.is_empty() => {
            Err("`values` is empty; leave the line out when there is nothing to give".to_owned())
        }
        (None, Some(many)) => {
            Ok(Gives::Values(many.into_iter().map(number).collect::<Result<_, _>>()?))
        }
        (None, None) => Ok(Gives::Values(Vec::new())),
    }
}

fn json_error(error: &serde_json::Error, line: &[u8]) -> String {
    let said = error.to_string();
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
    let column = error.column();
    match error.classify() {
        // These messages of the library quote text from the line.
        Category::Data => format!("{} (at byte {column})", excerpt(said)),
        Category::Eof => "the line breaks off; write each line whole, in one write".to_owned(),
        Category::Syntax | Category::Io => {
            let from = column.saturating_sub(1).min(line.len());
            let there =
                excerpt(&String::from_utf8_lossy(&line[from..(from + 100).min(line.len())]));
            format!(
                "not JSON: {} at byte {column}, `{there}`; write each line whole, in one write",
                excerpt(said)
            )
        }
    }
}
