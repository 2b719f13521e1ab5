//! The thread pool for parallel work. If the system refuses to create threads, the work runs on the
//! calling thread.
//!
//! Callers must ensure that their work gives the same digits on any number of threads.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::LazyLock;

static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let alone = || ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    ThreadPoolBuilder::new().build().or_else(|_| alone()).ok()
});

/// Runs the work on the pool. If called from within another pool, the work runs in that pool.
pub(crate) fn with_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match &*POOL {
        Some(pool) if rayon::current_thread_index().is_none() => pool.install(work),
        _ => work(),
    }
}
