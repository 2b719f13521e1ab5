//! The pages: the contents of the store, rendered by the report crate. They are routes like those
//! of the API and use the same functions. Browsers cannot add a token to a request, so the token is
//! kept in a cookie that is accepted only for reading (`enter`).
//!
//! The most frequently read pages are rendered again only when their contents have changed
//! (`kept`). A page's entity tag is a digest of its bytes. Since no page contains the time of
//! rendering, an unchanged page is not sent again to a browser that already has it.

pub(crate) mod conversion;
mod history;
pub(crate) mod verdicts;

pub(crate) use super::answer::Failure;
use super::answer::LogOwner;
use super::answer::{Answer, Body};
use super::jobs::{of_build, of_job};
use super::lists::TOOL;
use super::request::{ApiRequest, Context};
use super::route::AnswerBasis;
use super::route::{Handler, Permission, Route, Threads, Verb};
use assay_analysis::farm::{Judged, Options, judge};
use assay_farm::builds::model::Progress;
use assay_farm::builds::shown::Queue;
use assay_farm::builds::wire::{Job, Matrix};
use assay_farm::builds::{Filter, Store};
use assay_report::farm::{self as report, Compared, Frame, JobLine, POLICY};
use conversion::JudgedMatrix;

/// Number of versions in the matrix on a project's page.
const FEW: i64 = 20;
/// Number of versions on the separate page of a project's matrix.
const MANY: i64 = 60;
/// Maximum number of rows of the waterfall, and of projects on the home page.
const ROWS: i64 = 100;
/// Number of versions on the page of a benchmark.
const BENCHMARK: i64 = 12;
/// Maximum number of bytes at the end of a log that are shown on the page of its build.
const LOG: u64 = 256 << 10;
/// Name of the cookie that holds a token.
pub(crate) const COOKIE: &str = "assay-farm-token";
/// Lifetime of the cookie, s.
const KEPT: u64 = 30 * 24 * 60 * 60;
/// Maximum size of the form for entering a token, bytes.
const ENTERING: usize = 4 << 10;

/// Message for readers without a valid token.
const TOKENLESS: &str = "These pages require a valid token of this farm.";

const HTML: &str = "text/html; charset=utf-8";

const fn page(path: &'static str, handler: Handler) -> Route {
    Route {
        method: Verb::Get,
        path,
        does: "",
        needs: Permission::Read,
        threads: Threads::Read,
        glance: None,
        handler,
        limit: 0,
        takes: None,
        gives: None,
        query: &[],
        audited: false,
        stands: None,
    }
}

/// Marks a page as cached: it is rendered again only when the rows that it depends on have changed.
const fn kept(of: AnswerBasis, page: Route) -> Route {
    Route { stands: Some(of), ..page }
}

/// All pages. They are not part of the API.
pub(crate) const PAGES: &[Route] = &[
    kept(AnswerBasis::Home, page("/", home)),
    page("/waterfall", waterfall),
    page("/builds/{build}", build),
    page("/jobs/{id}", job),
    page("/nodes/{node}", node),
    kept(AnswerBasis::Project, page("/{owner}/{project}", project)),
    kept(AnswerBasis::Project, page("/{owner}/{project}/matrix", matrix)),
    kept(AnswerBasis::Project, page("/{owner}/{project}/benchmark", benchmark)),
    // The first page of a history reads all series of the project, which is slow.
    Route { threads: Threads::Slow, ..page("/{owner}/{project}/history/{file}", history::page) },
    Route {
        threads: Threads::Slow,
        ..page("/{owner}/{project}/history/{directory}/{file}", history::page)
    },
    // The badge is public because READMEs embed it. It shows only the results of the newest
    // version.
    kept(
        AnswerBasis::Project,
        Route { needs: Permission::Nothing, ..page("/{owner}/{project}/badge.svg", badge) },
    ),
    Route { needs: Permission::Nothing, ..page("/assets/{file}", asset) },
    Route { needs: Permission::Nothing, ..page("/enter", entrance) },
    Route {
        method: Verb::Post,
        needs: Permission::Nothing,
        limit: ENTERING,
        ..page("/enter", enter)
    },
];

