//! The server: an HTTP front end of the store. It contains no database statements and measures
//! nothing. Its pages are rendered by the report crate (`pages`).
//!
//! `routes` lists all paths of the API. `dispatch` passes a request to its handler, which uses the
//! store of its own thread (`pool`) and is independent of HTTP. This file starts and stops the
//! server.

mod answer;
mod app;
mod cache;
mod connections;
mod dispatch;
mod follow;
mod hosts;
mod jobs;
mod limits;
mod lists;
mod logs;
mod nodes;
mod openapi;
pub(crate) mod pages;
mod pool;
mod query;
mod ready;
mod request;
mod route;
mod routes;
mod samples;
mod things;
mod tls;
mod tokens;

use crate::Ending;
use crate::data::{Data, Lock};
use crate::policy::{BURST, FOLLOWERS, LOG, READERS, STRANGERS, SWEEP, WAITING, WRITERS};
use answer::Failure;
use anyhow::Context as _;
use app::App;
use assay_farm::builds::model::Scope;
use assay_farm::builds::wire::NewToken;
use assay_farm::builds::{FarmError, Store};
use assay_history::{Access, StoreLocation};
use assay_report::console::output;
use cache::AnswerCache;
use dispatch::{now, router};
use hosts::Hosts;
use limits::Limits;
use logs::Logs;
use pool::Pool;
use request::Context;
use std::mem;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};

/// Settings of a server.
pub(crate) struct Options {
    /// Directory of the server's files, and the location of its store.
    pub data: Data,
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Host names that requests may use, in addition to the server's addresses.
    pub hosts: Vec<String>,
    /// Duration of a lease.
    pub lease: Duration,
    /// Interval at which an agent without a job asks for one.
    pub ask: Duration,
    /// Maximum number of requests per second for each token.
    pub rate: f64,
    /// True if reading requires no token.
    pub is_public: bool,
    /// Paths of the certificate and of its private key.
    pub tls: Option<(PathBuf, PathBuf)>,
}

/// Starts the server and answers requests until interrupted.
///
/// # Errors
/// If the store cannot be opened, another server uses it, or the address cannot be listened on.
pub(crate) fn serve(options: Options) -> anyhow::Result<Ending> {
    let tls = options.tls.as_ref().map(|(cert, key)| tls::acceptor(cert, key)).transpose()?;
    let _lock: Lock = options.data.lock()?;
    let place = options.data.place.clone();
    let store = Store::open(&place, Access::Write)?;
    first_token(&store, &options.data)?;
    drop(store);
    let writers = if matches!(place, StoreLocation::File(_)) { 1 } else { WRITERS };
    let (tell, ending) = watch::channel(false);
    let mut threads = Vec::new();
    let app = Arc::new(App {
        context: Arc::new(Context {
            logs: Logs::new(options.data.logs(), LOG),
            log_limit: LOG,
            lease: options.lease,
            ask: options.ask,
            is_secure: tls.is_some(),
            seen: Mutex::default(),
            used: Mutex::default(),
            kept: AnswerCache::default(),
        }),
        reads: Pool::start(&place, Access::Read, READERS, WAITING, &mut threads)?,
        writes: Pool::start(&place, Access::Write, writers, WAITING, &mut threads)?,
        slow: Pool::start(&place, Access::Write, 1, WAITING, &mut threads)?,
        is_public: options.is_public,
        hosts: Hosts { is_open: !options.listen.ip().is_loopback(), names: options.hosts.clone() },
        tokens: Limits::new(options.rate, BURST),
        strangers: Limits::new(STRANGERS, BURST),
        followers: Arc::new(Semaphore::new(FOLLOWERS)),
        ending,
    });
    let ended = Runtime::new().context("cannot start threads")?.block_on(async {
        let listener = TcpListener::bind(options.listen);
        let listener = listener.await.with_context(|| format!("--listen {}", options.listen))?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        output::print(&format!("{scheme}://{}\n", listener.local_addr()?))?;
        ready::tell();
        if app.hosts.is_open && tls.is_none() {
            output::say("warning: other machines can connect without TLS, so tokens can be read on the network: use --tls-cert and --tls-key, or put the server behind a TLS proxy");
        }
        let mut interrupted = signal(SignalKind::interrupt())?;
        let mut ended = signal(SignalKind::terminate())?;
        let sweeping = tokio::spawn(sweep(Arc::clone(&app)));
        let connections = connections::Connections::new(router(&app), tls, app.ending.clone());
        let ending = tokio::select! {
            () = connections.accept(listener) => Ending::Fine,
            _ = interrupted.recv() => Ending::Interrupted,
            _ = ended.recv() => Ending::Fine,
        };
        log::info!("ending");
        let _everybody_hears = tell.send(true);
        sweeping.abort();
        connections.end().await;
        if let Err(failure) = flush(&app).await {
            log::error!("when nodes and tokens were last seen: {}", failure.message);
        }
        anyhow::Ok(ending)
    });
    // When the last connection to a database file is closed, its write-ahead log is merged into the
    // file. The file alone is then a complete copy of the store.
    drop(app);
    for thread in threads {
        let _it_only_waits = thread.join();
    }
    ended
}

/// Creates a token of scope `admin` if the store has no tokens, and writes it to a file that only
/// the server's user can read. If the file cannot be written, the token is not created.
fn first_token(store: &Store, data: &Data) -> anyhow::Result<()> {
    if store.has_tokens()? {
        return Ok(());
    }
    let new = NewToken {
        name: "first".to_owned(),
        scope: Scope::Admin,
        node: None,
        owner: None,
        until: None,
    };
    store.add_token_with(&new, now(), |made| {
        data.write_token(&made.secret).map_err(|error| {
            FarmError::Conflict(format!("{}: {error}", data.token_file().display()))
        })
    })?;
    output::say(&format!("a token of scope admin is in {}", data.token_file().display()));
    Ok(())
}

/// Periodically ends leases that were not renewed. The first check is delayed by half a lease, so
/// that agents can reconnect after the server was down.
async fn sweep(app: Arc<App>) {
    sleep(app.context.lease / 2).await;
    let mut again = interval(SWEEP);
    again.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        again.tick().await;
        match app.writes.run(|store| Ok(store.sweep(now())?)).await {
            Ok(swept) if swept.expired + swept.lost > 0 => {
                log::info!(
                    "leases expired: {} jobs queued again, {} lost",
                    swept.expired,
                    swept.lost
                );
            }
            Ok(_) => {}
            Err(failure) => log::error!("cannot check the leases: {}", failure.message),
        }
        if let Err(failure) = flush(&app).await {
            log::error!("when nodes and tokens were last seen: {}", failure.message);
        }
    }
}

/// Stores the times at which nodes and tokens were last seen. This is done at intervals rather than
/// for each request.
async fn flush(app: &App) -> Result<(), Failure> {
    let seen = mem::take(&mut *app.context.seen.lock().unwrap_or_else(PoisonError::into_inner));
    let used = mem::take(&mut *app.context.used.lock().unwrap_or_else(PoisonError::into_inner));
    if seen.is_empty() && used.is_empty() {
        return Ok(());
    }
    let (mut seen, mut used): (Vec<_>, Vec<_>) =
        (seen.into_iter().collect(), used.into_iter().collect());
    // Sorted, so that concurrent writers lock rows in the same order.
    seen.sort();
    used.sort_unstable();
    app.writes
        .run(move |store| {
            store.seen(&seen)?;
            Ok(store.used(&used)?)
        })
        .await
}
