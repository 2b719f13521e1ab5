//! All routes of the API with their permissions, bodies, answers and handlers. Both the router and
//! the OpenAPI document are created from this list, so they cannot differ.

use super::pages::verdicts;
use super::route::AnswerBasis;
use super::route::{Handler, Permission, Route, Shape, Threads, Verb};
use super::{jobs, lists, nodes, samples, things, tokens};
use crate::policy::{BODY, LOG_PIECE, SAMPLES};
use assay_farm::builds::{shown, wire};

#[cfg(test)]
const fn of<T: schemars::JsonSchema>() -> Shape {
    |generator| generator.subschema_for::<T>()
}

#[cfg(not(test))]
#[expect(clippy::extra_unused_type_parameters, reason = "as where schemas are generated")]
const fn of<T>() -> Shape {
    Shape
}

const LIST: &[&str] = &["after", "limit"];
const BUILDS: &[&str] =
    &["owner", "project", "version", "target", "node", "state", "after", "limit"];

const fn get(path: &'static str, does: &'static str, handler: Handler, gives: Shape) -> Route {
    Route {
        method: Verb::Get,
        path,
        does,
        needs: Permission::Read,
        threads: Threads::Read,
        glance: None,
        handler,
        limit: 0,
        takes: None,
        gives: Some(gives),
        query: &[],
        audited: false,
        stands: None,
    }
}

const fn list(path: &'static str, does: &'static str, handler: Handler, gives: Shape) -> Route {
    Route { query: LIST, ..get(path, does, handler, gives) }
}

/// Marks a route as cached: its answer is reused until the rows that it depends on change.
const fn kept(of: AnswerBasis, route: Route) -> Route {
    Route { stands: Some(of), ..route }
}

const fn change(
    method: Verb,
    path: &'static str,
    needs: Permission,
    does: &'static str,
    handler: Handler,
    gives: Shape,
) -> Route {
    Route {
        method,
        needs,
        threads: Threads::Write,
        limit: BODY,
        audited: true,
        ..get(path, does, handler, gives)
    }
}

const fn taking(route: Route, takes: Shape) -> Route {
    Route { takes: Some(takes), ..route }
}

/// Marks a route as frequent, so that its requests are not recorded in the audit log.
const fn often(route: Route) -> Route {
    Route { audited: false, ..route }
}

/// Marks a route as one that accepts a body of up to `limit` bytes.
const fn bytes(
    route: Route,
    limit: usize,
    threads: Threads,
    query: &'static [&'static str],
) -> Route {
    Route { limit, threads, query, ..route }
}

const OWNER: &str = "/api/v1/owners/{owner}";
const PROJECT: &str = "/api/v1/owners/{owner}/projects/{project}";
const VERSION: &str = "/api/v1/owners/{owner}/projects/{project}/versions/{version}";
const TARGET: &str = "/api/v1/targets/{digest}";
const TOKEN: &str = "/api/v1/tokens/{id}";

use Verb::{Delete, Post, Put};

