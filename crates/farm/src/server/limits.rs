//! Rate limits: one token bucket for each token, and one for each address of unauthenticated
//! clients. The caller supplies the time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Maximum number of buckets.
const MOST: usize = 65_536;

struct Bucket {
    left: f64,
    filled: Instant,
}

/// Token buckets by key, all with the same rate and capacity.
pub(crate) struct Limits<K> {
    rate: f64,
    most: f64,
    buckets: Mutex<HashMap<K, Bucket>>,
}

impl<K: Eq + Hash> Limits<K> {
    /// Creates rate limits of `rate` requests per second. A client can save up the requests of
    /// `burst` seconds.
    pub fn new(rate: f64, burst: f64) -> Self {
        Self { rate, most: (rate * burst).max(1.0), buckets: Mutex::new(HashMap::new()) }
    }

    /// Takes one request from the bucket of `key`.
    ///
    /// Before the number of buckets exceeds [`MOST`], full buckets are dropped. If none is full, an
    /// unknown key has to wait, so that a flood of addresses cannot fill the memory.
    ///
    /// # Errors
    /// The number of seconds to wait if the bucket is empty.
    pub fn take(&self, key: K, now: Instant) -> Result<(), u64> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST && !buckets.contains_key(&key) {
            let is_filling = |b: &Bucket| self.filled(b, now) < self.most;
            buckets.retain(|_, bucket| is_filling(bucket));
            if buckets.len() >= MOST {
                return Err(1);
            }
        }
        let bucket = buckets.entry(key).or_insert(Bucket { left: self.most, filled: now });
        bucket.left = self.filled(bucket, now);
        bucket.filled = now;
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        Err((((1.0 - bucket.left) / self.rate).ceil() as u64).max(1))
    }

    fn filled(&self, bucket: &Bucket, now: Instant) -> f64 {
        let since = now.saturating_duration_since(bucket.filled).as_secs_f64();
        (bucket.left + since * self.rate).min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn who_asks_too_often_waits_and_others_do_not() {
        let limits = Limits::new(2.0, 2.0);
        let now = Instant::now();
        for _ in 0..4 {
            assert_eq!(limits.take("a", now), Ok(()));
        }
        assert_eq!(limits.take("a", now), Err(1));
        assert_eq!(limits.take("b", now), Ok(()));
        assert_eq!(limits.take("a", now + Duration::from_millis(500)), Ok(()));
        assert_eq!(limits.take("a", now + Duration::from_millis(500)), Err(1));
        // An idle bucket does not exceed its capacity.
        let later = now + Duration::from_secs(3_600);
        assert_eq!((0..9).filter(|_| limits.take("a", later).is_ok()).count(), 4);
    }

    #[test]
    fn a_flood_of_keys_does_not_fill_the_memory() {
        let limits = Limits::new(2.0, 2.0);
        let now = Instant::now();
        for key in 0..MOST {
            assert_eq!(limits.take(key, now), Ok(()));
        }
        assert_eq!(limits.take(MOST, now), Err(1));
        assert_eq!(limits.take(0, now), Ok(()));
        // The other buckets are full again.
        let later = now + Duration::from_millis(500);
        assert_eq!(limits.take(MOST, later), Ok(()));
        assert_eq!(limits.buckets.lock().expect("no thread panicked").len(), 2);
    }
}
