//! `assay simulate`: the output can be read, describes itself, and is reproducible from its seed.

use crate::room::{Room, finish};

const LOG: &str = "4000 + lognormal(5, 0.2)";

/// Parses a file with one number per line.
fn numbers(text: &str) -> Vec<f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.parse().unwrap()).collect()
}

#[test]
fn the_same_seed_writes_the_same_numbers_and_the_file_says_how() {
    let room = Room::new();
    let to = |file: &'static str| {
        ["simulate", "-n", "50", "--distribution", LOG, "--seed", "7", "--out", file]
    };
    room.run(&to("a.txt")).ends(0);
    room.run(&to("b.txt")).ends(0);
    let text = room.read("a.txt");
    assert_eq!(numbers(&text), numbers(&room.read("b.txt")));
    assert_eq!(numbers(&text).len(), 50);
    assert!(numbers(&text).iter().all(|&value| value > 4000.0));
    for line in [
        "# distribution: 4000 + lognormal(5, 0.2)",
        "# seed: 7",
        "synthetic data",
        "simulate -n 50 --distribution '4000 + ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let printed = room.run(&["simulate", "-n", "50", "--distribution", LOG, "--seed", "7"]).ends(0);
    assert_eq!(numbers(&printed.stdout), numbers(&text));
    // Without a seed one is drawn, and it is in the file.
    let drawn = room.run(&["simulate", "--distribution", LOG]).ends(0).stdout;
    let seed = drawn.lines().find_map(|line| line.strip_prefix("# seed: ")).unwrap().to_owned();
    let again = room.run(&["simulate", "--distribution", LOG, "--seed", &seed]).ends(0).stdout;
    assert_eq!(numbers(&drawn), numbers(&again));
    assert_eq!(numbers(&drawn).len(), 1000);
}

#[test]
fn what_is_written_can_be_compared_in_every_form() {
    let room = Room::new();
    let subjects = ["--subject", "old=normal(100, 2)", "--subject", "a, new=normal(90, 2)"];
    let run = |more: &[&'static str]| {
        let words = [&["simulate", "-n", "60", "--seed", "3", "--unit", "ms"][..], &subjects, more]
            .concat();
        room.run(&words).ends(0)
    };
    run(&["--out", "wide.csv"]);
    run(&["--out", "apart.assay"]);
    run(&["--blocks", "--out", "blocks.csv"]);
    run(&["--blocks", "--out", "blocks.assay"]);
    for file in ["wide.csv", "apart.assay", "blocks.csv", "blocks.assay"] {
        let unit = if file == "wide.csv" { vec!["--unit", "ms"] } else { vec![] };
        let result = room.json(&[&["compare", file][..], &unit].concat());
        assert_eq!(result["verdict"], "faster", "{file}");
        let only = &result["comparisons"][0];
        assert_eq!((&only["of"], &only["against"]), (&"a, new".into(), &"old".into()), "{file}");
        let design = if file.starts_with("blocks") { "blocks" } else { "unpaired" };
        assert_eq!(result["design"], design, "{file}");
        let metric = &result["descriptions"][0]["metrics"]["value"];
        assert_eq!((&metric["unit"], &metric["n"]), (&"s".into(), &60.into()), "{file}");
        assert!((metric["median"].as_f64().unwrap() - 0.1).abs() < 0.002, "{file}");
    }
    assert_eq!(room.json(&["compare", "blocks.assay"])["environment"]["simulated"], true);
    let piped = room.shell(
        "$ASSAY simulate --subject a='normal(9, 1)' --subject b='normal(9, 1)' | $ASSAY compare -",
    );
    assert!(finish(piped).ends(0).stdout.contains("separate runs"));
}

#[test]
fn what_goes_wrong_can_be_seen_in_the_numbers() {
    let room = Room::new();
    let run = |more: &[&'static str]| {
        let words = [&["simulate", "-n", "400", "--seed", "3"][..], more].concat();
        numbers(&room.run(&words).ends(0).stdout)
    };
    let coarse = run(&["--distribution", "lognormal(5, 0.2)", "--unit", "us", "--step", "10us"]);
    assert!(coarse.iter().all(|value| value % 10.0 == 0.0), "{coarse:?}");
    let ticking = run(&["--distribution", "100", "--tick", "period 4, 50%"]);
    assert_eq!(ticking.iter().filter(|&&value| value == 150.0).count(), 100);
    let drifting = run(&["--distribution", "100", "--drift", "-20"]);
    assert_eq!((drifting[0], drifting[399]), (100.0, 80.0));
    let wild = run(&["--distribution", "100", "--outliers", "5%: 10 x"]);
    let outliers = wild.iter().filter(|&&value| value == 1000.0).count();
    assert!((5..40).contains(&outliers), "{outliers}");
    let tied = run(&["--distribution", "normal(0, 1)", "--ar", "0.95"]);
    let steps: f64 = tied.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum::<f64>() / 399.0;
    assert!(steps < 0.5, "{steps}");
}

