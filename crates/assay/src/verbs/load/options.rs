//! The options of `assay load`.

use crate::args::{JudgeArgs, SameArgs, any_words, seconds};
use crate::load::Goal;
use crate::planning::DurationArgs;
use crate::resume::RecordArgs;
use clap::ValueEnum;
use std::path::PathBuf;

/// Arguments of `assay load`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "\
How it measures: a slice loads one server at one rate for a few seconds, not counting the settling time at its start. A block \
measures every server at every rate once, in random order. Requests are sent on a fixed schedule, no matter how fast the server answers: \
latency is counted from the scheduled time of a request, and a failed request counts as never answered. The generator's own delays \
are measured, and slices in which it was the bottleneck are left out.

Examples:
  assay load --rate 100 http://localhost:3000/                          what is the latency at 100 requests per second?
  assay load --rate 10,40,80,160,320,500 http://localhost:3000/ http://localhost:4000/      which server is better?
  assay load --connections 16 http://localhost:3000/                    what is the maximum throughput?
  assay load --find 'p99<200ms, errors<0.1%' http://localhost:3000/     what is the highest rate that meets these goals?
  assay load --rate 50..400*2 --new-connections --tls full https://a.local/ https://b.local/
  assay load --serve 'unicorn -p {port} a.ru' --serve 'puma -p {port} a.ru' --rate 100 'http://127.0.0.1:{port}/'
  assay load --serve 'puma -p {port} -w {workers}' -P workers=1..4 --find 'p99<200ms' 'http://127.0.0.1:{port}/'
  assay load --rev main --rev HEAD --serve 'bin/serve -p {port}' --rate 100 'http://127.0.0.1:{port}/'
  assay load --rate 20 --har visit.har https://shop.local/              replay a recorded visit, with pauses and cookies
  assay load --rate 200 --header 'Accept: text/html' --values users.csv 'http://localhost:3000/user/{{id}}'
  assay load --i-may-load test.example.org --rate 50 https://test.example.org/")]
#[command(mut_arg("time", |time| time.help("Time budget [default: 60s; extended to 12 blocks if there are too few for a verdict]").long_help(None)))]
#[command(mut_arg("primary", |primary| primary.help("Metric that the verdict is about [default: latency_p50; with --connections alone, rate_achieved; with --find, capacity]").long_help(None)))]
#[command(mut_arg("secondary", |secondary| secondary.help("Secondary metrics to test and show [default: latency quantiles, rates, and the resources of servers started here; with --find, all]").long_help(None)))]
pub(crate) struct Args {
    /// Servers to load, by URL; the first is the reference
    ///
    /// NAME=URL gives a server a name; unix:/path:/page connects to a Unix socket.
    #[arg(required_unless_present_any = ["resume", "as_generator"], value_name = "URL")]
    pub urls: Vec<String>,

    #[command(flatten)]
    pub pace: PaceArgs,

    /// Find the highest rate that meets these goals, as in 'p99<200ms, errors<0.1%', instead of
    /// loading at given rates
    #[arg(long, value_name = "GOALS", value_parser = Goal::parse_all, conflicts_with_all = ["connections"], help_heading = "Load")]
    pub find: Option<std::vec::Vec<Goal>>,

    #[command(flatten)]
    pub ask: AskArgs,

    #[command(flatten)]
    pub connect: ConnectArgs,

    #[command(flatten)]
    pub serve: ServeArgs,

    #[command(flatten)]
    pub revisions: RevisionArgs,

    #[command(flatten)]
    pub generators: GeneratorArgs,

    #[command(flatten)]
    pub permission: PermissionArgs,

    #[command(flatten)]
    pub when: DurationArgs,

    #[command(flatten)]
    pub judge: JudgeArgs,

    #[command(flatten)]
    pub same: SameArgs,

    /// Also write individual requests with their times to a CSV file
    ///
    /// At most 10000 per slice, evenly sampled.
    #[arg(long, value_name = "FILE", help_heading = "Recording")]
    pub record_requests: Option<PathBuf>,

    #[command(flatten)]
    pub record: RecordArgs,

    /// Act as a generator for another assay process, with jobs on standard input
    #[arg(long, hide = true)]
    pub as_generator: bool,
}

/// Options that determine the load.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Load")]
pub(crate) struct PaceArgs {
    /// Requests per second, one step for each value: 100, 10,40,80, or 50..800*2
    #[arg(long, value_name = "RATES", value_parser = rates)]
    pub rate: Option<String>,

    /// Keep this many connections busy, as fast as the server answers (closed loop): 16, or 1,4,16
    ///
    /// With --rate or --find, this is the maximum number of open connections.
    #[arg(long, short = 'c', value_name = "COUNTS")]
    pub connections: Option<String>,

    /// Distribution of requests over time
    #[arg(long, value_enum, value_name = "HOW", default_value_t = HowArrivals::Constant)]
    pub arrivals: HowArrivals,

