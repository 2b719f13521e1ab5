//! Threads that have the store: its calls wait for disks and servers, which nobody does who answers requests.
//!
//! Each thread has a connection of its own, and connects again when the database was away.

use super::answer::Failure;
use assay_builds::{FarmError, Store};
use assay_history::{Access, Place};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use tokio::sync::oneshot;

/// What is to be done with the store, or without it; and whether the database went away.
type Work = Box<dyn FnOnce(Result<&mut Store, FarmError>) -> bool + Send>;

/// Some threads, and what waits for them.
#[derive(Clone)]
pub(crate) struct Pool {
    work: SyncSender<Work>,
}

impl Pool {
    /// Starts so many threads, for which so much may wait. They end when nobody has the pool any more, and close the store then.
    ///
    /// # Errors
    /// When the store can't be opened, or no thread started.
    pub fn start(
        place: &Place,
        access: Access,
        threads: usize,
        waiting: usize,
        started: &mut Vec<JoinHandle<()>>,
    ) -> anyhow::Result<Self> {
        let (work, waits) = sync_channel(waiting);
        let waits = Arc::new(Mutex::new(waits));
        for _ in 0..threads {
            let (place, waits) = (place.clone(), Arc::clone(&waits));
            let store = Store::open(&place, access)?;
            let thread = thread::Builder::new().name("store".to_owned());
            started.push(thread.spawn(move || works(store, &place, access, &waits))?);
        }
        Ok(Self { work })
    }

    /// Does something with the store, when a thread has time for it.
    ///
    /// # Errors
    /// Those of what is done, and when too much waits already or the database is away.
    pub async fn run<T: Send + 'static>(
        &self,
        does: impl FnOnce(&mut Store) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let (tell, told) = oneshot::channel();
        let work: Work = Box::new(move |store| {
            let done = store.map_err(Failure::from).and_then(does);
            let is_gone = done.as_ref().is_err_and(|failure| failure.is_gone);
            // Whoever asked may have gone.
            let _nobody_listens = tell.send(done);
            is_gone
        });
        let busy = || Failure::unavailable("too many requests wait for the store: ask again");
        match self.work.try_send(work) {
            Ok(()) => told.await.unwrap_or_else(|_| Err(busy())),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => Err(busy()),
        }
    }
}

fn works(first: Store, place: &Place, access: Access, waits: &Mutex<Receiver<Work>>) {
    let mut store = Some(first);
    loop {
        let next = waits.lock().unwrap_or_else(PoisonError::into_inner).recv();
        // Nobody can ask any more.
        let Ok(work) = next else { return };
        let opened = match &mut store {
            Some(store) => Ok(store),
            none => Store::open(place, access).map(|opened| none.insert(opened)),
        };
        if work(opened) {
            store = None;
        }
    }
}
