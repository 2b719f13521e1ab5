//! Handlers for lists, for the contents of pages as JSON, and for information about the server.

use super::answer::{Answer, Failure};
use super::openapi;
use super::request::{ApiRequest, Context};
use assay_farm::builds::{Store, when};
use serde::Serialize;

/// Name and version of the program.
pub(crate) const TOOL: &str = concat!("assay-farm ", env!("CARGO_PKG_VERSION"));
/// Version of the API.
pub(crate) const API: u64 = 1;

/// Information about the server.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "About"))]
pub(crate) struct ApiInfo {
    /// Name and version of the program.
    tool: &'static str,
    /// Version of the API.
    api: u64,
    /// Current time on the server's clock.
    time: String,
}

pub(crate) fn about(_: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    Answer::json(200, &ApiInfo { tool: TOOL, api: API, time: when::text(asked.now) })
}

pub(crate) fn openapi(_: &mut Store, _: &Context, _: &ApiRequest) -> Result<Answer, Failure> {
    Ok(Answer::text_of_json(openapi::DOCUMENT))
}

pub(crate) fn home(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    Answer::json(200, &store.home(asked.word("after"), asked.most()?)?)
}

pub(crate) fn project(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let (owner, project) = (asked.part("owner"), asked.part("project"));
    Answer::json(200, &store.project_page(owner, project, asked.word("after"), asked.most()?)?)
}

pub(crate) fn matrix(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let (owner, project) = (asked.part("owner"), asked.part("project"));
    let (matrix, next) = store.matrix(owner, project, asked.word("after"), asked.most()?)?;
    let answer = Answer::json(200, &matrix)?;
    Ok(match next {
        Some(next) => answer.with("next", next),
        None => answer,
    })
}

pub(crate) fn benched(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let (owner, project) = (asked.part("owner"), asked.part("project"));
    let (after, most) = (asked.word("after"), asked.most()?);
    Answer::json(200, &store.benched(owner, project, asked.part("version"), after, most)?)
}

pub(crate) fn builds(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    Answer::json(200, &store.builds(&asked.filter()?, asked.word("after"), asked.most()?)?)
}

pub(crate) fn waterfall(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    Answer::json(200, &store.waterfall(&asked.filter()?, asked.word("after"), asked.most()?)?)
}

pub(crate) fn build(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    Answer::json(200, &store.build(asked.number("build")?)?)
}

pub(crate) fn build_page(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    Answer::json(200, &store.build_page(asked.number("build")?)?)
}
