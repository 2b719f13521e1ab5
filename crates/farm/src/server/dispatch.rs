//! Dispatches HTTP requests to handlers, which are independent of HTTP, and converts their answers
//! to responses. Authentication, authorization, rate limits, size limits and the audit log are
//! handled here for all paths.

use super::answer::{Answer, Body, Failure};
use super::app::App;
use super::follow::{LogFollower, events};
use super::lists::API;
use super::pages::{self, COOKIE, PAGES};
use super::query;
use super::request::ApiRequest;
use super::route::{self, Permission, Route, Threads, Verb};
use super::routes::ROUTES;
use crate::policy::{BODY, PATIENCE, THROWING, THROWN_AWAY};
use assay_farm::builds::Store;
use assay_farm::builds::wire::Token;
use axum::Router;
use axum::body::BodyDataStream;
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use futures_util::StreamExt;
use jiff::Timestamp;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Instant;
use tokio::time::timeout;

/// IP address of the client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub IpAddr);

/// Returns the HTTP router of the API and the pages.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let mut router = Router::new();
    for route in ROUTES.iter().chain(PAGES) {
        let filter = match route.method {
            Verb::Get => MethodFilter::GET,
            Verb::Put => MethodFilter::PUT,
            Verb::Post => MethodFilter::POST,
            Verb::Delete => MethodFilter::DELETE,
        };
        let app = Arc::clone(app);
        let dispatch = move |request: Request| dispatch(Arc::clone(&app), route, request);
        router = router.route(route.path, on(filter, dispatch));
    }
    router
        .fallback(|| async { refused(&Failure::no_path()) })
        .method_not_allowed_fallback(|| async { refused(&Failure::no_method()) })
}

async fn dispatch(app: Arc<App>, route: &'static Route, request: Request) -> Response {
    let begun = Instant::now();
    let (mut parts, body) = request.into_parts();
    let who = Arc::new(OnceLock::new());
    let done = match app.hosts.refused(&parts.method, &parts.headers) {
        Some(why) => Err(Failure::forbidden(why)),
        None => answered(&app, route, &mut parts, body, &who).await,
    };
    let peer = parts.extensions.get::<Peer>().map(|peer| peer.0);
    let done = match done {
        Err(failure) if failure.status == 401 => Err(match peer {
            Some(peer) => {
                app.strangers.take(peer, begun).map_or_else(Failure::too_many, |()| failure)
            }
            None => failure,
        }),
        done => done,
    };
    let status = done.as_ref().map_or_else(|failure| failure.status, |answer| answer.status);
    let name = who.get().map_or("-", |token| token.of.name.as_str());
    let (method, path) = (&parts.method, parts.uri.path());
    let ms = begun.elapsed().as_millis() as u64;
    // The query may contain a nonce and is not logged.
    let request = format!("{method} {path} status={status} who={name} ms={ms}");
    match (&done, route.audited) {
        (Err(failure), _) if failure.status >= 500 => log::error!("{request}: {}", failure.message),
        (Err(failure), _) => log::info!("{request}: {}", failure.message),
        (Ok(_), true) => log::info!("{request}"),
        (Ok(_), false) => log::debug!("{request}"),
    }
    let is_refused = matches!(status, 401 | 403);
    if route.audited && status != 429 || is_refused {
        let (name, what) = (name.to_owned(), format!("{method} {path}"));
        let what: String = what.chars().take(500).collect();
        let noted = app.writes.run(move |store| Ok(store.audit(now(), &name, &what, status)?));
        // A failure to write the audit log does not fail the request, since its change has already
        // been made.
        if let Err(failure) = noted.await {
            log::error!("the audit: {}", failure.message);
        }
    }
    match done {
        Ok(answer) => respond(&app, answer, &parts.headers),
        Err(failure) if pages::is_page(route.path) => page_refused(&failure),
        Err(failure) => refused(&failure),
    }
}

