//! Servers started by `assay load`, one for each side and each combination of their parameter
//! values, and the check before measuring that all servers answer.

use super::options::Args;
use super::settings::LoadSettings;
use super::telling::Telling;
use crate::load::{Generators, LoadSlot};
use crate::revisions::{self, Prepared, RevisionRequest};
use crate::run_error::RunError;
use crate::scan::fill;
use anyhow::{Context, bail};
use assay_data::Unit;
use assay_load::{Failure, GeneratorJob, Tally, Target};
use assay_measure::Command;
use assay_measure::interrupt;
use assay_measure::serving::Server;
use assay_report::number;
use std::net::TcpListener;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Minimum time limit of a check, in seconds.
const LAST_LOOK: f64 = 1.0;
/// Maximum number of attempts at a request that fails immediately. A server that fails only
/// sometimes can be measured.
const LOOKS: u32 = 5;
/// Minimum age of a server that counts as running, in seconds. If another process listens at the
/// same address, an answer alone does not show that the server started.
const STARTED: f64 = 0.1;
/// Pause between two checks.
const PAUSE: Duration = Duration::from_millis(20);

/// Prepares the revisions whose servers are to be started; `None` if no revisions were requested.
pub(super) fn prepare(args: &Args, asked: &LoadSettings) -> anyhow::Result<Option<Prepared>> {
    let Some(typed) = asked.commands.first().filter(|_| !args.revisions.rev.is_empty()) else {
        return Ok(None);
    };
    let wanted = RevisionRequest {
        revisions: &args.revisions.rev,
        line: args.revisions.build.as_deref().unwrap_or("true"),
        program: &Command::parse(typed, false).with_context(|| format!("--serve {typed}"))?,
        directory: None,
        links: None,
        if_same: Some("give one server twice, by two --serve"),
        quiet: args.record.show.quiet,
    };
    revisions::prepare(&wanted).map(Some)
}

/// Starts the servers, with those of `prepared` revisions in their own trees, and sets their
/// addresses in `places`.
pub(super) fn start(
    args: &Args,
    asked: &LoadSettings,
    prepared: Option<&Prepared>,
    places: &mut [LoadSlot],
    telling: &Telling,
) -> anyhow::Result<Vec<Server>> {
    let mut servers: Vec<Server> = Vec::new();
    let mut lines: Vec<(usize, String, u16)> = Vec::new();
    for place in places.iter_mut().filter(|_| !asked.commands.is_empty()) {
        let typed = fill(&asked.commands[place.side], &place.parameters);
        let known = lines.iter().position(|(side, line, _)| (*side, line) == (place.side, &typed));
        let index = match known {
            Some(index) => index,
            None => {
                let port = free_port()?;
                let line = typed.replace("{port}", &port.to_string());
                let mut command =
                    Command::parse(&line, false).with_context(|| format!("--serve {typed}"))?;
                if let Some(own) = prepared.and_then(|all| all.commands.get(place.side)) {
                    command.cwd.clone_from(&own.cwd);
                    command.argv[0].clone_from(&own.argv[0]);
                }
                telling.starting(&line);
                let directory = std::env::temp_dir();
                servers.push(Server::start(&command, &args.serve.pin_servers, &directory)?);
                lines.push((place.side, typed, port));
                lines.len() - 1
            }
        };
        place.server = Some(index);
        let url = asked.url(place.side, &place.parameters, lines[index].2);
        place.job = asked.job(args, &url, &place.parameters)?;
    }
    Ok(servers)
}

/// Returns an unused port. If another process takes the port before the server does, the server
/// reports the conflict.
fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?;
    Ok(listener.local_addr()?.port())
}

