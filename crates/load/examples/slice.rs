#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]
use assay_load::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut job = Job {
        scenario: Scenario::of(Request::get(Target::parse(&a[1]).unwrap())),
        load: Load::Closed { connections: 16 },
        settle_seconds: 0.2,
        seconds: a[2].parse().unwrap(),
        connecting: Connecting::default(),
        expect: Expect::default(),
        part: (0, 1),
    };
    for x in &a[3..] {
        match x.split_once('=').unwrap_or((x, "")) {
            ("rate", r) => job.load = Load::Open(Arrivals::Constant { rate: r.parse().unwrap() }),
            ("poisson", r) => {
                job.load = Load::Open(Arrivals::Poisson { rate: r.parse().unwrap(), seed: 1 })
            }
            ("conns", r) => job.load = Load::Closed { connections: r.parse().unwrap() },
            ("new", _) => job.connecting.new = true,
            ("timeout", r) => job.connecting.timeout = r.parse().unwrap(),
            ("insecure", _) => job.connecting.tls.insecure = true,
            ("resume", _) => job.connecting.tls.handshakes = Handshakes::Resumed,
            ("h2", r) => job.connecting.http2_streams = Some(r.parse().unwrap()),
            ("pipe", r) => job.connecting.pipeline = r.parse().unwrap(),
            _ => panic!("{x}"),
        }
    }
    let t = generate(
        &job,
        &Hooks {
            stop: &|| false,
            pace: &|p| {
                if std::env::var_os("V").is_some() {
                    println!("{p:?}")
                }
            },
        },
    )
    .unwrap();
    let q = |h: &assay_data::Histogram| {
        [0.5, 0.9, 0.95, 0.99, 0.999, 1.0]
            .map(|s| h.quantile_seconds(s, 0).map(|v| (v * 1e6).round() / 1e3))
    };
    println!(
        "due {} answered {} delivered/s {:.0} failed {:?} unknown {} statuses {:?} {:?} received {}",
        t.due,
        t.answered,
        t.delivered as f64 / job.seconds,
        Failure::ALL
            .iter()
            .filter(|f| t.failed_as(**f) > 0)
            .map(|f| (f.name(), t.failed_as(*f)))
            .collect::<Vec<_>>(),
        t.unknown,
        t.statuses,
        t.connections,
        t.received
    );
    println!(
        "latency {:?}\nservice {:?}\nlate {:?}\nconnect {:?} tls {:?} first {:?} transfer {:?}\ncpu/100k {:.3} s",
        q(&t.latency),
        q(&t.service),
        q(&t.lateness),
        q(&t.connect),
        q(&t.tls),
        q(&t.first_byte),
        q(&t.transfer),
        t.cpu_seconds / (t.answered.max(1) as f64) * 1e5
    );
}
