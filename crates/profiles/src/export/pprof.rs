//! pprof's protocol buffers, packed: samples and their amount, functions with file and line, labels, period and duration.

use crate::model::Profile;
use crate::wire::Message;
use assay_data::Unit;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::HashMap;
use std::io::{self, Write};

const NANO: f64 = 1e9;

/// Texts by number; the empty one is the first.
#[derive(Default)]
struct Texts {
    list: Vec<String>,
    index: HashMap<String, u64>,
}

impl Texts {
    fn of(&mut self, text: &str) -> u64 {
        if self.list.is_empty() {
            self.list.push(String::new());
            self.index.insert(String::new(), 0);
        }
        let next = self.list.len() as u64;
        let own = *self.index.entry(text.to_owned()).or_insert(next);
        if own == next {
            self.list.push(text.to_owned());
        }
        own
    }
}

pub(super) fn write(profile: &Profile) -> io::Result<Vec<u8>> {
    let mut texts = Texts::default();
    let mut message = Message::default();
    texts.of("");
    let (unit, scale) = match profile.unit {
        Unit::Second => ("nanoseconds", NANO),
        Unit::Byte => ("bytes", 1.0),
        _ => ("count", 1.0),
    };
    // Samples without a unit have one value: they are the amount.
    let both = !(profile.measure == "samples" && profile.unit == Unit::One);
    value_type(&mut message, 1, texts.of("samples"), texts.of("count"));
    if both {
        value_type(&mut message, 1, texts.of(&profile.measure), texts.of(unit));
    }
    for stack in &profile.stacks {
        // The innermost frame stands first there; numbers of locations begin with 1.
        let locations: Vec<u64> = stack.frames.iter().rev().map(|&f| u64::from(f) + 1).collect();
        let mut values = vec![stack.samples];
        if both {
            values.push((stack.amount * scale).round() as u64);
        }
        let labels: Vec<(u64, u64)> =
            stack.labels.iter().map(|(key, value)| (texts.of(key), texts.of(value))).collect();
        message.message(2, |sample| {
            sample.numbers(1, &locations);
            sample.numbers(2, &values);
            for (key, value) in labels {
                sample.message(3, |label| {
                    label.number(1, key);
                    label.number(2, value);
                });
            }
        });
    }
    let mut functions: HashMap<(u64, u64), u64> = HashMap::new();
    for (index, frame) in profile.frames.iter().enumerate() {
        let key = (texts.of(&frame.name), texts.of(frame.file.as_deref().unwrap_or("")));
        let next = functions.len() as u64 + 1;
        let function = *functions.entry(key).or_insert(next);
        message.message(4, |location| {
            location.number(1, index as u64 + 1);
            location.message(4, |line| {
                line.number(1, function);
                line.number(2, u64::from(frame.line.unwrap_or(0)));
            });
        });
        if function == next {
            message.message(5, |own| {
                own.number(1, function);
                own.number(2, key.0);
                own.number(3, key.0);
                own.number(4, key.1);
            });
        }
    }
    if let Some(seconds) = profile.seconds {
        message.number(10, (seconds * NANO).round() as u64);
    }
    if let (Some(rate), Unit::Second) = (profile.asked_hz, &profile.unit) {
        value_type(&mut message, 11, texts.of(&profile.measure), texts.of("nanoseconds"));
        message.number(12, (NANO / rate).round() as u64);
    }
    // The texts come last: only now are all of them known.
    texts.list.iter().for_each(|text| message.bytes(6, text.as_bytes()));
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&message.bytes)?;
    packed.finish()
}

fn value_type(message: &mut Message, field: u64, kind: u64, unit: u64) {
    message.message(field, |own| {
        own.number(1, kind);
        own.number(2, unit);
    });
}
