//! `perf stat`: fields and JSON, appended runs, repeated runs, intervals, processors, and the
//! human-readable output.

use super::*;

#[test]
fn a_run_is_one_observation_in_base_units() {
    for (file, wall, cpu) in [
        ("once.csv", 7_734_440.0, 3_958_326.0),
        ("once.json", 1_385_650.0, 736_966.0),
        ("tabs.csv", 3_184.0, 809_944.0),
    ] {
        let samples = load_file(&format!("perf-stat/{file}"));
        assert_eq!((samples.len(), samples.subjects.len()), (1, 1), "{file}");
        assert_eq!(names(&samples), [file.split('.').next().expect("a stem")]);
        assert_eq!(samples.summaries, []);
        let one = samples.subjects[0].name.clone();
        assert_eq!(values(&samples, &one, "wall"), [wall / 1e9], "{file}");
        // Printed as 3.96 msec; the time for which it counted has the full precision.
        assert_eq!(values(&samples, &one, "cpu"), [cpu / 1e9], "{file}");
        assert_eq!(samples.metrics[0].name, "cpu", "what perf told first");
        assert_eq!(codes(&samples), ["NOT_COUNTED"]);
        let told = &samples.findings[0].message;
        assert!(told.contains("`cycles` (not supported)"), "{told}");
        assert!(told.contains("`system_time` (not counted)"), "{told}");
        let started = samples.started.as_deref().expect("perf writes it");
        assert!(started.starts_with("Sat Nov 21 13:06"), "{started}");
    }
    let once = load_file("perf-stat/once.csv");
    assert_eq!(
        metrics(&once),
        [
            "cpu [s]",
            "context-switches [1]",
            "page-faults [1]",
            "cpu-migrations [1]",
            "wall [s]",
            "user [s]"
        ]
    );
}

#[test]
fn runs_appended_to_a_file_are_one_observation_each() {
    let samples = load_file("perf-stat/appended.csv");
    assert_eq!((samples.len(), samples.subjects.len()), (5, 1));
    assert_eq!(values(&samples, "appended", "page-faults"), [64.0, 64.0, 61.0, 64.0, 64.0]);
    let json = load_file("perf-stat/appended.json");
    assert_eq!(values(&json, "appended", "page-faults"), [50.0, 47.0, 48.0]);
    // The same file without the lines that state the start of each run, as on standard error.
    let bare: String = text("perf-stat/appended.csv")
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(plain(bare).expect("five runs").len(), 5);
}

#[test]
fn of_repeated_runs_the_mean_and_its_standard_error_survive() {
    for file in ["repeated.csv", "repeated-semicolon.csv", "repeated.json"] {
        let samples = load_file(&format!("perf-stat/{file}"));
        assert_eq!(samples.len(), 0, "{file}");
        assert!(samples.summaries.iter().all(|s| s.count.is_none() && s.sd.is_none()));
    }
    let samples = load_file("perf-stat/repeated.csv");
    let wall = summary(&samples, "repeated", "wall");
    assert_eq!(wall.mean, Some(10_949_119.0 / 1e9));
    let error = wall.standard_error.expect("15.44 %");
    assert!((error - 0.010_949_119 * 0.1544).abs() < 1e-15);
    let json = load_file("perf-stat/repeated.json");
    assert_eq!(summary(&json, "repeated", "context-switches").standard_error, Some(0.2));
}

#[test]
fn the_table_shows_that_the_per_cent_are_of_the_standard_error() {
    let samples = load_file("perf-stat/table.txt");
    assert_eq!(names(&samples), ["sleep 0.01"]);
    let walls = values(&samples, "sleep 0.01", "wall");
    assert_eq!(walls, [0.02799, 0.01144, 0.01146, 0.01852, 0.01549]);
    assert!(samples.summaries.iter().all(|s| s.metric != "wall" && s.count == Some(5)));
    let mean = walls.iter().sum::<f64>() / 5.0;
    let squares: f64 = walls.iter().map(|wall| (wall - mean).powi(2)).sum();
    let error = (squares / 4.0 / 5.0).sqrt();
    // perf printed `0.01698 +- 0.00306 seconds time elapsed`.
    assert!((mean - 0.01698).abs() < 5e-6 && (error - 0.00306).abs() < 5e-6);
}

