//! Where work is done that many threads share: a pool of them, or where the system allows no
//! further thread, the one that asks.
//!
//! What is shared must give the same digits on any number of threads; that is for those to see to
//! who share it.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::LazyLock;

static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let alone = || ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    ThreadPoolBuilder::new().build().or_else(|_| alone()).ok()
});

/// Runs the work with our threads at its disposal. Within a pool of the caller's it runs in that
/// one.
pub(crate) fn with_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match &*POOL {
        Some(pool) if rayon::current_thread_index().is_none() => pool.install(work),
        _ => work(),
    }
}
