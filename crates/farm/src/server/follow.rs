//! A log that is followed: what it has, then what comes, as server-sent events, until the job ends.
//!
//! Events: `log` with `{"offset":0,"text":"…"}`, whose id is the place behind it; `end` when no more comes.

use super::answer::Failure;
use super::dispatch::App;
use super::logs::Of;
use crate::policy::LOOK;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::sleep;

/// Bytes of one event.
const PIECE: usize = 64 << 10;
/// So many looks at the file come to one at the job.
const LOOKS: u32 = 4;

/// Whoever follows a log.
pub(crate) struct Following {
    /// The server.
    pub app: Arc<App>,
    /// Whose log.
    pub of: Of,
    /// How far it was told.
    pub offset: u64,
    /// The job that writes it; `None`: nobody does.
    pub job: Option<i64>,
    /// One of those who may.
    pub _permit: OwnedSemaphorePermit,
}

/// The answer.
pub(crate) fn events(following: Following) -> Response {
    let told = stream::unfold(Some(following), |following| async {
        let (event, following) = next(following?).await;
        Some((Ok::<_, Infallible>(event), following))
    });
    Sse::new(told).keep_alive(KeepAlive::default()).into_response()
}

/// The next event; with `None` it was the last.
async fn next(mut own: Following) -> (Event, Option<Following>) {
    let mut looks = 0;
    loop {
        let has_ended = own.job.is_none() || *own.app.ending.borrow();
        match piece(&own, has_ended).await {
            Ok((text, bytes)) if bytes > 0 => {
                let data = serde_json::json!({"offset": own.offset, "text": text});
                own.offset += bytes;
                let event = Event::default().event("log").id(own.offset.to_string());
                return (event.data(data.to_string()), Some(own));
            }
            Ok(_) if has_ended => return (Event::default().event("end").data("{}"), None),
            Ok(_) => {}
            Err(failure) => {
                let event = Event::default().event("error").data(failure.message);
                return (event, None);
            }
        }
        sleep(LOOK).await;
        looks += 1;
        if let Some(job) = own.job.filter(|_| looks % LOOKS == 0) {
            let of = own.of;
            let runs = own.app.reads.run(move |store| {
                let (lease, runs) = store.last_lease(job)?;
                Ok(runs && lease.map(Of::Lease) == Some(of))
            });
            // While the database is away nothing is known.
            if runs.await == Ok(false) {
                own.job = None;
            }
        }
    }
}

/// What there is from the place on, as text; a character that came half waits for the rest, unless none comes.
async fn piece(own: &Following, has_ended: bool) -> Result<(String, u64), Failure> {
    let (context, of, offset) = (Arc::clone(&own.app.context), own.of, own.offset);
    let read = tokio::task::spawn_blocking(move || context.logs.read(of, offset, PIECE)).await;
    let mut bytes = read.unwrap_or_else(|error| Err(Failure::internal(error.to_string())))?;
    if !has_ended
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    Ok((String::from_utf8_lossy(&bytes).into_owned(), bytes.len() as u64))
}
