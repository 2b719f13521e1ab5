//! Cache of answers: an answer is reused while the stamp of the rows that it was created from is
//! unchanged. Permissions are checked before an answer is taken from the cache.

use super::answer::Answer;
use crate::policy::KEPT;
use assay_farm::builds::Stamp;
use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// Cached answers by path and query. Those that have not been requested for the longest time are
/// evicted first.
#[derive(Debug, Default)]
pub(crate) struct AnswerCache {
    all: Mutex<Generations>,
}

/// Two generations of answers: recently requested ones (young) and earlier ones (old). When the
/// young answers exceed half of the maximum size, the old ones are dropped and the young ones
/// become old.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<String, Entry>,
    old: HashMap<String, Entry>,
    /// Total size of the young answers, bytes.
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    stamp: Stamp,
    answer: Arc<Answer>,
}

impl Generations {
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

impl AnswerCache {
    /// Returns the cached answer for a path and query if its stamp equals `stamp`.
    pub fn find(&self, place: &str, stamp: &Stamp) -> Option<Arc<Answer>> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = all.old.remove(place)
            && entry.stamp == *stamp
        {
            all.add(place.to_owned(), entry);
        }
        let entry = all.young.get(place).or_else(|| all.old.get(place))?;
        (entry.stamp == *stamp).then(|| Arc::clone(&entry.answer))
    }

    pub fn keep(&self, place: &str, stamp: Stamp, answer: &Answer) {
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
    use assay_farm::builds::Store;
    use assay_history::{Access, StoreLocation};

    #[test]
    fn an_answer_is_given_again_while_its_stamp_stands_and_is_forgotten_in_time() {
        let room = tempfile::tempdir().unwrap();
        let place = StoreLocation::File(room.path().join("farm.sqlite"));
        let store = Store::open(&place, Access::Write).unwrap();
        let before = store.home_stamp().unwrap();
        store.add_owner("a").unwrap();
        assert_eq!(store.home_stamp().unwrap(), before, "no page shows owners alone");
        store.add_project("a", "p", &serde_json::from_str("{}").unwrap(), 0).unwrap();
        let after = store.home_stamp().unwrap();
        assert_ne!(after, before);
        let kept = AnswerCache::default();
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