    /// Increase or decrease the rate evenly within each slice: FROM..TO
    #[arg(long, value_name = "FROM..TO", conflicts_with_all = ["rate", "replay", "find"])]
    pub ramp: Option<String>,

    /// Send requests at the times in a file (in seconds, one per line) or in a server's access log,
    /// whose paths are requested
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rate", "find"])]
    pub replay: Option<PathBuf>,

    /// Length of a slice, excluding its settling time [default: 2s, or as long as
    /// --requests-per-step takes]
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    pub slice: Option<f64>,

    /// Number of requests in a slice, instead of its length: 500 requests at 10 per second take 50
    /// seconds
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["slice", "find"], requires = "rate", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests_per_step: Option<u64>,

    /// Time at the start of each slice that is not counted [default: a fifth of the slice, at most
    /// 1s]
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub settle: Option<f64>,
}

/// Distributions of requests over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HowArrivals {
    /// Evenly spaced
    Constant,
    /// Random and independent, as from many users
    Poisson,
}

/// Options that determine the requests.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Requests")]
pub(crate) struct AskArgs {
    /// Request method [default: GET, POST with --body]
    #[arg(long, short = 'X', value_name = "METHOD")]
    pub method: Option<String>,

    /// Header field, as in 'Accept: text/html'; may be repeated
    #[arg(long, short = 'H', value_name = "FIELD")]
    pub header: Vec<String>,

    /// Request body, or @FILE to read it from a file; may be empty
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub body: Option<String>,

    /// Additional path on each server, with its weight, as in /search?q=x@3; the URL's own path has
    /// weight 1
    #[arg(long, value_name = "PATH[@WEIGHT]")]
    pub path: Vec<String>,

    /// Use the URL and each --path as the steps of a session, in order, with cookies
    #[arg(long)]
    pub session: bool,

    /// Think time before each step of a session except the first [default: none]
    #[arg(long, value_name = "SPAN", value_parser = seconds, requires = "session")]
    pub think: Option<f64>,

    /// Use a browser's recording (HAR) as the session: its requests to the first server that it
    /// contacts, with pauses and cookies
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "body", "method", "replay"])]
    pub har: Option<PathBuf>,

    /// CSV file whose columns replace {{name}} in URL, headers and body, row by row
    ///
    /// In a URL, characters that are not allowed there are percent-encoded.
    #[arg(long, value_name = "FILE")]
    pub values: Option<PathBuf>,

    /// Follow redirects to the same server; latency ends with the final response
    #[arg(long)]
    pub follow: bool,

    /// Status codes that count as correct [default: below 400]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = status)]
    pub expect_status: Vec<u16>,

    /// Text that every response body must contain
    #[arg(long, value_name = "TEXT")]
    pub expect_body: Option<String>,
}

/// Options that determine the connections.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Connections")]
pub(crate) struct ConnectArgs {
    /// Open a new connection for each request or session
    #[arg(long)]
    pub new_connections: bool,

    /// Send up to this many requests on a connection before the first response (HTTP/1.1)
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["http2", "new_connections"], value_parser = clap::value_parser!(u32).range(1..10_000))]
    pub pipeline: Option<u32>,

    /// Use HTTP/2
    #[arg(long, conflicts_with = "new_connections")]
    pub http2: bool,

    /// Maximum number of concurrent requests on an HTTP/2 connection
    #[arg(long, value_name = "COUNT", requires = "http2", default_value_t = 16, hide_default_value = false, value_parser = clap::value_parser!(u32).range(1..10_000))]
    pub streams: u32,

    /// Make full TLS handshakes, or resume sessions
    #[arg(long, value_enum, value_name = "HOW", default_value_t = HowTls::Full)]
    pub tls: HowTls,

    /// TLS version [default: the server's choice]
    #[arg(long, value_enum, value_name = "VERSION")]
    pub tls_version: Option<HowVersion>,

    /// Accept any certificate
    #[arg(long)]
    pub insecure: bool,

    /// Server name in the TLS handshake (SNI), which the certificate must match [default: the host
    /// of the URL]
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,

    /// File of certificates (PEM) to trust in addition to the system's
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,

    /// Maximum time to wait for a response
    #[arg(long, value_name = "SPAN", value_parser = seconds, default_value = "30s")]
    pub timeout: f64,

    /// Maximum time to wait for a connection, including TLS [default: the same as --timeout]
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    pub connect_timeout: Option<f64>,
}

/// Kinds of TLS handshakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HowTls {
    /// A full handshake for every connection
    Full,
    /// Resumed where the server allows it
    Resume,
}

/// TLS versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HowVersion {
    /// TLS 1.2
    #[value(name = "1.2")]
    V12,
    /// TLS 1.3
    #[value(name = "1.3")]
    V13,
}

/// Options for starting servers.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Servers")]
pub(crate) struct ServeArgs {
    /// Command that starts a server, or NAME=COMMAND; repeat for each side. {port} stands for a
    /// free port, in the URL as well
    ///
    /// Measuring starts when the server answers. CPU time, memory and descriptors are measured for
    /// the server and all processes that it starts; all of them are stopped afterwards. With one
    /// URL and several commands, the URL applies to each.
    #[arg(long, value_name = "COMMAND", value_parser = any_words())]
    pub serve: Vec<String>,