#[test]
fn the_print_names_its_command() {
    let once = load_file("perf-stat/once.txt");
    assert_eq!((names(&once), once.len()), (vec!["true"], 1));
    assert_eq!(values(&once, "true", "wall"), [997_333.0 / 1e9]);
    assert_eq!(values(&once, "true", "user"), [1_078_000.0 / 1e9]);
    assert_eq!(values(&once, "true", "system"), [0.0], "told below the counters");
    assert_eq!(values(&once, "true", "cpu"), [0.54 / 1e3]);

    let default = load_file("perf-stat/default.txt");
    assert_eq!(default.len(), 1);
    assert_eq!(values(&default, "sleep 0.01", "wall"), [0.012_053_772]);
    assert_eq!(values(&default, "sleep 0.01", "user"), [0.002_080]);

    let appended = load_file("perf-stat/appended.txt");
    assert_eq!(appended.len(), 2);
    assert_eq!(values(&appended, "true", "wall"), [0.001_333_443, 0.000_919_407]);
    assert_eq!(values(&appended, "true", "page-faults"), [50.0, 49.0]);

    let repeated = load_file("perf-stat/repeated.txt");
    let faults = summary(&repeated, "true", "page-faults");
    assert_eq!((faults.mean, faults.count), (Some(51.0), Some(5)));
    assert!((faults.standard_error.expect("0.88 %") - 51.0 * 0.0088).abs() < 1e-12);
    assert_eq!(summary(&repeated, "true", "wall").mean, Some(3_136_794.0 / 1e9));
}

#[test]
fn numbers_in_groups_and_commands_of_several_lines_are_read() {
    let print = " Performance counter stats for 'sh -c true\nexit':\n\n 1,234,567      cycles:u   #  1.2 GHz   (66.7%)\n       0.5 seconds time elapsed\n";
    let samples = plain(print).expect("one report");
    assert_eq!(names(&samples), ["sh -c true exit"]);
    assert_eq!(values(&samples, "sh -c true exit", "cycles:u"), [1_234_567.0]);
    assert_eq!(codes(&samples), ["COUNTS_INCOMPLETE"]);
}

#[test]
fn intervals_are_observations_and_processors_are_subjects() {
    for file in ["interval.csv", "interval.json"] {
        let samples = load_file(&format!("perf-stat/{file}"));
        assert_eq!((samples.len(), samples.subjects.len()), (2, 1), "{file}");
        assert_eq!(values(&samples, "interval", "page-faults"), [75.0, 0.0]);
        let levels: Vec<_> = samples.observations().map(|o| o.level).collect();
        assert_eq!(levels, [[0], [3]], "two intervals in which nothing was counted lie between");
    }
    for (file, faults) in [("percpu.csv", [110.0, 468.0]), ("percpu.json", [145.0, 398.0])] {
        let samples = load_file(&format!("perf-stat/{file}"));
        assert_eq!(names(&samples), ["CPU0", "CPU1"], "{file}");
        assert_eq!(parameters(&samples, "CPU1"), ["cpu=1"]);
        assert_eq!(values(&samples, "CPU0", "page-faults"), faults[..1]);
        assert_eq!(values(&samples, "CPU1", "page-faults"), faults[1..]);
    }
    let sockets = load_file("perf-stat/persocket.csv");
    assert_eq!(names(&sockets), ["S0"]);
    assert_eq!(values(&sockets, "S0", "page-faults"), [331.0]);
}

