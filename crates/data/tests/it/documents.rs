//! Everything that the reference documents as input is accepted: every `--metric` and every line of
//! the protocol in the documents.

use assay_data::protocol::parse;
use assay_data::reading::MetricSpec;
use std::path::Path;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    std::fs::read_to_string(path).expect("the document is there")
}

/// Returns the specs after `--metric '…'`, in order.
fn specs() -> Vec<String> {
    let text = document("metrics.md");
    let quoted = text.split("--metric '").skip(1).filter_map(|rest| rest.split('\'').next());
    // The first one shows the form.
    quoted.skip(1).map(str::to_owned).collect()
}

#[test]
fn every_spec_in_the_reference_can_be_typed() {
    let specs = specs();
    assert!(specs.len() > 10);
    for spec in specs {
        let parsed = MetricSpec::parse(&spec);
        assert!(parsed.is_ok(), "{spec}: {}", parsed.expect_err("it is none"));
    }
}

#[test]
fn the_specs_for_real_tools_read_what_those_tools_print() {
    let printed = [
        ("first_byte", "0.012345", 0.012_345),
        ("copy", "67108864 bytes (67 MB, 64 MiB) copied, 0.0265 s, 2.5 GB/s\n", 0.0265),
        ("rate", "Running 2s test\nRequests/sec:  10437.22\nTransfer/sec:      1.2MB\n", 10_437.22),
        ("latency", "  Thread Stats   Avg\n    Latency   635.91us  890.12us  12.92ms\n", 635.91e-6),
        ("sign", "+DTP:2048:private:rsa:1\n+F2:2:2048:3631.914894:49650.000000\n", 3_631.914_894),
        ("iops", "{\"jobs\":[{\"read\":{\"iops\":1200.5}}]}", 1200.5),
        ("misses", "cache miss /a\nhit\ncache miss /b\n", 2.0),
    ];
    for (name, output, value) in printed {
        // The last one is the tool's: some names also occur earlier.
        let spec = specs().into_iter().rfind(|spec| spec.starts_with(&format!("{name}:")));
        let spec = MetricSpec::parse(&spec.expect(name)).expect("a good spec");
        let reading = spec.read(output.as_bytes(), output.as_bytes());
        assert_eq!(reading.map(|reading| reading.value), Ok(value), "{name}");
    }
}

#[test]
fn the_lines_in_the_specification_are_good_ones() {
    let text = document("sample-protocol.md");
    let block = text.split("```jsonl\n").nth(1).and_then(|rest| rest.split("```").next());
    let report = parse(block.expect("a block of lines").as_bytes());
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let names: Vec<_> = report.given.iter().map(|given| given.metric.name.as_str()).collect();
    assert_eq!(names, ["latency", "rows", "inflate", "parse"]);
}
