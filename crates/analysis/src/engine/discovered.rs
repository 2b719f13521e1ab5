//! Rows discovered by runs: only a run of a whole test suite shows which tests exist. The rows and
//! their subjects are added to the samples, recorded before their first values, and looked up by
//! name, also in a resumed recording. They do not decide when to stop.

use crate::engine::recorder::Recorder;
use assay_data::source::Unit;
use assay_data::{Row, Samples, Subject};
use std::collections::HashMap;

/// For each unit and row name, the row's subjects, one per place.
#[derive(Debug, Default)]
pub(crate) struct Discovered(HashMap<usize, HashMap<String, Vec<usize>>>);

impl Discovered {
    /// Returns the subject of a row at a place of a unit that discovers rows, or `None` for other
    /// units. A new row is added to the samples and recorded. O(1) for a known row.
    pub fn subject(
        &mut self,
        (index, unit): (usize, &Unit),
        row: &Row,
        place: usize,
        samples: &mut Samples,
        recorder: &mut Option<impl Recorder>,
    ) -> Option<usize> {
        let known = self.0.entry(index).or_default();
        if !known.contains_key(&row.name) && unit.discovers {
            known.insert(row.name.clone(), subjects(unit, row, samples, recorder));
        }
        known.get(&row.name)?.get(place).copied()
    }
}

/// Returns the subjects of a row, one per place. Subjects in a resumed recording are kept, and
/// missing ones are added, since the recording may have ended between two of them.
fn subjects(
    unit: &Unit,
    row: &Row,
    samples: &mut Samples,
    recorder: &mut Option<impl Recorder>,
) -> Vec<usize> {
    let known = samples.rows.iter().position(|own| own.name == row.name);
    let index = known.unwrap_or_else(|| {
        recorder.iter_mut().for_each(|recorder| recorder.row(row));
        samples.rows.push(row.clone());
        samples.rows.len() - 1
    });
    let at = |rows: &Vec<usize>| {
        let Subject { side, parameters, .. } = samples.subjects.get(*rows.first()?)?.clone();
        Some(Subject { side, row: index, parameters, ..Subject::default() })
    };
    let Some(wanted) = unit.places.iter().map(at).collect::<Option<Vec<Subject>>>() else {
        return Vec::new();
    };
    let first_new = samples.subjects.len();
    let mut next = first_new..;
    let found = wanted.iter().map(|wanted| {
        let is_it = |own: &Subject| {
            (own.side, own.row, &own.parameters) == (wanted.side, wanted.row, &wanted.parameters)
        };
        samples.subjects.iter().position(is_it).or_else(|| next.next())
    });
    let subjects: Vec<usize> = found.flatten().collect();
    let new = wanted.into_iter().enumerate().filter(|&(place, _)| subjects[place] >= first_new);
    for (place, subject) in new {
        let reference = unit.references.get(place).copied().flatten().unwrap_or(place);
        let name = format!("{}: {}", samples.side_of(&subject).name, row.name);
        let against = subjects.get(reference).copied();
        let added = samples.add(Subject { name, against, ..subject });
        recorder.iter_mut().for_each(|recorder| recorder.subject(&samples.subjects[added]));
    }
    subjects
}
