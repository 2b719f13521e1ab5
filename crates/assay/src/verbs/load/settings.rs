//! Derives the sides, rates, requests and connections from the options. Everything is checked
//! before anything is started or sent.

use super::options::{Args, HowArrivals, HowTls, HowVersion};
use super::permission::permitted;
use crate::load::{GeneratorLaunch, LoadSlot, MOST_REQUESTS, TRIES};
use crate::scan::{Scan, fill};
use anyhow::{Context, bail, ensure};
use assay_data::code;
use assay_data::samples::without_secrets;
use assay_data::{Environment, Finding, ParameterValue, Side};
use assay_load::{
    Arrivals, ConnectionSettings, Expect, GeneratorJob, Handshakes, Load, Replayed, Request,
    Scenario, Target, Tls, Version, replay, session_of_har, values, without_user,
};
use assay_measure::machine;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Default length of a slice, in seconds.
const SLICE: f64 = 2.0;
/// Default settling time as a fraction of a slice, and its maximum in seconds.
const SETTLE: (f64, f64) = (0.2, 1.0);
/// Minimum length of the slices of a search that are shortened to fit into its time, in seconds.
const SHORTEST_SLICE: f64 = 0.5;
/// Time planned for a search, as a multiple of the total time of its slices.
const SPARE: f64 = 1.2;
/// Default initial rate of a search, in requests per second.
const FIRST_RATE: f64 = 100.0;
/// Default number of connections in a closed loop.
const CONNECTIONS: &str = "16";
/// Name of the parameter that holds the rate of each step.
const RATE: &str = "rate";
const BUSY_CONNECTIONS: &str = "connections";
/// Maximum number of cluster nodes for generators.
const MOST_NODES: u32 = 1000;
/// Maximum time to wait for a node, in seconds. Without it, a load test might hang for hours before
/// it starts.
const NODE_PATIENCE: u32 = 60;

/// The requested settings.
pub(super) struct LoadSettings {
    pub sides: Vec<Side>,
    /// URL of each side, with placeholders for parameters.
    urls: Vec<String>,
    /// Command that starts the server of each side, with placeholders; empty if no servers are
    /// started.
    pub commands: Vec<String>,
    scan: Scan,
    pub is_closed: bool,
    /// How to start each separate generator; empty if this process sends the requests.
    pub ways: Vec<GeneratorLaunch>,
    pub findings: Vec<Finding>,
    connecting: ConnectionSettings,
    replayed: Option<Replayed>,
    har: Option<Vec<Request>>,
    table: (Vec<String>, Vec<Vec<String>>),
}

