//! Events counted over a whole run: processor events (instructions, cache misses), and kernel
//! events (page faults, migrations).
//!
//! Events are opened on the *launcher*, before anything runs. They are inactive there, and are
//! inherited by every process that the launcher starts; the `execve` of that process activates
//! them. Therefore the launcher's own work is never counted, whereas all work of a command and its
//! children is. When a process ends, the kernel adds its counts to the launcher's events; the
//! difference between two readings is the count of everything that ran between them. Counting costs
//! the command little (the kernel saves and restores counters at each task switch), but not
//! nothing.
//!
//! Nothing is decided here. An event that can't be counted is a [`Refusal`] with its reason, never
//! a zero. If more events are requested than the processor has counters, the kernel multiplexes
//! them: the value is then scaled up, and [`Count::share`] gives the share actually counted.
//! Adjacent hardware events share a group of at most four, so that their ratios are consistent.
//!
//! Follows perf_event_open(2) and the names of perf-list(1).

use assay_data::Unit;

use crate::sys::perf::{self, Descriptor, KNOWN, Opener, Reading, Source};

/// A named event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The event's name in perf.
    pub name: &'static str,
    source: Source,
}

impl Event {
    /// Returns the unit of the event's counts: seconds for `task-clock` and `cpu-clock`, a plain
    /// number otherwise.
    pub fn unit(&self) -> Unit {
        if self.source.is_time() { Unit::Second } else { Unit::One }
    }

    /// Returns true if the event is counted by the processor rather than by the kernel. Virtual
    /// machines often offer no such events.
    pub fn is_hardware(&self) -> bool {
        self.source.is_hardware()
    }

    fn named(name: &str) -> Option<Self> {
        let known =
            KNOWN.iter().find(|known| !name.is_empty() && (known.0 == name || known.1 == name));
        known.map(|&(name, _, source)| Self { name, source })
    }
}

/// Errors in a list of events.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CounterError {
    /// An empty name between two commas, or an empty list.
    #[error(
        "an event's name is missing in `{list}`: write names between commas, as in `instructions,page-faults`"
    )]
    Missing {
        /// The list as given.
        list: String,
    },
    /// An unknown event.
    #[error("there is no event `{name}`{}; known are: {}", near(.name), names().join(", "))]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// An event is listed twice, possibly under two names.
    #[error("the event `{name}` is named twice: remove one")]
    Twice {
        /// Name of the event in perf.
        name: &'static str,
    },
}

/// Returns the names of all events, hardware events first.
pub fn names() -> Vec<&'static str> {
    KNOWN.iter().map(|known| known.0).collect()
}

/// Parses names separated by commas; surrounding whitespace is ignored.
///
/// # Errors
///
/// [`CounterError`] for the first name that is missing, unknown or repeated.
pub fn parse(list: &str) -> Result<Vec<Event>, CounterError> {
    let mut events: Vec<Event> = Vec::new();
    for name in list.split(',').map(str::trim) {
        if name.is_empty() {
            return Err(CounterError::Missing { list: list.to_owned() });
        }
        let event = Event::named(name).ok_or(CounterError::Unknown { name: name.to_owned() })?;
        if events.contains(&event) {
            return Err(CounterError::Twice { name: event.name });
        }
        events.push(event);
    }
    Ok(events)
}

/// Returns ` (did you mean ...?)`, or an empty string if no name is similar.
fn near(name: &str) -> String {
    // Longer texts are not misspelt names, and the distance costs the product of the lengths.
    if name.len() > 60 {
        return String::new();
    }
    let wanted = name.to_ascii_lowercase();
    let distance = |known: &str| {
        let known = known.to_ascii_lowercase();
        let part = wanted.len() > 3 && known.contains(&wanted);
        if part { 0 } else { strsim::damerau_levenshtein(&wanted, &known) }
    };
    let mut found: Vec<(usize, &str)> = KNOWN
        .iter()
        .map(|known| (distance(known.0), known.0))
        .filter(|&(distance, known)| distance <= 2.max(known.len() / 4))
        .collect();
    found.sort();
    let found: Vec<String> = found.iter().take(3).map(|(_, known)| format!("`{known}`")).collect();
    if found.is_empty() {
        String::new()
    } else {
        format!(" (did you mean {}?)", found.join(" or "))
    }
}