/// Waits until every server that was started here answers, and checks that the other servers
/// answer.
pub(super) fn await_answers(
    args: &Args,
    asked: &LoadSettings,
    places: &[LoadSlot],
    servers: &[Server],
    generators: &mut Generators,
    telling: &Telling,
) -> anyhow::Result<()> {
    let mut seen: Vec<(usize, Option<usize>)> = Vec::new();
    for place in places {
        if seen.contains(&(place.side, place.server)) {
            continue;
        }
        seen.push((place.side, place.server));
        let name = &asked.sides[place.side].name;
        match place.server {
            None => {
                let mut target = place.job.scenario.requests[0].target.clone();
                if args.pace.replay.is_some() {
                    // The paths to be requested are in the access log.
                    target = target.with_path("/");
                }
                if let Some(why) = refused(args, &place.job, &target, generators)? {
                    bail!("{target}: {why}");
                }
            }
            Some(index) => {
                let mut job = place.job.clone();
                if let Some(ready) = &args.serve.ready {
                    let port = job.scenario.requests[0].target.port;
                    let target = Target::parse(&ready.replace("{port}", &port.to_string()))
                        .context("--ready")?;
                    job.scenario = assay_load::Scenario::of(assay_load::Request::get(target));
                }
                await_one(args, &job, &servers[index], name, generators, telling)?;
            }
        }
        check_paths(args, &place.job, generators)?;
    }
    Ok(())
}

/// Checks that the server answers every `--path`. Sessions are not checked, because later steps may
/// depend on the first.
fn check_paths(args: &Args, job: &GeneratorJob, generators: &mut Generators) -> anyhow::Result<()> {
    if job.scenario.session {
        return Ok(());
    }
    for request in job.scenario.requests.iter().skip(1) {
        let mut own = job.clone();
        own.scenario.requests = vec![request.clone()];
        if let Some(why) = refused(args, &own, &request.target, generators)? {
            bail!("--path {}: {why}", request.target.path);
        }
    }
    Ok(())
}