impl LoadSettings {
    pub fn of(args: &Args) -> anyhow::Result<Self> {
        let (mut names, mut urls): (Vec<Option<String>>, Vec<String>) =
            args.urls.iter().map(|text| named(text)).unzip();
        let (called, mut commands): (Vec<Option<String>>, Vec<String>) =
            args.serve.serve.iter().map(|text| named(text)).unzip();
        if urls.len() == 1 && commands.len() > 1 {
            urls = vec![urls[0].clone(); commands.len()];
            names = vec![None; commands.len()];
        }
        for (name, called) in names.iter_mut().zip(called) {
            *name = name.take().or(called);
        }
        let revisions = &args.revisions.rev;
        if !revisions.is_empty() {
            ensure!(
                commands.len() == 1 && urls.len() == 1,
                "--rev: each revision is served by the same command at the same URL: give one --serve and one URL"
            );
            urls = vec![urls[0].clone(); revisions.len()];
            commands = vec![commands[0].clone(); revisions.len()];
            names = revisions.iter().cloned().map(Some).collect();
        }
        ensure!(
            commands.is_empty() || commands.len() == urls.len(),
            "--serve: {} commands for {} URLs: give one for each",
            commands.len(),
            urls.len()
        );
        let is_closed = args.find.is_none()
            && args.pace.rate.is_none()
            && args.pace.ramp.is_none()
            && args.pace.replay.is_none();
        ensure!(
            !is_closed || args.pace.arrivals == HowArrivals::Constant,
            "--arrivals: without --rate, requests have no schedule; give --rate, or leave out --arrivals"
        );
        check_urls(&urls)?;
        check_placeholders(args, &urls, &commands)?;
        check_tls(args, &urls)?;
        let scan = scan(args, is_closed, urls.len())?;
        let mut texts: Vec<(Option<usize>, &str)> = Vec::new();
        urls.iter().enumerate().for_each(|(side, url)| texts.push((Some(side), url)));
        commands.iter().enumerate().for_each(|(side, line)| texts.push((Some(side), line)));
        let own = Scan::parse(&args.serve.parameter, false, urls.len())?;
        own.check_use(&texts, urls.len())?;
        let sides = side_names(&names, &urls, &commands);
        let connecting = connecting(args, is_closed)?;
        let mut findings = Vec::new();
        let replayed = match &args.pace.replay {
            Some(path) => {
                let bytes =
                    fs::read(path).with_context(|| format!("--replay {}", path.display()))?;
                let found = replay(&String::from_utf8_lossy(&bytes))
                    .with_context(|| format!("--replay {}", path.display()))?;
                if found.skipped > 0 {
                    let message = format!(
                        "{} of {} lines of {} contain no request that can be repeated, and were left out",
                        found.skipped,
                        found.skipped + found.asked.len(),
                        path.display()
                    );
                    findings.push(left_out(message));
                }
                Some(found)
            }
            None => None,
        };
        let har = match &args.ask.har {
            Some(path) => {
                let text = fs::read_to_string(path)
                    .with_context(|| format!("--har {}", path.display()))?;
                let (requests, elsewhere) =
                    session_of_har(&text).with_context(|| format!("--har {}", path.display()))?;
                if elsewhere > 0 {
                    let message = format!(
                        "{elsewhere} requests of {} went to other servers and were left out",
                        path.display()
                    );
                    findings.push(left_out(message));
                }
                Some(requests)
            }
            None => None,
        };
        let table = match &args.ask.values {
            Some(path) => {
                let file =
                    fs::File::open(path).with_context(|| format!("--values {}", path.display()))?;
                values(file).with_context(|| format!("--values {}", path.display()))?
            }
            None => (Vec::new(), Vec::new()),
        };
        let of_all = urls.iter().find(|url| {
            let bare = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            ["0.0.0.0", "[::]"].iter().any(|all| bare.starts_with(all))
        });
        if let Some(url) = of_all {
            let message = format!(
                "{} names all addresses of this machine, where a server listens; its loopback was loaded",
                without_user(url)
            );
            findings.push(Finding::new(code::ALL_ADDRESSES, message));
        }
        if args.connect.insecure {
            let message = "certificates were not checked (--insecure)".to_owned();
            findings.push(Finding::new(code::CERTIFICATES_NOT_CHECKED, message));
        }
        Ok(Self {
            sides,
            urls,
            commands,
            scan,
            is_closed,
            ways: ways(args)?,
            findings,
            connecting,
            replayed,
            har,
            table,
        })
    }

    /// Returns a slot for each side and each combination of parameter values. The jobs of servers
    /// that are yet to be started have a dummy port.
    pub fn places(&self, args: &Args) -> anyhow::Result<Vec<LoadSlot>> {
        let combinations =
            self.scan.combinations().context("more combinations than can be counted")?;
        let mut places = Vec::new();
        for combination in 0..combinations {
            for side in 0..self.sides.len() {
                let parameters = self.scan.parameters(combination, side);
                let url = fill(&self.urls[side], &parameters);
                let job = self.job(args, &url.replace("{port}", "1"), &parameters)?;
                places.push(LoadSlot { side, parameters, job, server: None });
            }
        }
        ensure!(
            places.len() <= 500,
            "{} steps: more than 500 can't be measured in one run; take fewer values",
            places.len()
        );
        Ok(places)
    }

    /// Returns the URL of a side, with parameter values and port filled in.
    pub fn url(&self, side: usize, parameters: &[(String, ParameterValue)], port: u16) -> String {
        fill(&self.urls[side], parameters).replace("{port}", &port.to_string())
    }

