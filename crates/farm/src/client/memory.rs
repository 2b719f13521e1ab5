//! Cache of the client, so that a loop over many versions does not repeat the same requests. It
//! holds the numbers of existing resources, and answers with their `ETag`. The absence of a
//! resource is never cached, since the resource may be added at any time.

use std::collections::HashMap;

/// Maximum number of cached answers, and of cached numbers. When it is reached, all of them are
/// dropped.
const MOST: usize = 4096;
/// Maximum size of a cached answer, in bytes.
const LONGEST: usize = 1 << 20;

/// Body of an answer, and its `ETag`.
#[derive(Clone, Debug)]
pub(super) struct CachedAnswer {
    pub tag: String,
    pub body: Vec<u8>,
}

#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Cached answers by path and query.
    answers: HashMap<String, CachedAnswer>,
    /// Cached numbers of resources by path.
    ids: HashMap<String, i64>,
}

impl Memory {
    pub fn answer(&self, path: &str) -> Option<&CachedAnswer> {
        self.answers.get(path)
    }

    pub fn keep(&mut self, path: &str, tag: String, body: &[u8]) {
        if body.len() > LONGEST {
            return;
        }
        if self.answers.len() >= MOST {
            self.answers.clear();
        }
        self.answers.insert(path.to_owned(), CachedAnswer { tag, body: body.to_vec() });
    }

    pub fn id(&self, path: &str) -> Option<i64> {
        self.ids.get(path).copied()
    }

    pub fn keep_id(&mut self, path: &str, id: i64) {
        if self.ids.len() >= MOST {
            self.ids.clear();
        }
        self.ids.insert(path.to_owned(), id);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn it_has_an_end() {
        let mut memory = Memory::default();
        for i in 0..=MOST {
            memory.keep(&i.to_string(), "a".to_owned(), b"b");
            memory.keep_id(&i.to_string(), 1);
        }
        assert!(memory.answers.len() <= MOST && memory.ids.len() <= MOST);
        memory.keep("long", "a".to_owned(), &vec![0; LONGEST + 1]);
        assert!(memory.answer("long").is_none());
        assert_eq!(memory.answer(&MOST.to_string()).unwrap().body, b"b");
    }
}