#[test]
fn places_and_intervals_of_the_printed_text_are_read() {
    let report = |rows: &str| {
        format!(
            "\n Performance counter stats for 'make':\n\n{rows}\n       0.05 seconds time elapsed\n\n"
        )
    };
    let places = report(
        "CPU0              101.31 msec cpu-clock      #    1.000 CPUs utilized\n\
         CPU1              101.32 msec cpu-clock      #    1.000 CPUs utilized\n\
         CPU0                  15      context-switches\n\
         CPU1       <not counted>      context-switches\n",
    );
    let samples = plain(&places).expect("two processors");
    assert_eq!(names(&samples), ["CPU0", "CPU1", "make"]);
    assert_eq!(values(&samples, "CPU0", "context-switches"), [15.0]);
    assert_eq!(values(&samples, "CPU1", "cpu-clock"), [0.101_32]);
    let cores = report(
        "S0-D0-C0           1             101.29 msec cpu-clock  #  1.0 CPUs utilized\n\
         S0-D0-C1           2                 22      context-switches\n",
    );
    let samples = plain(&cores).expect("two cores");
    assert_eq!(names(&samples), ["S0-D0-C0", "S0-D0-C1", "make"]);
    assert_eq!(values(&samples, "S0-D0-C1", "context-switches"), [22.0]);
    let threads = report("   tokio worker-26580   1.5 msec task-clock\n   bash-7  2  faults\n");
    assert_eq!(names(&plain(threads).expect("threads")), ["tokio worker-26580", "bash-7", "make"]);
    let intervals = "#           time             counts unit events\n\
         \u{20}    0.050094116               0.71 msec task-clock       #    0.014 CPUs utilized\n\
         \u{20}    0.050094116                 77      page-faults      #  107.938 K/sec\n\
         \u{20}    0.100297569               0.50 msec task-clock\n\
         \u{20}    0.100297569      <not counted>      page-faults\n\
         \u{20}    0.150000000  S0   2        0.25 msec task-clock\n";
    let samples = plain(intervals).expect("intervals");
    assert_eq!(names(&samples), ["x", "S0"]);
    assert_eq!(values(&samples, "x", "cpu"), [0.71 / 1e3, 0.5 / 1e3]);
    assert_eq!(values(&samples, "S0", "cpu"), [0.25 / 1e3]);
    for wrong in ["CPU0   fast msec cpu-clock\n", "1.0   2.0   3.0 msec cpu-clock\n"] {
        assert!(refused(report(wrong)).contains("is not a counter"), "{wrong}");
    }
}

#[test]
fn groups_of_processes_are_subjects_and_computed_metrics_are_passed_over() {
    let fields = "1.00,msec,task-clock,web,1000000,100.00,,\n2.00,msec,task-clock,db,2000000,100.00,,\n,,,,,,12.5,% tma_retiring\n";
    let samples = plain(fields).expect("two groups");
    assert_eq!(names(&samples), ["web", "db"]);
    assert_eq!(values(&samples, "db", "cpu"), [0.002]);
    let print = text("perf-stat/once.txt").replace(
        "                 0      cpu-migrations",
        "        TopdownL1 (cpu_core)          #     15.2 %  tma_retiring\n                 0      cpu-migrations",
    );
    assert_eq!(plain(print).expect("one report").len(), 1);
}

#[test]
fn what_breaks_off_or_is_no_counter_is_named() {
    let csv = text("perf-stat/once.csv");
    let said = refused(&csv[..csv.find("G/sec\n1589").unwrap_or(csv.len() - 15)]);
    assert!(said.contains("breaks off here; expected"), "{said}");
    let said = refused(csv.replace("61,,page-faults", "many,,page-faults"));
    assert!(said.starts_with("x.txt:5: expected `value,unit,event,…`"), "{said}");
    let print = text("perf-stat/once.txt");
    let said = refused(&print[..print.find("0.000997333").expect("the end")]);
    assert!(said.contains("breaks off before the seconds elapsed"), "{said}");
    let said = refused(print.replace("50      page-faults", "50x     page-faults"));
    assert!(said.contains("is not a counter; expected `value [unit] event`"), "{said}");
    let said = refused(print.replace("50      page-faults", "50,1    page-faults"));
    assert!(said.starts_with("x.txt:8: `50,1` has a decimal comma, but `0.54`"), "{said}");
    let json = text("perf-stat/once.json");
    assert!(refused(&json[..json.len() - 20]).contains("breaks off here"));
}