    /// Returns the job of one slice for a server at `url` with these parameter values.
    pub fn job(
        &self,
        args: &Args,
        url: &str,
        parameters: &[(String, ParameterValue)],
    ) -> anyhow::Result<GeneratorJob> {
        let target = Target::parse(url)?;
        permitted(args, &target)?;
        let number = |name: &str| {
            parameters.iter().find(|(own, _)| own == name).and_then(|(_, value)| value.number())
        };
        let rate = match parameters.iter().find(|(own, _)| own == RATE) {
            Some((_, value)) => {
                let rate = value.number().filter(|rate| *rate > 0.0);
                Some(rate.with_context(|| format!("--rate {value}: a rate is a number above 0"))?)
            }
            None => None,
        };
        if let Some(rate) = rate {
            self.check_rate(args, rate)?;
        }
        let load = match (&self.replayed, &args.pace.ramp, rate) {
            (Some(found), ..) => Load::Open(Arrivals::Replay { times: found.times.clone() }),
            (None, Some(text), _) => self.ramp(args, text)?,
            (None, None, Some(rate)) => Load::Open(match args.pace.arrivals {
                HowArrivals::Constant => Arrivals::Constant { rate },
                HowArrivals::Poisson => Arrivals::Poisson { rate, seed: 0 },
            }),
            (None, None, None) if args.find.is_some() => Load::Open(match args.pace.arrivals {
                HowArrivals::Constant => Arrivals::Constant { rate: FIRST_RATE },
                HowArrivals::Poisson => Arrivals::Poisson { rate: FIRST_RATE, seed: 0 },
            }),
            (None, None, None) => {
                let connections = number(BUSY_CONNECTIONS).unwrap_or(0.0);
                let is_count =
                    connections >= 1.0 && connections.fract() == 0.0 && connections <= 1e6;
                ensure!(is_count, "--connections: give whole numbers from 1 on");
                Load::Closed { connections: connections as usize }
            }
        };
        let (settle_seconds, seconds) = self.length(args, &load, rate);
        let mut connecting = self.connecting.clone();
        if let Load::Closed { connections } = load {
            connecting.most = connecting.most.max(connections);
        }
        Ok(GeneratorJob {
            scenario: self.scenario(args, &target)?,
            load,
            settle_seconds,
            seconds,
            connecting,
            expect: Expect {
                digest: false,
                statuses: args.ask.expect_status.clone(),
                body: args.ask.expect_body.clone(),
                follow: args.ask.follow,
            },
            keep_requests: args.record_requests.as_ref().map_or(0, |_| MOST_REQUESTS),
            part: (0, 1),
        })
    }

    fn check_rate(&self, args: &Args, rate: f64) -> anyhow::Result<()> {
        let most = args.permission.most_rate;
        ensure!(
            rate <= most,
            "{rate} requests per second are more than the allowed {most}; to raise the limit, use --most-rate {rate}"
        );
        Ok(())
    }

    fn ramp(&self, args: &Args, text: &str) -> anyhow::Result<Load> {
        let ends = text.split_once("..").and_then(|(a, b)| {
            Some((a.trim().parse::<f64>().ok()?, b.trim().parse::<f64>().ok()?))
        });
        let right = |rate: f64| rate.is_finite() && rate >= 0.0;
        let ends = ends.filter(|(from, to)| right(*from) && right(*to) && from + to > 0.0);
        let (from, to) = ends.with_context(|| format!("--ramp {text}: write it like 10..500"))?;
        self.check_rate(args, from.max(to))?;
        Ok(Load::Open(Arrivals::Ramp { from, to }))
    }