/// Returns true if the path is that of a page rather than of the API.
pub(crate) fn is_page(path: &str) -> bool {
    path != "/api" && !path.starts_with("/api/")
}

fn frame() -> Frame {
    Frame { tool: TOOL.to_owned(), root: String::new() }
}

fn drawn<E: std::fmt::Display>(page: Result<String, E>) -> Result<Answer, Failure> {
    let page = page.map_err(|error| Failure::internal(format!("a page: {error}")))?;
    let answer = Answer::bytes(HTML, page.into_bytes());
    Ok(answer.with("content-security-policy", POLICY.to_owned()))
}

/// Renders a failure as an HTML page.
pub(crate) fn refused(status: u16, message: &str) -> Vec<u8> {
    // The original message for status 401 is for programs and mentions headers.
    let message = if status == 401 { TOKENLESS } else { message };
    let page = report::refused(&frame(), status, message);
    page.unwrap_or_else(|_| message.escape_debug().to_string()).into_bytes()
}

fn home(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let home = store.home(asked.word("after"), ROWS)?;
    let projects: Vec<report::ProjectLine> = home
        .projects
        .iter()
        .map(|line| report::ProjectLine {
            owner: line.owner.clone(),
            name: line.name.clone(),
            builds: conversion::sums(&line.builds),
            newest: line.newest.as_ref().map(conversion::version_line),
            last: line.last.as_ref().map(|last| last.added.clone()),
        })
        .collect();
    drawn(report::home(&report::Home {
        frame: &frame(),
        builds: &conversion::sums(&home.builds),
        queued: (home.queue.queued, home.queue.leased),
        most: Queue::MOST,
        projects: &projects,
        next: home.next.as_deref(),
        latest: &conversion::lines(&home.latest),
    }))
}

/// Returns a project's matrix, its form used for judging, the verdicts on its versions, and the
/// cursor for older versions.
///
/// # Errors
/// If the project does not exist, or the store cannot be read.
pub(crate) fn judged(
    store: &Store,
    owner: &str,
    name: &str,
    after: Option<&str>,
    most: i64,
) -> Result<(Matrix, JudgedMatrix, Vec<Judged>, Option<String>), Failure> {
    let (matrix, next) = store.matrix(owner, name, after, most)?;
    let known = JudgedMatrix::of(&matrix);
    let judged = judge(&known.project, &known.newest_first(), &Options::default());
    Ok((matrix, known, judged, next))
}

fn project(store: &mut Store, context: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    of_project(store, context, asked, FEW, report::project)
}

fn matrix(store: &mut Store, context: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    of_project(store, context, asked, MANY, report::matrix_page)
}