/// An event that cannot be counted here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Name of the event.
    pub event: String,
    /// The reason in one line of plain words, with a remedy if there is one.
    pub why: String,
}

/// The count of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// Value in the event's unit; extrapolated to the whole time if `share` is below 1.
    pub value: f64,
    /// The fraction of the time during which the event was actually counted; above 0, at most 1.
    pub share: f64,
}

/// Events that are counted for a process and all its descendants.
#[derive(Debug)]
pub struct Counters {
    events: Vec<Event>,
    descriptors: Vec<Descriptor>,
    last: Vec<Reading>,
    user_only: bool,
    /// Never read, but required: see [`Opener::anchor`].
    _anchor: Option<Descriptor>,
}

/// Opens events on a process, usually the launcher. The events count in the processes that it
/// starts from now on, after their `execve`, and in all descendants of these. They never count in
/// the process itself, unless it calls `execve`.
///
/// If a launcher is replaced, its events must be opened again.
///
/// Events that the system refuses are returned with the reason; the others are counted. Needs one
/// descriptor per event, and about 10 µs.
pub fn open(process: u32, events: &[Event]) -> (Counters, Vec<Refusal>) {
    let mut opener = Opener::new(process);
    let mut counters = Counters {
        events: Vec::new(),
        descriptors: Vec::new(),
        last: Vec::new(),
        user_only: false,
        _anchor: None,
    };
    let mut refused = Vec::new();
    match opener.anchor() {
        Ok(anchor) => counters._anchor = Some(anchor),
        Err(error) => {
            let why = perf::why_refused(&error, Source::ANCHOR, false);
            let all = events.iter().map(|e| Refusal { event: e.name.to_owned(), why: why.clone() });
            return (counters, all.collect());
        }
    }
    for &event in events {
        match opener.open(event.source, &counters.descriptors) {
            Ok(_) if opener.user_only && matches!(event.source, Source::SoftwareInKernel(_)) => {
                refused.push((event, None));
            }
            Ok(descriptor) => {
                counters.events.push(event);
                counters.descriptors.push(descriptor);
                counters.last.push(Reading::default());
            }
            Err(error) => refused.push((event, Some(error))),
        }
    }
    counters.user_only = opener.user_only && !counters.events.is_empty();
    let hardware = counters.events.iter().any(Event::is_hardware);
    let refusals = refused.into_iter().map(|(event, error)| Refusal {
        event: event.name.to_owned(),
        why: match error {
            Some(error) => perf::why_refused(&error, event.source, hardware),
            None => perf::why_not_in_user_code(),
        },
    });
    let refusals = refusals.collect();
    (counters, refusals)
}

impl Counters {
    /// Returns the events that are counted, in the requested order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the counts since the last call, or since [`open`]; in the order of
    /// [`events`](Self::events). A count is `None` if it is unknown: nothing has been started
    /// since, the event is gone, or the processor never had a free counter for it. A running
    /// process is counted up to this moment.
    ///
    /// One system call per event, about 1 µs.
    pub fn take(&mut self) -> Vec<Option<Count>> {
        let mut counts = Vec::with_capacity(self.events.len());
        for ((event, descriptor), last) in
            self.events.iter().zip(&mut self.descriptors).zip(&mut self.last)
        {
            // The only possible failure: the group lost its place in the processor and no longer
            // exists.
            let count = descriptor.read().ok().and_then(|now| {
                let before = std::mem::replace(last, now);
                difference(before, now, event.source.is_time())
            });
            counts.push(count);
        }
        counts
    }

    /// Returns true if the kernel forbids counting its own work, so that counts cover user code
    /// only.
    pub fn user_only(&self) -> bool {
        self.user_only
    }
}