/// Makes the first request of a job until it is answered, at most [`LOOKS`] times. Returns why the
/// last attempt failed, if it did.
fn refused(
    args: &Args,
    job: &GeneratorJob,
    target: &Target,
    generators: &mut Generators,
) -> anyhow::Result<Option<String>> {
    let patience = args.connect.timeout;
    let began = Instant::now();
    for left in (0..LOOKS).rev() {
        let tally = look(generators, job, patience)?;
        let Some(why) = refusal(args, &tally, target, patience) else { return Ok(None) };
        if left == 0 || began.elapsed().as_secs_f64() > LAST_LOOK {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

fn await_one(
    args: &Args,
    job: &GeneratorJob,
    server: &Server,
    name: &str,
    generators: &mut Generators,
    telling: &Telling,
) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        telling.waiting(name, began.elapsed().as_secs_f64());
        still_runs(server, name, job)?;
        let left = args.serve.ready_timeout - began.elapsed().as_secs_f64();
        let patience = args.connect.timeout.min(left.max(LAST_LOOK));
        let tally = look(generators, job, patience)?;
        let target = &job.scenario.requests[0].target;
        let Some(why) = refusal(args, &tally, target, patience) else {
            while began.elapsed().as_secs_f64() < STARTED {
                still_runs(server, name, job)?;
                sleep(PAUSE);
            }
            return still_runs(server, name, job);
        };
        if began.elapsed().as_secs_f64() > args.serve.ready_timeout {
            let said = server.output_tail();
            let said = if said.trim().is_empty() {
                String::new()
            } else {
                format!("; it said:\n{}", said.trim())
            };
            bail!(
                "the server {name} does not answer at {target} after {} s: {why}{said}",
                args.serve.ready_timeout
            );
        }
        sleep(PAUSE);
    }
}

/// Returns an error if the server has ended.
fn still_runs(server: &Server, name: &str, job: &GeneratorJob) -> anyhow::Result<()> {
    match server.ended() {
        Some(how) => bail!(
            "--serve: a server must keep running in the foreground and listen at {}, but {name} {how}",
            job.scenario.requests[0].target
        ),
        None => Ok(()),
    }
}

/// Makes one request, with a time limit of `patience` seconds.
fn look(generators: &mut Generators, job: &GeneratorJob, patience: f64) -> anyhow::Result<Tally> {
    let before = interrupt::count();
    let tally = generators.probe(job, patience)?;
    if interrupt::count() > before {
        return Err(RunError::Interrupted("before anything was measured".to_owned()).into());
    }
    Ok(tally)
}

/// Returns the reason why a server cannot be loaded; `None` if it can be.
fn refusal(args: &Args, tally: &Tally, target: &Target, patience: f64) -> Option<String> {
    let failure = Failure::ALL.into_iter().find(|&failure| tally.failed_as(failure) > 0)?;
    let status = tally.statuses.keys().next().copied().unwrap_or_default();
    let detail = tally.details.get(&failure).map(String::as_str);
    let within = format!("within {}", number::rough(patience, &Unit::Second));
    let speaks_tls = "does it speak TLS at this port?";
    let in_plain = target.to_string().replacen("https://", "http://", 1);
    let by_tls = target.to_string().replacen("http://", "https://", 1);
    Some(match failure {
        Failure::Refused if target.socket.is_some() => "nothing listens at that socket".to_owned(),
        Failure::Refused if args.serve.serve.is_empty() => {
            "nothing listens there; start the server first, or let assay start it: --serve COMMAND"
                .to_owned()
        }
        Failure::Refused => "nothing listens there".to_owned(),
        Failure::Reset | Failure::Closed if detail.is_some() => {
            detail.unwrap_or_default().to_owned()
        }
        Failure::Reset | Failure::Closed if args.connect.http2 => {
            "it closed the connection without a response: does it speak HTTP/2 at this port?"
                .to_owned()
        }
        Failure::Reset | Failure::Closed => {
            let instead = match target.tls {
                true => String::new(),
                false => format!("; if it speaks TLS, load {by_tls}"),
            };
            format!("it closed the connection without a response{instead}")
        }
        Failure::ConnectTimeout => format!("no connection {within}"),
        Failure::TlsTimeout => format!("no TLS handshake {within}: {speaks_tls}"),
        Failure::Timeout => match detail {
            Some(detail) => format!(
                "{detail} {within}; use --timeout to wait longer (a response without an end can't be measured)"
            ),
            None => format!("no answer {within}; to wait longer, use --timeout"),
        },
        Failure::Tls => {
            let why = detail.unwrap_or("the connection was closed");
            match why.contains("certificate") {
                // A server that ends the handshake with an alert does speak TLS, and the alert
                // explains what to do.
                _ if why.contains("an alert") => format!("TLS: {why}"),
                true if why.contains("not valid for name") => format!(
                    "TLS: {why}; request a name that it has with --sni NAME, or accept any certificate with --insecure"
                ),
                true => format!(
                    "TLS: {why}; trust its certificate with --ca FILE, or accept any with --insecure"
                ),
                // The response does not start with a TLS record.
                false if why.contains("InvalidContentType") => {
                    format!("it does not answer in TLS; without TLS, load {in_plain}")
                }
                false => format!("TLS: {why}: {speaks_tls}"),
            }
        }
        Failure::Malformed => match detail {
            Some(detail) if args.connect.http2 => {
                format!("{detail}: does it speak HTTP/2 at this port?")
            }
            Some(detail) => format!("its response is not valid HTTP: {detail}"),
            None => "its response is not in the requested version of HTTP".to_owned(),
        },
        Failure::WrongLength => {
            "its response does not have the length that it declares (Content-Length, or a chunk)".to_owned()
        }
        Failure::WrongStatus if detail.is_some() => {
            format!("{}: status {status}; leave out --follow, or add --expect-status {status}", detail.unwrap_or_default())
        }
        Failure::WrongStatus if status == 101 => {
            "it switches to another protocol (status 101), so no HTTP follows; to measure this anyway, add --expect-status 101".to_owned()
        }
        Failure::WrongStatus if status == 400 && !target.tls && target.socket.is_none() => format!(
            "it answers with status 400, as TLS servers do to plain requests; if this is one, load {by_tls}; if 400 is right, add --expect-status 400"
        ),
        Failure::WrongStatus => {
            format!(
                "it answers with status {status}; if that is right, add --expect-status {status}"
            )
        }
        Failure::RedirectLoop => format!(
            "it redirects more than ten times, the last time to {}",
            detail.unwrap_or("itself")
        ),
        Failure::RedirectedAway => format!(
            "it redirects to another server, {}; only the server that was named is loaded: load that one, or leave out --follow",
            detail.unwrap_or("which is not named")
        ),
        Failure::WrongBody => "its response does not contain the text of --expect-body".to_owned(),
        Failure::StreamReset => match detail {
            Some(detail) => detail.to_owned(),
            None => "it ended the stream of HTTP/2 with an error".to_owned(),
        },
        Failure::NoPort => "this machine has no free local port".to_owned(),
        Failure::NoDescriptor => "this process may open no more descriptors: ulimit -n".to_owned(),
        Failure::Unreachable => "there is no route to it".to_owned(),
    })
}
