//! Numbers that come from the program itself: printed, or reported by the sample protocol.

use crate::room::{Room, codes, secondary};

/// Returns `run --no-save -r N` with further arguments.
fn few<'a>(blocks: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--no-save", "-r", blocks], more].concat()
}

#[test]
fn a_bare_number_on_stdout_decides() {
    let room = Room::new();
    let commands = ["-n", "a", "-n", "b", "sh -c 'echo 2.5'", "sh -c 'echo 5'"];
    let result = room.json(&few("7", &[&["--metric", "stdout:ms"][..], &commands].concat()));
    assert_eq!(result["primary"], "stdout");
    assert_eq!(result["verdict"], "slower");
    let median = &result["descriptions"][1]["metrics"]["stdout"]["median"];
    assert_eq!(median.as_f64(), Some(0.005));
}

#[test]
fn more_of_a_rate_is_better() {
    let room = Room::new();
    let rate = "--metric=rate:1/s:higher=Requests/sec: +([0-9.]+)";
    let command = |rate: &str| format!("sh -c 'echo Requests/sec:   {rate}'");
    let (slow, fast) = (command("1000"), command("1300"));
    let result = room.json(&few("7", &[rate, "-n", "a", "-n", "b", &slow, &fast]));
    assert_eq!(result["verdict"], "faster");
}

#[test]
fn numbers_are_found_by_pointer_and_on_standard_error() {
    let room = Room::new();
    let json = r#"sh -c 'echo "{\"a\": [{\"t\": 12}]}"; echo "real 0.25 s" >&2'"#;
    let metrics = ["--metric", "t=json:/a/0/t", "--metric", "real:s=stderr:real ([0-9.]+)"];
    let result = room.json(&few("3", &[&metrics[..], &[json]].concat()));
    let metrics = &result["descriptions"][0]["metrics"];
    assert_eq!(metrics["t"]["median"].as_f64(), Some(12.0));
    assert_eq!(metrics["real"]["median"].as_f64(), Some(0.25));
    assert_eq!(result["primary"], "t");
}

#[test]
fn a_metric_that_is_not_there_ends_the_run_on_the_first_run() {
    let refused = |metric: &str, command: &str, why: &str| {
        let room = Room::new();
        room.run(&few("3", &["--metric", metric, command])).ends(2).complains(why);
    };
    refused("t=took (.*)", "sh -c 'echo nothing of the kind'", "took (.*)");
    refused("t=([0-9]+)", "sh -c 'echo 1 2 3'", "3 values");
    refused("stdout", "sh -c 'echo NaN'", "not");
    refused("stdout", "sh -c 'echo many'", "`many` is not a number");
    refused("t:s=(?P<value>[0-9]+)(?P<unit>[a-zA-Z]+)", "sh -c 'echo 12MiB'", "MiB");
    refused("t=json:/a", "sh -c 'echo {}'", "`/a`");
    refused("handed", "true", "through the sample protocol");
}

#[test]
fn a_metric_that_is_there_only_sometimes_is_told() {
    let room = Room::new();
    // The warm-up is the first run; every third run gives nothing useful.
    let line = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; [ $((n % 3)) = 2 ] && echo nan || echo 1.5";
    room.write("sometimes.sh", line);
    let result = room.json(&few("8", &["--metric", "stdout:s", "sh sometimes.sh"]));
    assert!(codes(&result).contains(&"SAMPLES_PROBLEM"), "{:?}", codes(&result));
    let n = result["descriptions"][0]["metrics"]["stdout"]["n"].as_u64();
    assert!(n.is_some_and(|n| n < 8 && n > 3), "{n:?}");
}

#[test]
fn metrics_that_make_no_sense_are_refused_before_anything_runs() {
    let room = Room::new();
    for (arguments, why) in [
        (vec!["--metric", "wall=([0-9]+)"], "every run already has a metric `wall`"),
        (vec!["--metric", "t=(1", "--metric", "u=2"], "--metric t=(1"),
        (vec!["--metric", "t=1", "--metric", "t=2"], "two metrics named `t`"),
        (vec!["--metric", "stdout", "--output", "inherit"], "leave out --output"),
        (vec!["--secondary", "walll"], "no such metric"),
        (vec!["--counters", "instruktions"], "instructions"),
    ] {
        let all = [&["run", "--no-save"][..], &arguments, &["touch ran"]].concat();
        room.run(&all).ends(2).complains(why);
    }
    assert!(!room.path("ran").exists());
}