    /// Returns the lengths of the settling part and of the measured part of a slice, in seconds.
    fn length(&self, args: &Args, load: &Load, rate: Option<f64>) -> (f64, f64) {
        let settle = |seconds: f64| args.pace.settle.unwrap_or((seconds * SETTLE.0).min(SETTLE.1));
        if let (Some(requests), Some(rate)) = (args.pace.requests_per_step, rate) {
            let seconds = requests as f64 / rate;
            return (settle(seconds), seconds);
        }
        let seconds = args.pace.slice.unwrap_or(match load {
            // A log is replayed as a whole, unless a slice length was requested.
            Load::Open(Arrivals::Replay { times }) => {
                times.last().map_or(SLICE, |last| last + 1e-3)
            }
            _ => SLICE,
        });
        match load {
            // The times of these loads start at the first request, so by default there is no
            // settling part.
            Load::Open(Arrivals::Replay { .. } | Arrivals::Ramp { .. }) => {
                (args.pace.settle.unwrap_or(0.0), seconds)
            }
            _ => (settle(seconds), seconds),
        }
    }

    fn scenario(&self, args: &Args, target: &Target) -> anyhow::Result<Scenario> {
        let ask = &args.ask;
        let mut fields = Vec::new();
        for text in &ask.header {
            let (name, value) = text.split_once(':').with_context(|| {
                format!(
                    "--header: `{}` is not a header field: write it like 'Name: value'",
                    without_secrets(text)
                )
            })?;
            fields.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        let (columns, rows) = self.table.clone();
        if let Some(recorded) = &self.har {
            let at_home = |request: &Request| -> anyhow::Result<Request> {
                let target =
                    target.at(&request.target.path).context("a path that can't be requested")?;
                let mut request = Request { target, ..request.clone() };
                request.fields.extend(fields.iter().cloned());
                Ok(request)
            };
            let requests = recorded.iter().map(at_home).collect::<anyhow::Result<_>>()?;
            let request_of_row = Vec::new();
            return Ok(Scenario { requests, session: true, columns, values: rows, request_of_row });
        }
        let body = match ask.body.as_deref().map(|body| (body.strip_prefix('@'), body)) {
            Some((Some(path), _)) => fs::read(path).with_context(|| format!("--body @{path}"))?,
            Some((None, text)) => text.as_bytes().to_vec(),
            None => Vec::new(),
        };
        let has_body = ask.body.is_some();
        let usual = if has_body { "POST" } else { "GET" };
        let method = ask.method.clone().unwrap_or_else(|| usual.to_owned());
        let is_token = |text: &str| {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        ensure!(is_token(&method), "--method {method}: a method must be a single word, as in GET");
        let first = Request { method, fields, body, has_body, ..Request::get(target.clone()) };
        if let Some(found) = self.replayed.as_ref().filter(|found| !found.asked.is_empty()) {
            return found.scenario(&first).context("--replay");
        }
        let mut requests = vec![first.clone()];
        for text in &ask.path {
            let (path, weight) = match text
                .rsplit_once('@')
                .and_then(|(path, weight)| Some((path, weight.parse::<f64>().ok()?)))
            {
                Some((path, weight)) => (path, weight),
                None => (text.as_str(), 1.0),
            };
            ensure!(
                weight > 0.0 && weight.is_finite(),
                "--path {text}: a weight must be a number above 0"
            );
            let target = target
                .at(path)
                .with_context(|| format!("--path {text}: it is not on the same server"))?;
            requests.push(Request { target, weight, ..first.clone() });
        }
        for request in requests.iter_mut().skip(1) {
            request.think_seconds = ask.think.unwrap_or(0.0);
        }
        let (session, request_of_row) = (ask.session, Vec::new());
        Ok(Scenario { requests, session, columns, values: rows, request_of_row })
    }

    /// Returns the initial rate of a search.
    ///
    /// # Errors
    ///
    /// Returns an error if `--rate` is not a single number above 0.
    pub fn first_rate(&self, args: &Args) -> anyhow::Result<f64> {
        let Some(text) = &args.pace.rate else { return Ok(FIRST_RATE) };
        let rate = text.parse::<f64>().ok().filter(|rate| *rate > 0.0 && rate.is_finite());
        rate.with_context(|| {
            format!(
                "--rate {text}: with --find, it is the rate at which the search starts; give one number above 0"
            )
        })
    }

    /// Returns the approximate duration of a block, in seconds. `search` is the minimum number of
    /// requests in a slice of a search, and its initial rate.
    pub fn block_seconds(&self, places: &[LoadSlot], search: Option<(u64, f64)>) -> f64 {
        let once = |place: &LoadSlot| {
            let seconds = place.job.seconds;
            place.job.settle_seconds
                + search.map_or(seconds, |(fewest, rate)| seconds.max(fewest as f64 / rate))
        };
        let once: f64 = places.iter().map(once).sum();
        if search.is_some() { once * TRIES } else { once }
    }

    /// Shortens the slices of a search, unless their length was requested, so that a search of
    /// every slot fits into the time budget.
    pub fn fit_search(args: &Args, places: &mut [LoadSlot]) {
        let Some(time) = args.when.time.filter(|_| args.find.is_some()) else { return };
        if args.pace.slice.is_some() || args.pace.requests_per_step.is_some() {
            return;
        }
        let each = time / (places.len().max(1) as f64 * TRIES * SPARE);
        for LoadSlot { job, .. } in places {
            let share = (each / (job.settle_seconds + job.seconds)).min(1.0);
            let seconds = (share * job.seconds).max(SHORTEST_SLICE.min(job.seconds));
            if args.pace.settle.is_none() {
                job.settle_seconds *= seconds / job.seconds;
            }
            job.seconds = seconds;
        }
    }

    /// Pins this process, and all generators started from now on, to the requested CPUs.
    pub fn pin(&self, args: &Args) -> anyhow::Result<()> {
        if args.generators.pin.is_empty() {
            return Ok(());
        }
        let (wanted, online) = (&args.generators.pin, machine::online_cpus());
        crate::cpus::are_there(wanted, online.as_deref()).context("--pin")?;
        assay_measure::serving::run_on(wanted).context("--pin")
    }

    /// Records facts about the load in the environment.
    pub fn facts(&self, args: &Args, load: &str, environment: &mut Environment) {
        environment.set("load", load);
        let http = if args.connect.http2 { "HTTP/2" } else { "HTTP/1.1" };
        environment.set("load_loop", if self.is_closed { "closed" } else { "open" });
        environment.set("load_protocol", http);
        let connections = match self.connecting.new {
            true => "new for each request",
            false => "kept alive where the server allows it",
        };
        environment.set("load_connections", connections);
        if self.urls.iter().any(|url| url.starts_with("https")) {
            let tls = match args.connect.tls {
                HowTls::Full => "full handshakes",
                HowTls::Resume => "resumed handshakes where the server allows it",
            };
            environment.set("load_tls", tls);
        }
    }
}

fn left_out(message: String) -> Finding {
    Finding::new(code::PARTLY_READ, message)
}

/// Rejects a file that was given instead of a URL.
fn check_urls(urls: &[String]) -> anyhow::Result<()> {
    let is_file = |url: &&String| !url.contains("://") && Path::new(url.as_str()).is_file();
    if let Some(file) = urls.iter().find(is_file) {
        bail!(
            "`{file}` is a file, not a URL; programs are measured by `assay run`, and a server is started by --serve: assay load --serve '{file} {{port}}' 'http://127.0.0.1:{{port}}/'"
        );
    }
    Ok(())
}

/// Rejects placeholders that nothing fills in, and values that nothing uses. `commands` is empty or
/// has one command for each URL.
fn check_placeholders(args: &Args, urls: &[String], commands: &[String]) -> anyhow::Result<()> {
    let ask = &args.ask;
    let has_port = |text: &String| text.contains("{port}");
    ensure!(
        !commands.is_empty() || !urls.iter().any(has_port),
        "{{port}} is the port of a server that --serve starts: give --serve, or the port"
    );
    let deaf = commands.iter().zip(urls).find(|(line, url)| has_port(url) && !has_port(line));
    if let Some((line, _)) = deaf {
        bail!(
            "--serve '{line}': {{port}} is in the URL, but not in the command; write it there too, where the command takes its port, or write the port into the URL"
        );
    }
    let has_name = |text: &&String| text.contains("{{");
    let name = urls.iter().chain(&ask.path).find(has_name);
    if let Some(text) = name.filter(|_| ask.values.is_none() && ask.har.is_none()) {
        bail!("{text}: {{{{name}}}} stands for a column of a table: give the table with --values");
    }
    // The requests of a recording and a body in a file may also contain placeholders.
    let is_open = ask.har.is_some()
        || args.pace.replay.is_some()
        || ask.body.as_ref().is_some_and(|body| body.starts_with('@'));
    let mut others = ask.header.iter().chain(&ask.body);
    if let Some(path) = ask.values.as_ref().filter(|_| !is_open && name.is_none()) {
        ensure!(
            others.any(|text| has_name(&text)),
            "--values {}: neither the URL, a path, a header field nor the body has a {{{{name}}}} of a column to fill in; write it there, as in 'http://localhost:3000/user/{{{{id}}}}', or leave out --values",
            path.display()
        );
    }
    Ok(())
}

/// Rejects TLS options if no URL uses TLS.
fn check_tls(args: &Args, urls: &[String]) -> anyhow::Result<()> {
    let connect = &args.connect;
    let given = [
        ("--insecure", connect.insecure),
        ("--tls-version", connect.tls_version.is_some()),
        ("--sni", connect.sni.is_some()),
        ("--ca", connect.ca.is_some()),
        ("--tls resume", matches!(connect.tls, HowTls::Resume)),
    ];
    let option = given.into_iter().find_map(|(option, is_given)| is_given.then_some(option));
    let is_plain = |url: &String| {
        let scheme = url.split("://").next().unwrap_or_default();
        !scheme.eq_ignore_ascii_case("https") && !scheme.starts_with('{')
    };
    match option.filter(|_| urls.iter().all(is_plain)) {
        Some(option) => bail!(
            "{option}: only https:// has TLS, and no URL begins with it; write https://…, or leave out {option}"
        ),
        None => Ok(()),
    }
}

/// Splits `NAME=URL` or `NAME=COMMAND`; the name is optional.
fn named(text: &str) -> (Option<String>, String) {
    let is_name = |name: &str| !name.is_empty() && !name.contains(['/', ':', '?', '.', '{', ' ']);
    match text.split_once('=') {
        Some((name, url)) if is_name(name) => (Some(name.to_owned()), url.to_owned()),
        _ => (None, text.to_owned()),
    }
}

/// Returns the sides with their displayed names: the given names, otherwise the server's program or
/// command, otherwise the URL.
fn side_names(names: &[Option<String>], urls: &[String], commands: &[String]) -> Vec<Side> {
    let mut used = BTreeSet::new();
    // A scheme that all URLs share is left out of the names.
    let scheme = |url: &String| url.find("://").map_or("", |at| &url[..at + 3]).to_owned();
    let schemes: BTreeSet<String> = urls.iter().map(scheme).collect();
    let common = if schemes.len() == 1 { schemes.iter().map(String::len).sum() } else { 0 };
    let side = |(index, url): (usize, &String)| {
        let program = commands.get(index).and_then(|line| line.split_whitespace().next());
        let program = program.map(|word| word.rsplit('/').next().unwrap_or(word).to_owned());
        let alike =
            |own: &String| commands.iter().filter(|line| line.contains(own.as_str())).count() > 1;
        let program = program.filter(|own| !alike(own));
        let line = commands.get(index).map(|line| without_secrets(line));
        let shown = without_secrets(&without_user(url));
        let short = shown.get(common..).map_or(&*shown, |rest| rest.trim_end_matches('/'));
        let name =
            names[index].clone().or(program).or(line.clone()).unwrap_or_else(|| short.to_owned());
        let name = if used.insert(name.clone()) { name } else { format!("{name} ({})", index + 1) };
        Side { name, command: line.or(Some(shown)), ..Side::default() }
    };
    urls.iter().enumerate().map(side).collect()
}

/// Returns the scan over the parameters of servers and the steps of the load.
fn scan(args: &Args, is_closed: bool, sides: usize) -> anyhow::Result<Scan> {
    let mut all = args.serve.parameter.clone();
    let steps = match (&args.pace.rate, &args.pace.connections, is_closed) {
        (Some(rates), ..) => Some((RATE, rates.as_str())),
        (None, counts, true) => Some((BUSY_CONNECTIONS, counts.as_deref().unwrap_or(CONNECTIONS))),
        _ => None,
    };
    if let Some((name, values)) = steps.filter(|_| args.find.is_none()) {
        let step = format!("{name}={values}");
        // Parsed here first, so that an error names the option that was typed.
        crate::scan::parameter(&step).with_context(|| format!("--{name} {values}"))?;
        all.push(step);
    }
    Scan::parse(&all, false, sides)
}

fn connecting(args: &Args, is_closed: bool) -> anyhow::Result<ConnectionSettings> {
    let connect = &args.connect;
    let most = match (&args.pace.connections, is_closed) {
        (Some(count), false) => count.parse().ok().filter(|count| *count > 0).with_context(|| {
            format!("--connections {count}: with --rate, it is the maximum number of open connections; give one number")
        })?,
        _ => ConnectionSettings::default().most,
    };
    Ok(ConnectionSettings {
        new: connect.new_connections,
        most,
        pipeline: connect.pipeline.unwrap_or(1) as usize,
        http2_streams: connect.http2.then_some(connect.streams as usize),
        tls: Tls {
            handshakes: match connect.tls {
                HowTls::Full => Handshakes::Full,
                HowTls::Resume => Handshakes::Resumed,
            },
            version: match connect.tls_version {
                None => Version::Any,
                Some(HowVersion::V12) => Version::V12,
                Some(HowVersion::V13) => Version::V13,
            },
            insecure: connect.insecure,
            server_name: connect.sni.clone(),
            ca: connect.ca.clone(),
        },
        connect_timeout: connect.connect_timeout.unwrap_or(connect.timeout),
        timeout: connect.timeout,
    })
}

/// Returns generators on nodes chosen by Slurm, one per node. The program has the same path on
/// every node, because the nodes share a file system.
fn by_slurm(nodes: &str) -> anyhow::Result<Vec<GeneratorLaunch>> {
    let many: u32 =
        nodes.parse().ok().filter(|many| (1..=MOST_NODES).contains(many)).with_context(|| {
            format!(
                "--on slurm:{nodes}: give a number of nodes after `slurm:`, from 1 to {MOST_NODES}"
            )
        })?;
    let words = ["srun", "--quiet", "--nodes=1", "--ntasks=1", "--exclusive", "--unbuffered"];
    let way = |number: u32| {
        let mut prefix = words.map(str::to_owned).to_vec();
        prefix.push(format!("--immediate={NODE_PATIENCE}"));
        GeneratorLaunch { name: format!("slurm {number}"), prefix, program: None }
    };
    Ok((1..=many).map(way).collect())
}

/// Returns how to start each separate generator.
fn ways(args: &Args) -> anyhow::Result<Vec<GeneratorLaunch>> {
    let own = &args.generators;
    if !own.on.is_empty() {
        let over_ssh = |host: &String| {
            ensure!(!host.starts_with('-') && !host.is_empty(), "--on {host}: that is not a host");
            let prefix = ["ssh", "-o", "BatchMode=yes", "--", host].map(str::to_owned).to_vec();
            Ok(GeneratorLaunch { name: host.clone(), prefix, program: Some("assay".to_owned()) })
        };
        let ways = own.on.iter().map(|host| match host.strip_prefix("slurm:") {
            Some(nodes) => by_slurm(nodes),
            None => over_ssh(host).map(|way| vec![way]),
        });
        return Ok(ways.collect::<anyhow::Result<Vec<_>>>()?.concat());
    }
    if !own.via.is_empty() {
        let behind = |line: &String| {
            let prefix = shell_words::split(line).with_context(|| format!("--via {line}"))?;
            Ok(GeneratorLaunch { name: line.clone(), prefix, program: None })
        };
        return own.via.iter().map(behind).collect();
    }
    let here = |number: u32| GeneratorLaunch {
        name: (number + 1).to_string(),
        prefix: Vec::new(),
        program: None,
    };
    Ok(if own.generators > 1 { (0..own.generators).map(here).collect() } else { Vec::new() })
}
