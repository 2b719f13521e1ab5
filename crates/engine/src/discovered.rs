//! Rows that runs discover: a run of a whole test suite shows which tests there are. Here they become rows and subjects of the samples,
//! recorded before their first values, and are found again, also in a recording that is taken up. Nothing decides by them.

use crate::recorder::Recorder;
use assay_data::source::Unit;
use assay_data::{Row, Samples, Subject};
use std::collections::HashMap;

/// By unit and name of a row its subjects, one for each place.
#[derive(Debug, Default)]
pub(crate) struct Discovered(HashMap<usize, HashMap<String, Vec<usize>>>);

impl Discovered {
    /// The subject of a row at a place of a unit that discovers rows; the row is added to the samples, and recorded, if it is new. `None`
    /// of another unit. O(1) for a row that came before.
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

/// The subjects of a row, one for each place. What a recording that is taken up has of them is kept, and what it lacks is added: it may have
/// broken off between two of them.
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
