//! pprof's protocol buffers, compressed: samples and their amounts, functions with file and line,
//! labels, period and duration.

use crate::model::Profile;
use crate::proto::{self, ValueType};
use assay_data::Unit;
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use std::collections::HashMap;
use std::io::{self, Write};

const NANO: f64 = 1e9;

/// Strings by index; the first one is empty.
#[derive(Default)]
struct Texts {
    list: Vec<String>,
    index: HashMap<String, i64>,
}

impl Texts {
    fn of(&mut self, text: &str) -> i64 {
        if self.list.is_empty() {
            self.list.push(String::new());
            self.index.insert(String::new(), 0);
        }
        let next = self.list.len() as i64;
        let own = *self.index.entry(text.to_owned()).or_insert(next);
        if own == next {
            self.list.push(text.to_owned());
        }
        own
    }
}

pub(super) fn write(profile: &Profile) -> io::Result<Vec<u8>> {
    let mut texts = Texts::default();
    texts.of("");
    let (unit, scale) = match profile.unit {
        Unit::Second => ("nanoseconds", NANO),
        Unit::Byte => ("bytes", 1.0),
        _ => ("count", 1.0),
    };
    let mut message = proto::Profile::default();
    // Samples without a unit have one value: the count is the amount.
    let both = !(profile.measure == "samples" && profile.unit == Unit::One);
    message.sample_type.push(ValueType { kind: texts.of("samples"), unit: texts.of("count") });
    if both {
        let own = ValueType { kind: texts.of(&profile.measure), unit: texts.of(unit) };
        message.sample_type.push(own);
    }
    for stack in &profile.stacks {
        // In pprof the innermost frame comes first, and location ids start at 1.
        let location_id = stack.frames.iter().rev().map(|&f| u64::from(f) + 1).collect();
        let mut value = vec![i64::try_from(stack.samples).unwrap_or(i64::MAX)];
        if both {
            value.push((stack.amount * scale).round() as i64);
        }
        let label = |(key, value): &(String, String)| proto::Label {
            key: texts.of(key),
            text: texts.of(value),
            number: 0,
        };
        let label = stack.labels.iter().map(label).collect();
        message.sample.push(proto::Sample { location_id, value, label });
    }
    let mut functions: HashMap<(i64, i64), u64> = HashMap::new();
    for (index, frame) in profile.frames.iter().enumerate() {
        let key = (texts.of(&frame.name), texts.of(frame.file.as_deref().unwrap_or("")));
        let next = functions.len() as u64 + 1;
        let function = *functions.entry(key).or_insert(next);
        let line = i64::from(frame.line.unwrap_or(0));
        message.location.push(proto::Location {
            id: index as u64 + 1,
            line: vec![proto::Line { function_id: function, line }],
            ..proto::Location::default()
        });
        if function == next {
            let (name, filename) = key;
            let own = proto::Function { id: function, name, system_name: name, filename };
            message.function.push(own);
        }
    }
    if let Some(seconds) = profile.seconds {
        message.duration_nanos = (seconds * NANO).round() as i64;
    }
    if let (Some(rate), Unit::Second) = (profile.asked_hz, &profile.unit) {
        let kind = texts.of(&profile.measure);
        message.period_type = Some(ValueType { kind, unit: texts.of("nanoseconds") });
        message.period = (NANO / rate).round() as i64;
    }
    message.string_table = texts.list.into_iter().map(String::into_bytes).collect();
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&message.encode_to_vec())?;
    packed.finish()
}