#[test]
fn programs_hand_over_values_and_regions() {
    let lines = r#"{"metric":"latency","unit":"ms","values":[1,2,9]}
{"start":"parse","t":1000000}
{"stop":"parse","t":3500000}"#;
    for how in ["--samples", "--samples=path"] {
        let room = Room::new();
        room.write("lines", &format!("{lines}\n"));
        let script = "case $ASSAY_SAMPLES in fd:*) eval \"cat lines >&${ASSAY_SAMPLES#fd:}\";; path:*) cat lines >> ${ASSAY_SAMPLES#path:};; esac";
        room.write("give.sh", script);
        let run = [
            "run",
            "--save",
            "x.assay",
            "-r",
            "3",
            how,
            "--primary",
            "parse",
            "sh give.sh",
            "--json",
        ];
        let result = room.run(&run).ends(0).json();
        let metrics = &result["descriptions"][0]["metrics"];
        assert_eq!(metrics["latency"]["median"].as_f64(), Some(0.002));
        assert_eq!(metrics["parse"]["median"].as_f64(), Some(0.0025));
        let inner = room.records("x.assay", "values");
        assert_eq!(inner.len(), 3);
        assert_eq!(inner[0]["values"].to_string(), "[0.001,0.002,0.009]");
        // Comparing the file gives the same result.
        let again = room.json(&["compare", "x.assay"]);
        assert_eq!(again["descriptions"][0]["metrics"]["parse"], metrics["parse"]);
    }
}

#[test]
fn lines_that_are_no_good_are_counted_and_the_others_kept() {
    let room = Room::new();
    room.write("lines", "{\"metric\":\"a\",\"value\":1}\nnonsense\n{\"metric\":\"a\",\"va");
    let give = "sh -c 'cat lines >&7'";
    let result = room.json(&few("3", &["--metric", "a", give]));
    let findings = result["findings"].as_array().unwrap();
    let told = findings.iter().find(|f| f["code"] == "SAMPLES_PROBLEM").expect("it is told");
    assert!(told["message"].as_str().unwrap().contains("line 2"), "{told}");
    assert_eq!(result["descriptions"][0]["metrics"]["a"]["n"], 3);
}

#[test]
fn what_a_process_writes_after_its_run_does_not_reach_the_next() {
    let room = Room::new();
    // The first run leaves a writer behind in a separate session, which writes after the end of the
    // run.
    let line = r#"echo '{"metric":"a","value":1}' >&7; setsid sh -c 'sleep 0.05; echo "{\"metric\":\"a\",\"value\":100}" >&7' &"#;
    room.write("late.sh", line);
    let result = room.json(&few("12", &["--prepare", "sleep 0.02", "--metric", "a", "sh late.sh"]));
    let a = &result["descriptions"][0]["metrics"]["a"];
    assert_eq!((a["min"].as_f64(), a["max"].as_f64()), (Some(1.0), Some(1.0)));
}

#[test]
fn what_stands_beside_is_decided_and_told() {
    let room = Room::new();
    let arguments = ["--secondary", "cpu,voluntary_switches,cpu_per_wall", "-n", "a", "-n", "b"];
    let commands = ["sleep 0.01", "sleep 0.02"];
    let all = few("7", &[&arguments[..], &commands].concat());
    let result = room.json(&all);
    let names: Vec<&str> =
        secondary(&result).iter().map(|c| c["metric"].as_str().unwrap()).collect();
    assert_eq!(names, ["cpu", "voluntary_switches", "cpu_per_wall"]);
    room.run(&all).ends(0).shows("CPU/wall");
}