/// Returns the current time in ms since the Unix epoch.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Checks a request, runs its handler, and returns the answer.
async fn answered(
    app: &Arc<App>,
    route: &'static Route,
    parts: &mut Parts,
    body: axum::body::Body,
    who: &Arc<OnceLock<Token>>,
) -> Result<Answer, Failure> {
    version(&parts.headers)?;
    let path = RawPathParams::from_request_parts(parts, &()).await;
    let path = path.map_err(|error| Failure::bad(error.to_string()))?;
    let path: HashMap<String, String> =
        path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let query = query::read(parts.uri.query().unwrap_or_default())?;
    let secret = secret(&parts.headers, route.method);
    let is_free = is_free(app, route);
    if !is_free && secret.is_none() {
        return Err(Failure::unauthorized());
    }
    // If large bodies are allowed, the client is authenticated before the body is read.
    if route.limit > BODY {
        let (app, secret, who) = (Arc::clone(app), secret.clone(), Arc::clone(who));
        let reads = app.reads.clone();
        reads.run(move |store| known(&app, store, route, secret.as_deref(), &who)).await?;
    }
    let body = taken(body, &parts.headers, route.limit).await?;
    let place = parts.uri.path_and_query().map_or("", |place| place.as_str()).to_owned();
    let token = who.get().cloned();
    let mut asked = ApiRequest { path, query, place, body, token, now: now() };
    if let Some(glance) = route.glance {
        let (own, secret, who) = (Arc::clone(app), secret.clone(), Arc::clone(who));
        let mut glanced = asked.clone();
        let found = app.reads.run(move |store| {
            glanced.token = known(&own, store, route, secret.as_deref(), &who)?;
            Ok((glance(store, &own.context, &glanced)?, glanced.token))
        });
        match found.await? {
            (Some(answer), _) => return Ok(answer),
            (None, token) => asked.token = token,
        }
    }
    let threads = match route.threads {
        Threads::Read => &app.reads,
        Threads::Write => &app.writes,
        Threads::Slow => &app.slow,
    };
    let (own, who) = (Arc::clone(app), Arc::clone(who));
    threads
        .run(move |store| {
            if asked.token.is_none() {
                asked.token = known(&own, store, route, secret.as_deref(), &who)?;
            }
            route::answered(route, store, &own.context, &asked)
        })
        .await
}

/// Returns the token that belongs to a secret, or `None` if the route requires no token.
///
/// # Errors
/// If the token is missing or invalid, exceeds its rate limit, or is not sufficient for the route.
fn known(
    app: &App,
    store: &mut Store,
    route: &Route,
    secret: Option<&str>,
    who: &OnceLock<Token>,
) -> Result<Option<Token>, Failure> {
    if is_free(app, route) {
        return Ok(None);
    }
    let now = now();
    let token = match secret {
        Some(secret) => store.token_of(secret, now)?,
        None => None,
    };
    let token = token.ok_or_else(Failure::unauthorized)?;
    let _once = who.set(token.clone());
    app.tokens.take(token.id, Instant::now()).map_err(Failure::too_many)?;
    app.context.used.lock().unwrap_or_else(PoisonError::into_inner).insert(token.id, now);
    if !route.needs.are_met_by(token.of.scope) {
        return Err(Failure::forbidden(format!(
            "this needs a token of scope {}; `{}` has another scope",
            route.needs.words(),
            token.of.name
        )));
    }
    Ok(Some(token))
}

fn version(headers: &HeaderMap) -> Result<(), Failure> {
    match headers.get("assay-api") {
        None => Ok(()),
        Some(asked) if asked.as_bytes() == API.to_string().as_bytes() => Ok(()),
        Some(asked) => Err(Failure::wrong_version(format!(
            "version {} of the API is not supported; this server has version {API}",
            String::from_utf8_lossy(asked.as_bytes()).escape_debug()
        ))),
    }
}

/// Returns true if the route requires no token.
fn is_free(app: &App, route: &Route) -> bool {
    let only_looks = route.needs == Permission::Read && route.method == Verb::Get;
    route.needs == Permission::Nothing || app.is_public && only_looks
}

/// Returns the secret that the client sent in a header or in a cookie. Since browsers send cookies
/// automatically, a cookie is accepted only for reading.
fn secret(headers: &HeaderMap, method: Verb) -> Option<String> {
    let Some(text) = headers.get(header::AUTHORIZATION) else {
        return (method == Verb::Get).then(|| cookie(headers)).flatten();
    };
    let (scheme, secret) = text.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim().to_owned())
}

fn cookie(headers: &HeaderMap) -> Option<String> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, secret)| secret.to_owned())
}

