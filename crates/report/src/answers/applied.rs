//! Description of the load of a load test: the requested load, and whether the server kept the
//! connections open.

use crate::names::width;
use crate::number;
use crate::scan_table::combination;
use crate::words::counted;
use assay_analysis::Analysis;
use assay_analysis::slices::Answers;
use assay_data::{Unit, list};
use std::collections::BTreeSet;

/// Minimum number of opened connections for reporting that the server closes them.
const FEW_CONNECTIONS: u64 = 4;

/// Returns the load step and the side of a subject, such as `rate = 10, unicorn`. If all subjects
/// have the same parameters, returns only the subject's name.
pub(super) fn name(analysis: &Analysis, subject: usize) -> String {
    let own = &analysis.subjects[subject];
    let parameters = |subject: usize| &analysis.subjects[subject].parameters;
    if (0..analysis.subjects.len()).all(|other| parameters(other) == parameters(subject)) {
        return own.name.clone();
    }
    let step = combination(analysis, subject);
    let side = &analysis.sides[own.side].name;
    if step.is_empty() { side.clone() } else { format!("{step}, {side}") }
}

/// Returns the applied load, its goals and the protocol; `None` if the load was not recorded.
pub(super) fn load(analysis: &Analysis) -> Option<String> {
    let fact = |name: &str| analysis.environment.text(name);
    let mut parts = vec![format!("load: {}", fact("load")?)];
    parts.extend(fact("load_goals").map(|goals| format!("goals: {goals}")));
    parts.extend(protocol(analysis));
    Some(parts.join("; "))
}

/// Returns the applied load without its division into slices. The protocol is appended if both fit
/// into `room` columns; otherwise it is returned as the second value.
pub(super) fn briefly(analysis: &Analysis, room: usize) -> (String, Option<String>) {
    let load = analysis.environment.text("load").unwrap_or_default();
    let load = load.split("; slices of ").next().unwrap_or_default().to_owned();
    let Some(protocol) = protocol(analysis) else { return (load, None) };
    let both = format!("{load}; {protocol}");
    if width(&both) <= room { (both, None) } else { (load, Some(protocol)) }
}

/// Returns the protocol and the use of connections: kept alive, closed by the server, or new for
/// each request.
fn protocol(analysis: &Analysis) -> Option<String> {
    let fact = |name: &str| analysis.environment.text(name);
    match (fact("load_protocol"), closing(analysis), fact("load_connections")) {
        (Some(protocol), Some(closing), _) => Some(format!("{protocol} requested; {closing}")),
        (None, Some(closing), _) => Some(closing),
        (protocol, None, how) => {
            let is_kept = how.is_some_and(|how| how.starts_with("kept alive"));
            let how = if is_kept { Some("kept alive") } else { how };
            let connections = how.map(|how| format!("connections {how}"));
            let all: Vec<String> =
                protocol.map(str::to_owned).into_iter().chain(connections).collect();
            (!all.is_empty()).then(|| all.join(", "))
        }
    }
}

/// Returns a note naming the servers that closed most connections after one request although the
/// connections should have been kept alive. Returns `None` if no server did so.
fn closing(analysis: &Analysis) -> Option<String> {
    if is_new_each(analysis) {
        return None;
    }
    let (closing, others): (Vec<&Answers>, Vec<&Answers>) =
        analysis.answers.iter().filter(|own| own.count("sent") > 0).partition(|own| {
            let (opened, sent) = (own.count("connections"), own.count("sent"));
            // Half of the requests suffices: those that failed or were in progress at the end are
            // not followed by a close of their connection.
            opened >= FEW_CONNECTIONS && own.count("closed_by_server") * 2 > sent
        });
    let sides = |all: &[&Answers]| -> BTreeSet<usize> {
        all.iter().map(|own| analysis.subjects[own.subject].side).collect()
    };
    let (closing, others) = (sides(&closing), sides(&others));
    let names: Vec<String> =
        closing.difference(&others).map(|&side| analysis.sides[side].name.clone()).collect();
    let what = "each connection";
    Some(match (names.len(), analysis.sides.len()) {
        (0, _) => return None,
        (1, 1) => format!("the server closes {what}"),
        (closing, all) if closing == all => format!("the servers close {what}"),
        (1, _) => format!("{} closes {what}", names[0]),
        _ => format!("{} close {what}", list::all(&names)),
    })
}

/// Returns a line with the numbers of connections and requests of a subject, and the bytes received
/// per second.
fn connections(analysis: &Analysis, own: &Answers) -> Option<String> {
    let opened = own.count("connections");
    // Older recordings do not contain the number of sent requests.
    let sent = Some(own.count("sent")).filter(|sent| *sent > 0)?;
    let mut text = format!(
        "{} for {}",
        counted(opened as usize, "connection"),
        counted(sent as usize, "request")
    );
    let received = analysis.metrics.iter().position(|metric| metric.name == "received");
    let received = received.and_then(|metric| {
        analysis.subjects[own.subject].metrics.get(metric)?.as_ref().map(|own| own.mean)
    });
    if let Some(bytes) = received.filter(|bytes| bytes.is_finite()) {
        text += &format!(", {}/s received", number::rough(bytes, &Unit::Byte));
    }
    let closed = own.count("closed_by_server");
    if closed * 2 >= opened && opened >= FEW_CONNECTIONS && !is_new_each(analysis) {
        text += "; the server closes them";
    }
    let stray = own.count("stray");
    if stray > 0 {
        text += &format!("; {stray} abandoned, because of bytes that belong to no answer");
    }
    Some(text)
}

/// Returns one line for each subject about its connections, for at most `most` subjects.
pub(super) fn all_connections(analysis: &Analysis, most: usize) -> Vec<String> {
    let told: Vec<(&Answers, String)> = analysis
        .answers
        .iter()
        .filter_map(|own| Some((own, connections(analysis, own)?)))
        .collect();
    let one = told.len() == 1;
    let line = |(own, text): (&Answers, String)| match one {
        true => text,
        false => format!("{}: {text}", name(analysis, own.subject)),
    };
    told.into_iter().take(most).map(line).collect()
}

fn is_new_each(analysis: &Analysis) -> bool {
    analysis.environment.text("load_connections").is_some_and(|how| how.starts_with("new"))
}