#[test]
fn a_mistake_is_told_with_its_place() {
    let room = Room::new();
    let told = |words: &[&str], what: &str| {
        room.run(&[&["simulate"], words].concat()).ends(2).complains(what);
    };
    told(&[], "--distribution");
    told(
        &["--distribution", "lognrmal(5, 0.2)"],
        "at character 1 of `lognrmal(5, 0.2)`: there is no distribution `lognrmal`",
    );
    told(&["--distribution", "mix(0.5: 1, 0.6: 2)"], "these add up to 1.1");
    told(&["--subject", "a"], "NAME=DISTRIBUTION");
    told(&["--subject", "=1"], "a name");
    told(&["--subject", "12=1"], "read as a number");
    told(&["--subject", "a=1", "--subject", "a=2"], "two subjects");
    told(&["--subject", "a=1 +"], "--subject a: at character 4");
    told(&["--distribution", "1", "--subject", "a=1"], "cannot be used with");
    told(&["--distribution", "1", "-n", "0"], "0");
    told(&["--distribution", "1", "--ar", "1"], "between -1 and 1");
    told(&["--distribution", "1", "--step", "0"], "step");
    told(&["--distribution", "1", "--step", "1us"], "--unit");
    told(&["--distribution", "1", "--drift", "much"], "--drift much");
    told(&["--distribution", "1", "--tick", "3%"], "period 10, 3%");
    told(&["--distribution", "1", "--outliers", "3%"], "1%: 10 x");
    told(&["--distribution", "lognormal(9999, 1)"], "too large to be a number");
    told(&["--subject", "a=1", "--subject", "b=1", "--out", "x.txt"], ".assay or .csv");
    told(&["--distribution", "1", "--blocks", "--out", "x.txt"], ".assay or .csv");
    told(&["--distribution", "1", "--out", "nowhere/x.txt"], "nowhere/x.txt");
}

#[test]
fn a_file_of_something_else_is_not_overwritten() {
    let room = Room::new();
    for file in ["thesis.txt", "thesis.assay"] {
        room.write(file, "years of work");
        room.run(&["simulate", "--distribution", "1", "--out", file])
            .ends(2)
            .complains("not overwritten");
        assert_eq!(room.read(file), "years of work");
    }
    room.run(&["simulate", "--distribution", "1", "--out", "own.txt"]).ends(0);
    room.run(&["simulate", "--distribution", "2", "-n", "2", "--out", "own.txt"]).ends(0);
    assert_eq!(numbers(&room.read("own.txt")), [2.0, 2.0]);
}

#[test]
fn numbers_that_end_half_way_leave_what_was_there() {
    let room = Room::new();
    // Beyond the size of a file buffer, one value is too large.
    let distribution = "mix(0.9999: 1, 0.0001: lognormal(9999, 1))";
    let words = [
        "simulate",
        "-n",
        "200000",
        "--seed",
        "1",
        "--distribution",
        distribution,
        "--out",
        "x.txt",
    ];
    room.run(&words).ends(2).complains("x.txt");
    assert!(!room.path("x.txt").exists());
    room.run(&["simulate", "--distribution", "2", "-n", "2", "--out", "x.txt"]).ends(0);
    room.run(&words).ends(2);
    assert_eq!(numbers(&room.read("x.txt")), [2.0, 2.0]);
}

#[test]
fn huge_numbers_are_told_with_an_exponent() {
    let room = Room::new();
    let ended =
        room.run(&["simulate", "--distribution", "1e308 * 1e308"]).ends(2).complains("1e308");
    assert!(!ended.stderr.contains("000000"), "{}", ended.stderr);
    let text = room
        .run(&["simulate", "--distribution", "uniform(1e-300, 1e300)", "-n", "1"])
        .ends(0)
        .stdout;
    assert!(text.contains("# distribution: uniform(1e-300, 1e300)"), "{text}");
}

#[test]
fn json_tells_what_was_written_where() {
    let room = Room::new();
    let written = room.json(&[
        "simulate",
        "-n",
        "9",
        "--distribution",
        LOG,
        "--seed",
        "7",
        "--unit",
        "ms",
        "--out",
        "a.txt",
    ]);
    assert_eq!((&written["file"], &written["n"]), (&"a.txt".into(), &9.into()));
    assert_eq!(written["subjects"][0]["distribution"], LOG);
    assert_eq!((&written["seed"], &written["unit"]), (&7.into(), &"s".into()));
    assert_eq!(numbers(&room.read("a.txt")).len(), 9);
    room.run(&["simulate", "--distribution", "1", "--json"]).ends(2).complains("--out");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let room = Room::new();
    let line = "$ASSAY simulate -n 200000 --distribution 'uniform(0, 1)' | head -n 1; test ${PIPESTATUS:-0} -le 1";
    assert!(finish(room.shell(line)).ends(0).stderr.is_empty());
}