/// Returns the count between two readings; none of the three totals ever decreases.
fn difference(before: Reading, now: Reading, in_ns: bool) -> Option<Count> {
    let value = now.value.checked_sub(before.value)?;
    let enabled = now.enabled.checked_sub(before.enabled)?;
    let running = now.running.checked_sub(before.running)?;
    if running == 0 {
        return None;
    }
    // The two clocks are read one after the other: a share above 1 is a rounding error.
    let share = (running as f64 / enabled as f64).min(1.0);
    let unit = if in_ns { 1e-9 } else { 1.0 };
    Some(Count { value: value as f64 * unit / share, share })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_list_of_names_gives_the_events_in_its_order() {
        let events = parse(" page-faults,instructions , task-clock").unwrap();
        let names: Vec<&str> = events.iter().map(|event| event.name).collect();
        assert_eq!(names, ["page-faults", "instructions", "task-clock"]);
        let units: Vec<Unit> = events.iter().map(Event::unit).collect();
        assert_eq!(units, [Unit::One, Unit::One, Unit::Second]);
        assert!(!events[0].is_hardware() && events[1].is_hardware());
        assert_eq!(parse(&super::names().join(",")).unwrap().len(), super::names().len());
    }

    #[test]
    fn a_name_that_is_wrong_is_answered_with_near_ones_and_all() {
        let error = parse("instructions,cache-mises").unwrap_err().to_string();
        assert!(error.contains("`cache-mises` (did you mean `cache-misses`?)"), "{error}");
        assert!(error.contains("task-clock") && error.contains("iTLB-load-misses"), "{error}");
        let error = parse("tlb-load").unwrap_err().to_string();
        assert!(error.contains("`dTLB-load-misses` or `iTLB-load-misses`"), "{error}");
        assert!(!parse("bananas-and-pears").unwrap_err().to_string().contains("did you mean"));
    }

    #[test]
    fn an_event_is_named_once_whatever_its_name() {
        assert_eq!(parse("cycles,cpu-cycles"), Err(CounterError::Twice { name: "cycles" }));
        assert_eq!(parse(""), Err(CounterError::Missing { list: String::new() }));
        assert!(parse("cycles,,faults").unwrap_err().to_string().contains("between commas"));
    }

    #[test]
    fn a_count_is_scaled_up_to_the_time_it_was_not_counted() {
        let before = Reading { value: 100, enabled: 1000, running: 1000 };
        let now = Reading { value: 350, enabled: 2000, running: 1250 };
        assert_eq!(difference(before, now, false), Some(Count { value: 1000.0, share: 0.25 }));
        let all = Reading { value: 2_000_000_100, enabled: 2000, running: 2000 };
        assert_eq!(difference(before, all, true), Some(Count { value: 2.0, share: 1.0 }));
    }

    #[test]
    fn what_was_never_counted_is_not_zero_but_unknown() {
        let before = Reading { value: 100, enabled: 1000, running: 1000 };
        assert_eq!(difference(before, before, false), None);
        let waited = Reading { enabled: 5000, ..before };
        assert_eq!(difference(before, waited, false), None);
        let shrunk = Reading { value: 1, enabled: 5000, running: 5000 };
        assert_eq!(difference(before, shrunk, false), None);
    }

    proptest! {
        #[test]
        fn no_list_makes_the_reader_panic(list in "\\PC*|[a-zA-Z1,-]{0,80}") {
            if let Err(error) = parse(&list) {
                prop_assert!(!error.to_string().is_empty());
            }
        }

        #[test]
        fn any_two_readings_give_a_share_between_nothing_and_all(
            a in prop::array::uniform3(any::<u64>()), b in prop::array::uniform3(any::<u64>()),
        ) {
            let reading = |r: [u64; 3]| Reading { value: r[0], enabled: r[1], running: r[2] };
            if let Some(count) = difference(reading(a), reading(b), false) {
                prop_assert!(count.share > 0.0 && count.share <= 1.0 && count.value >= 0.0);
            }
        }
    }
}
