//! Handlers for jobs, their results, and their logs.

use super::answer::LogOwner;
use super::answer::{Answer, Body, Failure};
use super::request::{ApiRequest, Context};
use crate::policy::LOG_PIECE;
use assay_farm::builds::wire::{Ending, Heartbeat, NewBuild, NewJob};
use assay_farm::builds::{Store, SubmissionOutcome};

/// Content type of logs. Logs are untrusted output, so browsers must not interpret them as HTML.
const TEXT: &str = "text/plain; charset=utf-8";

pub(crate) fn jobs(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let (after, most) = (asked.word("after"), asked.most()?);
    let page = match asked.word("progress") {
        None => store.jobs(after, most)?,
        Some("queued") => store.queued(after, most)?,
        Some(other) => {
            let other = other.escape_debug();
            return Err(Failure::bad(format!(
                "progress=`{other}`: must be `queued` or be omitted"
            )));
        }
    };
    Answer::json(200, &page)
}

pub(crate) fn add(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let new: NewJob = asked.thing()?;
    asked.is_owner(&new.owner)?;
    let put = store.add_job(&new, asked.now)?;
    Answer::put(&put.thing, put.is_new)
}

pub(crate) fn job(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    Answer::json(200, &store.job(asked.number("id")?)?)
}

pub(crate) fn page(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    Answer::json(200, &store.job_page(asked.number("id")?)?)
}

pub(crate) fn cancel(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let id = asked.number("id")?;
    asked.is_owner(&store.job(id)?.of.owner)?;
    Answer::json(200, &store.cancel(id, asked.now)?)
}

pub(crate) fn beat(
    store: &mut Store,
    context: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let beat: Heartbeat = asked.thing()?;
    let (node, id) = (asked.node()?, asked.number("id")?);
    context.saw(node, asked.now);
    let beaten = store.beat(node, id, &beat.nonce, asked.now, context.lease_ms())?;
    Answer::json(200, &beaten)
}

pub(crate) fn end(
    store: &mut Store,
    context: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let ending: Ending = asked.thing()?;
    let (node, id) = (asked.node()?, asked.number("id")?);
    // If the lease was lost, `bytes` is 0.
    let lease = store.lease_of(node, id, &ending.nonce).ok();
    let bytes = lease.map_or(0, |lease| context.logs.state(LogOwner::Lease(lease)).bytes);
    match store.hand_in(node, id, &ending, bytes, asked.now)? {
        SubmissionOutcome::Ended(build) | SubmissionOutcome::Again(build) => {
            Answer::put(&build, true)
        }
        SubmissionOutcome::Known(build)
            if build.is_evidence && lease.is_none() && !build.of.outcome.state.is_retried() =>
        {
            Err(late(build.id))
        }
        SubmissionOutcome::Known(build) => Answer::put(&build, false),
        SubmissionOutcome::Late(build) => Err(late(build.id)),
    }
}

fn late(build: i64) -> Failure {
    Failure::lease_lost(format!(
        "the lease had already been lost: the submitted result is kept as build {build}, but did not end the job"
    ))
}

pub(crate) fn add_build(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let new: NewBuild = asked.thing()?;
    asked.is_node(&new.node)?;
    asked.is_owner(&new.owner)?;
    let put = store.add_build(asked.part("build"), &new, asked.now)?;
    Answer::put(&put.thing, put.is_new)
}

pub(crate) fn add_log(
    store: &mut Store,
    context: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let nonce = asked.word("nonce").unwrap_or_default();
    let lease = store.lease_of(asked.node()?, asked.number("id")?, nonce)?;
    let logged = context.logs.append(LogOwner::Lease(lease), asked.offset()?, &asked.body)?;
    Answer::json(200, &logged)
}

pub(crate) fn add_log_of_build(
    store: &mut Store,
    context: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let node = asked.node().ok();
    let id = store.build_without_job(asked.part("build"), node)?;
    let logged = context.logs.append(LogOwner::Build(id), asked.offset()?, &asked.body)?;
    store.log_of_build(id, logged.bytes)?;
    Answer::json(200, &logged)
}

/// Returns the owner of a build's log.
pub(super) fn of_build(store: &Store, asked: &ApiRequest) -> Result<LogOwner, Failure> {
    let id = asked.number("build")?;
    Ok(store.lease_of_build(id)?.map_or(LogOwner::Build(id), LogOwner::Lease))
}

/// Returns the owner of a job's log, and true if the log may still grow.
pub(super) fn of_job(store: &Store, asked: &ApiRequest) -> Result<(LogOwner, bool), Failure> {
    let id = asked.number("id")?;
    let (lease, runs) = store.last_lease(id)?;
    // A job that was never leased has no log. No lease has the number 0.
    Ok((LogOwner::Lease(lease.unwrap_or(0)), runs))
}

/// Returns a part of a log, starting at the requested offset. `cut` is the number of bytes that the
/// agent omitted from the log because of its size limit.
fn log(context: &Context, of: LogOwner, cut: u64, asked: &ApiRequest) -> Result<Answer, Failure> {
    let bytes = context.logs.read(of, asked.offset()?, LOG_PIECE)?;
    let state = context.logs.state(of);
    let answer = Answer::bytes(TEXT, bytes);
    Ok(answer
        .with("log-bytes", state.bytes.to_string())
        .with("log-cut", state.cut.max(cut).to_string())
        .with("content-disposition", "inline; filename=\"log.txt\"".to_owned()))
}

pub(crate) fn log_of_build(
    store: &mut Store,
    context: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let cut = store.build(asked.number("build")?)?.of.outcome.log_cut;
    log(context, of_build(store, asked)?, cut, asked)
}

pub(crate) fn log_of_job(
    store: &mut Store,
    context: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let ended = store.job(asked.number("id")?)?.build;
    let cut = ended.map(|build| store.build(build)).transpose()?;
    let cut = cut.map_or(0, |build| build.of.outcome.log_cut);
    log(context, of_job(store, asked)?.0, cut, asked)
}

fn follow(of: LogOwner, job: Option<i64>, asked: &ApiRequest) -> Result<Answer, Failure> {
    Ok(Answer::of(200, "text/event-stream", Body::Follow { of, offset: asked.offset()?, job }))
}

pub(crate) fn follow_build(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    follow(of_build(store, asked)?, None, asked)
}

pub(crate) fn follow_job(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let (of, runs) = of_job(store, asked)?;
    let job = if runs { Some(asked.number("id")?) } else { None };
    follow(of, job, asked)
}
