//! Handlers for owners, projects, versions and targets.

use super::answer::{Answer, Failure};
use super::request::{ApiRequest, Context};
use assay_farm::builds::Store;
use assay_farm::builds::model::Scope;
use assay_farm::builds::wire::{NewProject, NewTarget, NewVersion};

pub(crate) fn owners(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    Answer::json(200, &store.owners(asked.word("after"), asked.most()?)?)
}

pub(crate) fn owner(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    Answer::json(200, &store.owner(asked.part("owner"))?)
}

pub(crate) fn add_owner(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let owner = asked.part("owner");
    asked.is_owner(owner)?;
    let put = store.add_owner(owner)?;
    Answer::put(&put.thing, put.is_new)
}

pub(crate) fn projects(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let page = store.projects(asked.part("owner"), asked.word("after"), asked.most()?)?;
    Answer::json(200, &page)
}

pub(crate) fn project(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    Answer::json(200, &store.project(asked.part("owner"), asked.part("project"))?)
}

pub(crate) fn add_project(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let owner = asked.part("owner");
    asked.is_owner(owner)?;
    let said: NewProject = asked.thing()?;
    let put = store.add_project(owner, asked.part("project"), &said, asked.now)?;
    Answer::put(&put.thing, put.is_new)
}

pub(crate) fn versions(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let (owner, project) = (asked.part("owner"), asked.part("project"));
    Answer::json(200, &store.versions(owner, project, asked.word("after"), asked.most()?)?)
}

pub(crate) fn version(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let (owner, project) = (asked.part("owner"), asked.part("project"));
    Answer::json(200, &store.version_of(owner, project, asked.part("version"))?)
}

pub(crate) fn add_version(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let (owner, project) = (asked.part("owner"), asked.part("project"));
    asked.is_owner(owner)?;
    let said: NewVersion = asked.thing()?;
    let put = store.add_version((owner, project), asked.part("version"), &said, asked.now)?;
    Answer::put(&put.thing, put.is_new)
}

pub(crate) fn gone(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let (owner, project) = (asked.part("owner"), asked.part("project"));
    asked.is_owner(owner)?;
    // An agent only reports that a version is gone. It cannot cancel jobs that others requested.
    let cancels = asked.token.as_ref().is_none_or(|token| token.of.scope != Scope::Agent);
    let version = asked.part("version");
    Answer::json(200, &store.version_is_gone((owner, project), version, cancels)?)
}

pub(crate) fn targets(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    Answer::json(200, &store.targets(asked.word("after"), asked.most()?)?)
}

pub(crate) fn target(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    Answer::json(200, &store.target(asked.part("digest"))?)
}

pub(crate) fn add_target(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let said: NewTarget = asked.thing()?;
    let put = store.add_target(asked.part("digest"), &said, asked.now)?;
    Answer::put(&put.thing, put.is_new)
}