fn of_project<E: std::fmt::Display>(
    store: &Store,
    _: &Context,
    asked: &ApiRequest,
    most: i64,
    draw: fn(&report::ProjectPage<'_>) -> Result<String, E>,
) -> Result<Answer, Failure> {
    let (owner, name) = (asked.part("owner"), asked.part("project"));
    let page = store.project_page(owner, name, None, 1)?;
    let (matrix, known, judged, next) = judged(store, owner, name, asked.word("after"), most)?;
    let history = history::place(store, owner, name, "")?;
    let jobs: Vec<JobLine> = page.jobs.iter().map(|job| job_line(job, &matrix)).collect();
    drawn(draw(&report::ProjectPage {
        frame: &frame(),
        owner,
        name,
        origin: &conversion::origin(page.project.of.origin.as_ref()),
        builds: &conversion::sums(&page.builds),
        matrix: report::Matrix {
            project: &known.project,
            notes: &known.notes,
            judged: &judged,
            builds: &known.builds,
        },
        next: next.as_deref(),
        history: history.as_deref(),
        jobs: &jobs,
        latest: &conversion::lines(&page.latest),
    }))
}

fn job_line(job: &Job, matrix: &Matrix) -> JobLine {
    let target = job.of.target.as_ref().map(|digest| {
        let known = matrix.targets.iter().find(|target| target.digest == *digest);
        known.map_or_else(|| digest.chars().take(12).collect(), |target| target.of.name.clone())
    });
    let needs = || {
        let needs: Vec<String> =
            job.of.needs.iter().map(|(name, value)| format!("{name} {value}")).collect();
        if needs.is_empty() { "any".to_owned() } else { needs.join(", ") }
    };
    JobLine {
        id: job.id,
        version: job.of.version.clone(),
        kind: conversion::word(job.of.kind),
        target: target.unwrap_or_else(needs),
        progress: conversion::word(job.progress),
        node: job.node.clone(),
        attempts: job.attempts,
    }
}

fn benchmark(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let (owner, name) = (asked.part("owner"), asked.part("project"));
    let wanted = asked
        .word("name")
        .ok_or_else(|| Failure::bad("name=: the name of a benchmark is required"))?;
    let metric = asked.word("metric").unwrap_or("wall");
    let (_, known, judged, _) = judged(store, owner, name, asked.word("after"), BENCHMARK)?;
    let history = history::place(store, owner, name, wanted)?;
    drawn(report::benchmark(&report::BenchmarkPage {
        frame: &frame(),
        owner,
        name,
        benchmark: wanted,
        metric,
        project: &known.project,
        judged: &judged,
        history: history.as_deref(),
    }))
}

fn waterfall(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let filter: Filter<'_> = asked.filter()?;
    let found = store.waterfall(&filter, asked.word("after"), ROWS)?;
    drawn(report::waterfall(&report::Waterfall {
        frame: &frame(),
        builds: &conversion::lines(&found.builds),
        next: found.next.as_deref(),
    }))
}

/// Returns the end of a log, beginning with a complete line, and the number of bytes before it.
fn end_of_log(context: &Context, of: LogOwner) -> Result<(Vec<u8>, u64), Failure> {
    let mut before = context.logs.state(of).bytes.saturating_sub(LOG);
    let mut log = context.logs.read(of, before, LOG as usize)?;
    if before > 0
        && let Some(end) = log.iter().position(|byte| *byte == b'\n')
    {
        log.drain(..=end);
        before += end as u64 + 1;
    }
    Ok((log, before))
}

fn build(store: &mut Store, context: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let page = store.build_page(asked.number("build")?)?;
    let of = of_build(store, asked)?;
    let state = context.logs.state(of);
    let (log, before) = end_of_log(context, of)?;
    let outcome = &page.build.of.outcome;
    let compared: Vec<Compared> = outcome
        .comparisons
        .iter()
        .map(|one| Compared {
            benchmark: one.benchmark.clone(),
            metric: one.metric.clone(),
            verdict: one.verdict.clone(),
            ratio: one.ratio,
            lower: one.lower,
            upper: one.upper,
            n: one.n,
        })
        .collect();
    drawn(report::build(&report::BuildPage {
        frame: &frame(),
        line: &conversion::line(&page.line),
        facts: &page.facts,
        framework: outcome.evidence.framework.as_deref(),
        skipped: outcome.evidence.skipped,
        assertions: outcome.evidence.assertions,
        failures: &outcome.evidence.failures,
        repeat: &outcome.repeat,
        base: page.base.as_deref(),
        compared: &compared,
        has_samples: page.build.has_samples,
        leases: &page.leases.iter().map(conversion::lease).collect::<Vec<_>>(),
        others: &conversion::lines(&page.others),
        log: &log,
        log_before: before,
        log_cut: state.cut.max(outcome.log_cut),
    }))
}

fn job(store: &mut Store, context: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let id = asked.number("id")?;
    let page = store.job_page(id)?;
    let (of, runs) = of_job(store, asked)?;
    let (log, before) = end_of_log(context, of)?;
    let follow = format!("/api/v1/jobs/{id}/log/follow");
    let runs = runs && page.progress == Progress::Leased;
    let build = page.job.build.map(|id| store.build_page(id)).transpose()?;
    let build = build.map(|page| conversion::line(&page.line));
    drawn(report::job(&report::JobPage {
        frame: &frame(),
        id,
        owner: &page.job.of.owner,
        project: &page.job.of.project,
        version: &page.job.of.version,
        kind: &conversion::word(page.job.of.kind),
        progress: &conversion::word(page.progress),
        build: build.as_ref(),
        leases: &page.leases.iter().map(conversion::lease).collect::<Vec<_>>(),
        log: &log,
        log_before: before,
        follow: runs.then_some(follow.as_str()),
    }))
}

fn node(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let page = store.node_page(asked.part("node"))?;
    let targets: Vec<String> = page.targets.values().cloned().collect();
    let calibrations: Vec<report::Calibration> =
        page.calibrations.iter().map(conversion::calibration).collect();
    drawn(report::node(&report::NodePage {
        frame: &frame(),
        name: &page.node.name,
        tool: &page.node.tool,
        seen: &page.node.seen,
        clock_ahead: page.node.clock_ahead,
        drained: page.node.drained.as_deref(),
        targets: &targets,
        jobs: &page.node.jobs,
        calibrations: &calibrations,
        latest: &conversion::lines(&page.latest),
    }))
}

fn badge(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let page = store.project_page(asked.part("owner"), asked.part("project"), None, FEW)?;
    // The badge shows the newest version that has any result.
    let newest = page.versions.iter().find(|version| !version.states.is_empty());
    let states = newest.map_or_else(Vec::new, |version| conversion::sums(&version.states));
    let drawn = report::badge(newest.map(|version| version.name.as_str()), &states);
    let drawn = drawn.map_err(|error| Failure::internal(format!("a badge: {error}")))?;
    let answer = Answer::bytes("image/svg+xml", drawn.into_bytes());
    // These headers allow pages of other sites to embed the badge.
    Ok(answer
        .with("cross-origin-resource-policy", "cross-origin".to_owned())
        .with("cache-control", "public, max-age=60".to_owned()))
}

fn asset(_: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let wanted = asked.part("file");
    let found = report::SHARED.iter().find(|(name, ..)| *name == wanted);
    let (_, kind, text) = found.ok_or_else(Failure::no_path)?;
    Ok(Answer::bytes(kind, text.as_bytes().to_vec()))
}

fn entrance(_: &mut Store, _: &Context, _: &ApiRequest) -> Result<Answer, Failure> {
    drawn(report::refused(&frame(), 401, TOKENLESS))
}

/// Checks the token in a submitted form and returns it as a cookie. Scripts cannot read the cookie,
/// and browsers do not send it with requests from other sites.
fn enter(store: &mut Store, context: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let body =
        std::str::from_utf8(&asked.body).map_err(|_| Failure::bad("the form is not text"))?;
    let form = super::query::read(body)?;
    let secret = form.get("token").map_or("", |token| token.trim());
    store.token_of(secret, asked.now)?.ok_or_else(Failure::unauthorized)?;
    let secure = if context.is_secure { "; Secure" } else { "" };
    let cookie =
        format!("{COOKIE}={secret}; Path=/; Max-Age={KEPT}; HttpOnly; SameSite=Strict{secure}");
    Ok(Answer::of(303, "", Body::Whole(Vec::new()))
        .with("location", "/".to_owned())
        .with("set-cookie", cookie))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use crate::server::routes::ROUTES;
    use assay_history::{Access, StoreLocation};

    #[test]
    fn no_owner_can_be_called_as_the_path_of_a_page() {
        let room = tempfile::tempdir().unwrap();
        let place = StoreLocation::File(room.path().join("farm.sqlite"));
        let store = Store::open(&place, Access::Write).unwrap();
        let mut refused = 0;
        for route in PAGES.iter().chain(ROUTES) {
            let mut parts = route.path.split('/').skip(1);
            let (Some(first), Some(_)) = (parts.next(), parts.next()) else { continue };
            if !first.starts_with('{') {
                assert!(store.add_owner(first).is_err(), "{}", route.path);
                refused += 1;
            }
        }
        assert!(refused > ROUTES.len());
    }
}
