//! The history of a project's benchmarks: the pages of `assay history` as part of the farm's pages.
//! The measurements of agents are stored there as runs, with versions in place of commits.

use super::super::answer::{Answer, Failure};
use super::super::lists::TOOL;
use super::super::request::{ApiRequest, Context};
use assay_farm::builds::{FarmError, Store, history_project};
use assay_history::site::{Narrow, Site, SiteSubject};
use assay_report::console::output;
use assay_report::site::POLICY;

/// Returns a page of the history, or a file that such a page loads.
pub(crate) fn page(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let (owner, project) = (asked.part("owner"), asked.part("project"));
    let file = match asked.part("directory") {
        "" => asked.part("file").to_owned(),
        directory => format!("{directory}/{}", asked.part("file")),
    };
    let of = history_project(owner, project);
    let mut pages = pages(store, &of, &super::frame().of_project(owner, project))?;
    let page = pages.page(&file).map_err(failed)?.ok_or_else(Failure::no_path)?;
    let answer = Answer::bytes(kind(&file), page.into_bytes());
    Ok(answer.with("content-security-policy", format!("{POLICY}; frame-ancestors 'none'")))
}

/// Returns the path, within the history, of a benchmark's page. If the name is empty, this is the
/// first page. Returns `None` if nothing is stored for the project.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn place(
    store: &Store,
    owner: &str,
    project: &str,
    benchmark: &str,
) -> Result<Option<String>, Failure> {
    let of = history_project(owner, project);
    let history = store.history_read();
    if history.log(&of, 1).map_err(FarmError::Store)?.is_empty() {
        return Ok(None);
    }
    Ok(Some(match benchmark {
        "" => "index.html".to_owned(),
        name => pages(store, &of, "")?.place_of(name),
    }))
}

/// Creates the pages of a project's history. Versions are not commits of a local repository, so a
/// range of versions cannot be bisected. Names are not redacted for readers of the farm's pages.
fn pages<'s>(
    store: &'s Store,
    project: &str,
    part_of: &str,
) -> Result<Site<&'s assay_history::Store>, Failure> {
    let of = SiteSubject {
        project,
        tool: TOOL,
        part_of: Some(part_of),
        unredacted: true,
        narrow: Narrow::NOTHING,
    };
    Site::of(store.history_read(), &of).map_err(failed)
}

fn failed(error: anyhow::Error) -> Failure {
    match error.downcast() {
        Ok(error) => FarmError::Store(error).into(),
        Err(error) => Failure::internal(format!("the history: {}", output::told(&error))),
    }
}

fn kind(file: &str) -> &'static str {
    match file.rsplit_once('.') {
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        _ => "text/html; charset=utf-8",
    }
}