    /// URL that answers once a server is ready [default: the loaded URL]
    #[arg(long, value_name = "URL", requires = "serve")]
    pub ready: Option<String>,

    /// Maximum time to wait until a server is ready
    #[arg(long, value_name = "SPAN", value_parser = seconds, default_value = "30s", requires = "serve")]
    pub ready_timeout: f64,

    /// Values of a parameter, substituted for {NAME} in --serve and URL, as in workers=1..6
    #[arg(long, short = 'P', value_name = "NAME=VALUES")]
    pub parameter: Vec<String>,

    /// CPUs for the servers, as in 0 or 0,1
    #[arg(long, value_name = "CPUS", value_delimiter = ',', requires = "serve")]
    pub pin_servers: Vec<u32>,

    /// Report a server whose processes together use more memory than this, as in 512MiB
    #[arg(long, value_name = "SIZE", value_parser = bytes, requires = "serve")]
    pub serve_memory: Option<u64>,
}

/// Options for comparing git revisions.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Git revisions")]
pub(crate) struct RevisionArgs {
    /// Start the server of this git revision; `.` is the working tree; repeat for each side, the
    /// reference first
    ///
    /// --serve runs at the root of the revision's own working tree.
    #[arg(long, value_name = "REVISION", requires = "serve", value_parser = any_words())]
    pub rev: Vec<String>,

    /// Shell line that builds a revision, run at the root of its working tree, once per commit
    /// [default: nothing is built]
    #[arg(long, value_name = "LINE", requires = "rev", value_parser = any_words())]
    pub build: Option<String>,
}

/// Options for the load generators.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Generators")]
pub(crate) struct GeneratorArgs {
    /// CPUs for the generator, as in 1
    #[arg(long, value_name = "CPUS", value_delimiter = ',')]
    pub pin: Vec<u32>,

    /// Number of processes that send requests and share the schedule
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..1000))]
    pub generators: u32,

    /// Send from these machines over ssh, as in host1,host2; slurm:4 means four nodes that Slurm
    /// selects
    ///
    /// assay must be installed on them.
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', conflicts_with = "generators")]
    pub on: Vec<String>,

    /// Start a generator through this command, as in 'ip netns exec ns1'; may be repeated
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["generators", "on"], value_parser = any_words())]
    pub via: Vec<String>,
}

/// Options that permit load-testing a host and limit the request rate.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Permission")]
pub(crate) struct PermissionArgs {
    /// Confirm that you are allowed to load-test this host; required for every host except this
    /// machine
    ///
    /// To allow hosts permanently, list them in ~/.config/assay/may-load, one per line.
    #[arg(long, value_name = "HOST")]
    pub i_may_load: Vec<String>,

    /// Maximum allowed rate, in requests per second
    #[arg(long, value_name = "RATE", default_value_t = 100_000.0, value_parser = rate)]
    pub most_rate: f64,
}

/// Parses a duration that may be zero.
fn span(text: &str) -> Result<f64, String> {
    if matches!(text.trim(), "0" | "0s") { Ok(0.0) } else { seconds(text) }
}

/// Rejects a negative rate, and a rate with a unit, as other tools accept. The rates themselves are
/// parsed elsewhere.
fn rates(text: &str) -> Result<String, String> {
    let is_number = |text: &str| text.trim_end().parse::<f64>().is_ok();
    if text.trim_start().starts_with('-') {
        return Err("a rate is a number above 0, as in --rate 10".to_owned());
    }
    let units = ["req/s", "rps", "r/s", "/s", "Hz"];
    match units.iter().find_map(|unit| text.strip_suffix(unit)).filter(|own| is_number(own)) {
        Some(number) => Err(format!(
            "a rate is always per second: write the number alone: --rate {}",
            number.trim_end()
        )),
        None => Ok(text.to_owned()),
    }
}

/// Parses a status code.
fn status(text: &str) -> Result<u16, String> {
    let status = text.trim().parse::<u16>().ok().filter(|status| (100..1000).contains(status));
    status.ok_or_else(|| "write status codes as numbers, such as 200 or 200,204".to_owned())
}

fn rate(text: &str) -> Result<f64, String> {
    let text = text.trim().trim_end_matches("/s");
    let rate = text.parse::<f64>().ok().filter(|rate| *rate > 0.0 && rate.is_finite());
    rate.ok_or_else(|| "write a number of requests per second above 0".to_owned())
}

fn bytes(text: &str) -> Result<u64, String> {
    use assay_data::Unit;
    use assay_data::unit::{Quantity, parse_quantity};
    match parse_quantity(text).map_err(|error| error.to_string())? {
        Quantity::Amount(value, Unit::Byte) if value > 0.0 => Ok(value as u64),
        _ => Err("write it like `512MiB`".to_owned()),
    }
}