/// Reads the whole body.
///
/// # Errors
/// If the body is longer than `limit` bytes, is cut off, or arrives too slowly.
async fn taken(
    body: axum::body::Body,
    headers: &HeaderMap,
    limit: usize,
) -> Result<Vec<u8>, Failure> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let told = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let told: Option<usize> = told.and_then(|length| length.parse().ok());
    let mut pieces = body.into_data_stream();
    if told.is_some_and(|length| length > limit) {
        throw_away(pieces).await;
        return Err(Failure::too_large(limit));
    }
    let mut taken = Vec::with_capacity(told.unwrap_or(0));
    loop {
        let piece = timeout(PATIENCE, pieces.next()).await;
        match piece.map_err(|_| Failure::bad("the body did not arrive completely in time"))? {
            None => return Ok(taken),
            Some(Err(error)) => {
                return Err(Failure::bad(format!("the body was cut off: {error}")));
            }
            Some(Ok(piece)) if taken.len() + piece.len() > limit => {
                throw_away(pieces).await;
                return Err(Failure::too_large(limit));
            }
            Some(Ok(piece)) => taken.extend_from_slice(&piece),
        }
    }
}

/// Reads and discards a part of a body that is too large. If the connection were closed while the
/// client is still sending, the client would not receive the answer.
async fn throw_away(mut pieces: BodyDataStream) {
    let mut thrown = 0;
    let throwing = async {
        while let Some(Ok(piece)) = pieces.next().await
            && thrown < THROWN_AWAY
        {
            thrown += piece.len();
        }
    };
    let _enough = timeout(THROWING, throwing).await;
}

/// Returns true if the client already has the answer with this entity tag (`If-None-Match`).
fn is_known(asked: &HeaderMap, tag: &str) -> bool {
    let known = asked.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag))
}

/// Converts an answer to an HTTP response.
fn respond(app: &Arc<App>, answer: Answer, asked: &HeaderMap) -> Response {
    let answer = if answer.status == 200 { answer.tagged() } else { answer };
    let Answer { status, kind, body, headers, tag } = answer;
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = match body {
        Body::Follow { of, offset, job } => match Arc::clone(&app.followers).try_acquire_owned() {
            Ok(permit) => {
                events(LogFollower { app: Arc::clone(app), of, offset, job, _permit: permit })
            }
            Err(_) => {
                return refused(&Failure::unavailable(
                    "too many clients are following logs: try again later",
                ));
            }
        },
        Body::Whole(_) if tag.as_deref().is_some_and(|tag| is_known(asked, tag)) => {
            StatusCode::NOT_MODIFIED.into_response()
        }
        Body::Whole(bytes) => (status, bytes).into_response(),
    };
    if let Some(tag) = &tag {
        set(&mut response, "etag", tag);
    }
    if !kind.is_empty() {
        set(&mut response, "content-type", kind);
    } else {
        response.headers_mut().remove(header::CONTENT_TYPE);
    }
    common(&mut response);
    for (name, value) in &headers {
        set(&mut response, name, value);
    }
    response
}

fn refused(failure: &Failure) -> Response {
    let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, failure.body()).into_response();
    set(&mut response, "content-type", "application/json");
    if let Some(seconds) = failure.again {
        set(&mut response, "retry-after", &seconds.to_string());
    }
    if failure.status == 401 {
        set(&mut response, "www-authenticate", "Bearer");
    }
    common(&mut response);
    response
}

/// Converts a failure to an HTML page for browsers.
fn page_refused(failure: &Failure) -> Response {
    let mut response = refused(failure);
    *response.body_mut() = pages::refused(failure.status, &failure.message).into();
    // The page itself asks for a token. With this header, the browser would show its own dialog.
    response.headers_mut().remove(header::WWW_AUTHENTICATE);
    set(&mut response, "content-type", "text/html; charset=utf-8");
    set(&mut response, "content-security-policy", assay_report::farm::POLICY);
    response
}

/// Sets the headers that all responses have.
fn common(response: &mut Response) {
    set(response, "assay-api", &API.to_string());
    set(response, "x-content-type-options", "nosniff");
    set(response, "content-security-policy", "default-src 'none'; frame-ancestors 'none'");
    set(response, "cross-origin-resource-policy", "same-origin");
    // With `no-referrer`, browsers would send `Origin: null` with the form for the token, and the
    // server would reject it as a request from another site.
    set(response, "referrer-policy", "same-origin");
    set(response, "cache-control", "private, no-cache");
}

fn set(response: &mut Response, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
