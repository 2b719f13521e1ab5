//! Shared by the tests: jobs, and servers that the tests script.

use assay_load::{
    Arrivals, ConnectionSettings, Expect, GeneratorJob, Hooks, Load, Request, Scenario, Tally,
    Target, generate,
};
use std::net::{TcpListener, TcpStream};
use std::thread::spawn;

/// Returns a job that requests one URL for `seconds`, without an unmeasured part; `timeout` also
/// limits connecting, in seconds.
pub(crate) fn job(url: &str, load: Load, seconds: f64, timeout: f64) -> GeneratorJob {
    GeneratorJob {
        scenario: Scenario::of(Request::get(Target::parse(url).unwrap())),
        load,
        settle_seconds: 0.0,
        seconds,
        connecting: ConnectionSettings {
            timeout,
            connect_timeout: timeout,
            ..ConnectionSettings::default()
        },
        expect: Expect::default(),
        keep_requests: 0,
        part: (0, 1),
    }
}

pub(crate) fn constant(rate: f64) -> Load {
    Load::Open(Arrivals::Constant { rate })
}

pub(crate) fn run(job: &GeneratorJob) -> Tally {
    generate(job, &Hooks { stop: &|| false, pace: &|_| () }).expect("it begins")
}

/// Checks that every request has exactly one outcome.
pub(crate) fn adds_up(tally: &Tally) {
    assert_eq!(tally.due, tally.answered + tally.failures() + tally.unknown, "{tally:?}");
    assert_eq!(tally.latency.count(), tally.answered);
}

/// Returns a listening socket and its address. Connections are not accepted yet.
pub(crate) fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Starts a server with one thread per connection; returns its address.
pub(crate) fn start(serve: impl Fn(TcpStream) -> Option<()> + Clone + Send + 'static) -> String {
    let (listener, address) = listener();
    spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            spawn(move || serve(stream));
        }
    });
    address
}