/// All routes of the API.
pub(crate) const ROUTES: &[Route] = &[
    Route {
        needs: Permission::Nothing,
        ..get(
            "/api/v1",
            "Name, version and clock of the server",
            lists::about,
            of::<lists::ApiInfo>(),
        )
    },
    Route {
        needs: Permission::Nothing,
        gives: None,
        ..get("/api/v1/openapi.json", "This document", lists::openapi, of::<()>())
    },
    list("/api/v1/owners", "Lists owners by name", things::owners, of::<wire::Page<wire::Owner>>()),
    get(OWNER, "Returns an owner", things::owner, of::<wire::Owner>()),
    change(
        Put,
        OWNER,
        Permission::Submit,
        "Adds an owner, or returns an existing one",
        things::add_owner,
        of::<wire::Owner>(),
    ),
    list(
        "/api/v1/owners/{owner}/projects",
        "Lists projects by name",
        things::projects,
        of::<wire::Page<wire::Project>>(),
    ),
    get(PROJECT, "A project", things::project, of::<wire::Project>()),
    taking(
        change(
            Put,
            PROJECT,
            Permission::Submit,
            "Adds a project, or changes an existing one",
            things::add_project,
            of::<wire::Project>(),
        ),
        of::<wire::NewProject>(),
    ),
    list(
        "/api/v1/owners/{owner}/projects/{project}/versions",
        "Lists versions, newest first",
        things::versions,
        of::<wire::Page<wire::Version>>(),
    ),
    get(VERSION, "A version", things::version, of::<wire::Version>()),
    taking(
        change(
            Put,
            VERSION,
            Permission::SubmitOrAgent,
            "Adds a version and queues a job for each suitable target, or returns an existing version",
            things::add_version,
            of::<wire::Version>(),
        ),
        of::<wire::NewVersion>(),
    ),
    change(
        Delete,
        VERSION,
        Permission::SubmitOrAgent,
        "Marks a version as gone from its origin, and cancels its jobs unless the request is from an agent; results are kept",
        things::gone,
        of::<wire::Version>(),
    ),
    list(
        "/api/v1/owners/{owner}/projects/{project}/versions/{version}/benched",
        "Lists benchmark results of a version",
        lists::benched,
        of::<wire::Page<shown::TargetBenchmarks>>(),
    ),
    kept(
        AnswerBasis::Project,
        list(
            "/api/v1/owners/{owner}/projects/{project}/page",
            "Returns the data of a project's page",
            lists::project,
            of::<shown::ProjectPage>(),
        ),
    ),
    kept(
        AnswerBasis::Project,
        list(
            "/api/v1/owners/{owner}/projects/{project}/matrix",
            "Returns the matrix of versions and targets, newest versions first",
            lists::matrix,
            of::<wire::Matrix>(),
        ),
    ),
    kept(
        AnswerBasis::Project,
        list(
            "/api/v1/owners/{owner}/projects/{project}/verdicts",
            "Returns the verdict on each version over all targets, newest first",
            verdicts::verdicts,
            of::<verdicts::Verdicts>(),
        ),
    ),
    list(
        "/api/v1/targets",
        "Lists targets in the order of adding",
        things::targets,
        of::<wire::Page<wire::Target>>(),
    ),
    get(TARGET, "A target", things::target, of::<wire::Target>()),
    taking(
        change(
            Put,
            TARGET,
            Permission::SubmitOrAgent,
            "Adds a target and queues jobs for the newest versions, and for versions without any target, or returns an existing target",
            things::add_target,
            of::<wire::Target>(),
        ),
        of::<wire::NewTarget>(),
    ),
    kept(
        AnswerBasis::Home,
        list("/api/v1/home", "Returns the data of the home page", lists::home, of::<shown::Home>()),
    ),
    Route {
        query: BUILDS,
        ..get(
            "/api/v1/builds",
            "Lists builds, latest first",
            lists::builds,
            of::<wire::Page<wire::Build>>(),
        )
    },
    Route {
        query: BUILDS,
        ..get(
            "/api/v1/waterfall",
            "Lists summaries of builds, latest first",
            lists::waterfall,
            of::<shown::Waterfall>(),
        )
    },
    get("/api/v1/builds/{build}", "A build", lists::build, of::<wire::Build>()),
    taking(
        change(
            Put,
            "/api/v1/builds/{build}",
            Permission::SubmitOrAgent,
            "Adds the result of a version without a job, by its key",
            jobs::add_build,
            of::<wire::Build>(),
        ),
        of::<wire::NewBuild>(),
    ),
    get(
        "/api/v1/builds/{build}/page",
        "Returns the data of a build's page",
        lists::build_page,
        of::<shown::BuildPage>(),
    ),
    Route {
        gives: None,
        query: &["offset"],
        ..get(
            "/api/v1/builds/{build}/log",
            "Returns bytes of a build's log",
            jobs::log_of_build,
            of::<()>(),
        )
    },
    often(bytes(
        change(
            Put,
            "/api/v1/builds/{build}/log",
            Permission::SubmitOrAgent,
            "Adds bytes to the log of a build without a job, by its key; bytes already stored are ignored",
            jobs::add_log_of_build,
            of::<wire::LogExtent>(),
        ),
        LOG_PIECE,
        Threads::Write,
        &["offset"],
    )),
    Route {
        gives: None,
        query: &["offset"],
        ..get(
            "/api/v1/builds/{build}/log/follow",
            "Streams a build's log as server-sent events",
            jobs::follow_build,
            of::<()>(),
        )
    },
    Route {
        gives: None,
        ..get(
            "/api/v1/builds/{build}/samples",
            "Returns a build's sample file",
            samples::of_build,
            of::<()>(),
        )
    },
    bytes(
        change(
            Put,
            "/api/v1/builds/{build}/samples",
            Permission::SubmitOrAgent,
            "Adds the sample file of a build without a job, by its key",
            samples::add_of_build,
            of::<samples::SampleLocation>(),
        ),
        SAMPLES,
        Threads::Slow,
        &[],
    ),
    Route {
        query: &["progress", "after", "limit"],
        ..get(
            "/api/v1/jobs",
            "Lists unfinished jobs; with progress=queued only waiting ones, most urgent first",
            jobs::jobs,
            of::<wire::Page<wire::Job>>(),
        )
    },
    taking(
        change(
            Post,
            "/api/v1/jobs",
            Permission::Submit,
            "Queues a job, or returns an unfinished one",
            jobs::add,
            of::<wire::Job>(),
        ),
        of::<wire::NewJob>(),
    ),
    get("/api/v1/jobs/{id}", "A job", jobs::job, of::<wire::Job>()),
    change(
        Delete,
        "/api/v1/jobs/{id}",
        Permission::Submit,
        "Cancels a job",
        jobs::cancel,
        of::<wire::Job>(),
    ),
    get("/api/v1/jobs/{id}/page", "A job with its leases", jobs::page, of::<shown::JobPage>()),
    often(taking(
        change(
            Post,
            "/api/v1/jobs/{id}/heartbeat",
            Permission::Agent,
            "Extends a lease",
            jobs::beat,
            of::<wire::HeartbeatAnswer>(),
        ),
        of::<wire::Heartbeat>(),
    )),
    Route {
        gives: None,
        query: &["offset"],
        ..get(
            "/api/v1/jobs/{id}/log",
            "Returns bytes of the log of a job's last lease",
            jobs::log_of_job,
            of::<()>(),
        )
    },
    often(bytes(
        change(
            Put,
            "/api/v1/jobs/{id}/log",
            Permission::Agent,
            "Adds bytes to the log of a lease; bytes already stored are ignored",
            jobs::add_log,
            of::<wire::LogExtent>(),
        ),
        LOG_PIECE,
        Threads::Read,
        &["nonce", "offset"],
    )),
    Route {
        gives: None,
        query: &["offset"],
        ..get(
            "/api/v1/jobs/{id}/log/follow",
            "Streams the log of a running job as server-sent events",
            jobs::follow_job,
            of::<()>(),
        )
    },
    bytes(
        change(
            Put,
            "/api/v1/jobs/{id}/samples",
            Permission::Agent,
            "Adds the sample file of a lease, which is kept in the history like any run",
            samples::add,
            of::<samples::SampleLocation>(),
        ),
        SAMPLES,
        Threads::Slow,
        &["nonce"],
    ),
    taking(
        change(
            Put,
            "/api/v1/jobs/{id}/result",
            Permission::Agent,
            "Ends a job with its result",
            jobs::end,
            of::<wire::Build>(),
        ),
        of::<wire::Ending>(),
    ),
    list("/api/v1/nodes", "Lists nodes by name", nodes::nodes, of::<wire::Page<wire::Node>>()),
    get("/api/v1/nodes/{node}", "A node", nodes::node, of::<wire::Node>()),
    get(
        "/api/v1/nodes/{node}/page",
        "Returns the data of a node's page",
        nodes::page,
        of::<shown::NodePage>(),
    ),
    often(taking(
        change(
            Post,
            "/api/v1/nodes/{node}/hello",
            Permission::Agent,
            "Registers an agent",
            nodes::hello,
            of::<wire::Welcome>(),
        ),
        of::<wire::Hello>(),
    )),
    Route {
        glance: Some(nodes::glance),
        ..often(taking(
            change(
                Post,
                "/api/v1/nodes/{node}/lease",
                Permission::Agent,
                "Leases a job, or returns 204 with Retry-After",
                nodes::lease,
                of::<wire::LeasedJob>(),
            ),
            of::<wire::LeaseRequest>(),
        ))
    },
    taking(
        change(
            Post,
            "/api/v1/nodes/{node}/calibration",
            Permission::Agent,
            "Adds the result of a node's A/A run",
            nodes::calibration,
            of::<wire::Node>(),
        ),
        of::<wire::Calibration>(),
    ),
    taking(
        change(
            Post,
            "/api/v1/nodes/{node}/drain",
            Permission::AgentOrAdmin,
            "Drains a node: it gets no more leases",
            nodes::drain,
            of::<wire::Node>(),
        ),
        of::<wire::Reason>(),
    ),
    change(
        Post,
        "/api/v1/nodes/{node}/resume",
        Permission::AgentOrAdmin,
        "Resumes a node: it gets leases again",
        nodes::resume,
        of::<wire::Node>(),
    ),
    Route {
        needs: Permission::Admin,
        ..list(
            "/api/v1/tokens",
            "Lists tokens, without their secrets",
            tokens::tokens,
            of::<wire::Page<wire::Token>>(),
        )
    },
    taking(
        change(
            Post,
            "/api/v1/tokens",
            Permission::Admin,
            "Creates a token, whose secret is shown only this once",
            tokens::add,
            of::<wire::MadeToken>(),
        ),
        of::<wire::NewToken>(),
    ),
    change(
        Delete,
        TOKEN,
        Permission::Admin,
        "Revokes a token",
        tokens::remove,
        of::<wire::Token>(),
    ),
    change(
        Post,
        "/api/v1/tokens/{id}/rotate",
        Permission::Admin,
        "Gives a token a new secret",
        tokens::rotate,
        of::<wire::MadeToken>(),
    ),
    Route {
        needs: Permission::Admin,
        ..list(
            "/api/v1/audit",
            "Lists the audit log, latest first",
            tokens::audit,
            of::<wire::Page<wire::AuditEntry>>(),
        )
    },
];