#[test]
fn software_events_are_counted() {
    let room = Room::new();
    let result = room.json(&few("5", &["--counters", "page-faults,task-clock", "sh -c :"]));
    if codes(&result).contains(&"NOT_COUNTED") {
        println!("skipped: this machine refuses to count software events");
        return;
    }
    let metrics = &result["descriptions"][0]["metrics"];
    assert!(metrics["page-faults"]["median"].as_f64() > Some(10.0), "{metrics}");
    assert!(metrics["task-clock"]["median"].as_f64() > Some(0.0), "{metrics}");
}

#[test]
fn counters_that_are_lost_midway_come_back_with_the_next_launcher() {
    let room = Room::new();
    // The fourth run kills the launcher once: it is repeated with a new launcher, which counts the
    // events again.
    room.write("kill.sh", "echo x >> count; [ $(wc -l < count) = 4 ] && kill -9 $PPID; :\n");
    let result = room.json(&few("8", &["--counters", "page-faults", "sh kill.sh"]));
    let told = codes(&result);
    if told.contains(&"NOT_COUNTED") {
        println!("skipped: this machine refuses to count software events");
        return;
    }
    assert!(told.contains(&"INCOMPLETE_BLOCKS"), "{told:?}");
    let metrics = &result["descriptions"][0]["metrics"];
    assert_eq!(metrics["wall"]["n"], 8);
    assert_eq!(metrics["page-faults"]["n"], 7);
}

#[test]
fn hooks_are_not_counted() {
    let room = Room::new();
    let count = |more: &[&'static str]| {
        let all = few("5", &[&["--counters", "page-faults"][..], more, &["true"]].concat());
        let result = room.json(&all);
        result["descriptions"][0]["metrics"]["page-faults"]["median"].as_f64()
    };
    let (Some(alone), Some(hooked)) =
        (count(&[]), count(&["--prepare", "ls -lR /usr/share | sort > /dev/null"]))
    else {
        println!("skipped: this machine refuses to count software events");
        return;
    };
    assert!((alone - hooked).abs() < 20.0, "{alone} {hooked}");
}

#[test]
fn a_metric_of_one_command_is_not_missing_from_the_other() {
    let room = Room::new();
    let give = |name: &str| {
        format!("sh -c 'echo \"{{\\\"metric\\\":\\\"{name}\\\",\\\"value\\\":1}}\" >&7'")
    };
    let (a, b) = (give("a"), give("b"));
    let result = room.json(&few("3", &["--samples", "-n", "a", "-n", "b", &a, &b]));
    assert!(!codes(&result).contains(&"SAMPLES_PROBLEM"), "{:?}", codes(&result));
    let taken = few("3", &["--counters", "page-faults", "--metric", "page-faults:ms=x", "true"]);
    room.run(&taken).ends(2).complains("--counters counts something with that name");
    let own = "sh -c 'echo \"{\\\"metric\\\":\\\"page-faults\\\",\\\"value\\\":7}\" >&7'";
    let result = room.json(&few("3", &["--samples", "--counters", "page-faults", own]));
    assert!(result["descriptions"][0]["metrics"]["page-faults"]["max"].as_f64() != Some(7.0));
}

#[test]
fn a_command_that_reports_nothing_is_told_of() {
    let result = Room::new().json(&few("5", &["--samples", "true"]));
    assert!(codes(&result).contains(&"SAMPLES_PROBLEM"), "{:?}", codes(&result));
}

#[test]
fn an_interrupted_load_is_no_failure_and_no_observation() {
    let room = Room::new();
    // One run of the first block ends immediately, the others never.
    room.write("load.sh", "mkdir first 2>/dev/null && exit; exec sleep 1000.5");
    let load =
        ["run", "--save", "x.assay", "-r", "3", "--warmup", "0", "--jobs", "3", "-i", "sh load.sh"];
    let running = crate::room::start(room.assay(&load));
    crate::room::until("it runs", || crate::room::processes_of("sleep 1000.5").len() == 2);
    running.interrupt_twice();
    running.finish().ends(130);
    assert!(room.records("x.assay", "obs").is_empty());
    crate::room::until("nobody is left", || crate::room::processes_of("sleep 1000.5").is_empty());
}
