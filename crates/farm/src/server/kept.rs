//! Answers that are kept: made once, and given again as long as the stamp of the rows stands that they were made of. Whoever may not read gets nothing
//! from here: that is asked before.

use super::answer::{Answer, Failure};
use super::asked::{Asked, Context};
use super::route::Route;
use crate::policy::KEPT;
use assay_builds::{FarmError, Stamp, Store};
use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// What an answer is made of: as long as the stamp of that stands, so does the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    /// All projects in short, the last builds, and how many jobs there are.
    Home,
    /// The project that the path names.
    Project,
}

impl Stands {
    fn stamp(self, store: &Store, asked: &Asked) -> Result<Stamp, FarmError> {
        match self {
            Self::Home => store.home_stamp(),
            Self::Project => store.project_stamp(asked.part("owner"), asked.part("project")),
        }
    }
}

/// The answer to a request: one that is kept and stands, or a new one.
///
/// # Errors
/// Those of the route's handler.
pub(crate) fn answered(
    route: &Route,
    store: &mut Store,
    context: &Context,
    asked: &Asked,
) -> Result<Answer, Failure> {
    let Some(of) = route.stands else { return (route.handler)(store, context, asked) };
    if let Some(answer) = context.kept.find(&asked.place, &of.stamp(store, asked)?) {
        return Ok(answer.copy());
    }
    // The stamp is of the same moment as all that is on the page.
    store.at_one_moment(|store| {
        let stamp = of.stamp(store, asked)?;
        let answer = (route.handler)(store, context, asked)?.tagged();
        context.kept.keep(&asked.place, stamp, &answer);
        Ok(answer)
    })
}

/// Answers by the path and query that ask for them. What was not asked for of late goes first.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    all: Mutex<Ages>,
}

/// Those that were asked for of late, and those that were before. When the first are many, the second go.
#[derive(Debug, Default)]
struct Ages {
    young: HashMap<String, Entry>,
    old: HashMap<String, Entry>,
    /// Of the young ones.
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    stamp: Stamp,
    answer: Arc<Answer>,
}

impl Ages {
    fn add(&mut self, place: String, entry: Entry) {
        let size = |place: &str, entry: &Entry| place.len() + entry.answer.len();
        self.bytes += size(&place, &entry);
        if let Some(before) = self.young.insert(place.clone(), entry) {
            self.bytes -= size(&place, &before);
        }
        if self.bytes > KEPT / 2 {
            self.old = mem::take(&mut self.young);
            self.bytes = 0;
        }
    }
}

impl Kept {
    /// The answer to this, if its stamp stands.
    fn find(&self, place: &str, stamp: &Stamp) -> Option<Arc<Answer>> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = all.old.remove(place)
            && entry.stamp == *stamp
        {
            all.add(place.to_owned(), entry);
        }
        let entry = all.young.get(place).or_else(|| all.old.get(place))?;
        (entry.stamp == *stamp).then(|| Arc::clone(&entry.answer))
    }

    fn keep(&self, place: &str, stamp: Stamp, answer: &Answer) {
        let entry = Entry { stamp, answer: Arc::new(answer.copy()) };
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.old.remove(place);
        all.add(place.to_owned(), entry);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use assay_history::{Access, Place};

    #[test]
    fn an_answer_is_given_again_while_its_stamp_stands_and_is_forgotten_in_time() {
        let room = tempfile::tempdir().unwrap();
        let place = Place::File(room.path().join("farm.sqlite"));
        let store = Store::open(&place, Access::Write).unwrap();
        let before = store.home_stamp().unwrap();
        store.add_owner("a").unwrap();
        assert_eq!(store.home_stamp().unwrap(), before, "no page shows owners alone");
        store.add_project("a", "p", &serde_json::from_str("{}").unwrap(), 0).unwrap();
        let after = store.home_stamp().unwrap();
        assert_ne!(after, before);
        let kept = Kept::default();
        let answer = |size: usize| Answer::bytes("text/plain", vec![b'x'; size]);
        kept.keep("/", before.clone(), &answer(3));
        assert_eq!(kept.find("/", &before).unwrap().len(), 3);
        assert!(kept.find("/", &after).is_none() && kept.find("/?x", &before).is_none());
        kept.keep("/", after.clone(), &answer(5));
        assert_eq!(kept.find("/", &after).unwrap().len(), 5);
        for number in 0..40 {
            kept.keep(&number.to_string(), after.clone(), &answer(KEPT / 8));
            assert!(kept.find("/", &after).is_some(), "what is asked for stays");
        }
        let all = kept.all.lock().unwrap();
        let bytes = |of: &HashMap<String, Entry>| -> usize {
            of.values().map(|entry| entry.answer.len()).sum()
        };
        assert!(bytes(&all.young) + bytes(&all.old) <= KEPT + KEPT / 4);
    }
}
