//! Mistakes that users of other tools make: every message names the line or the option to type.

use crate::room::Room;

/// Returns a room with the files that the command lines name.
fn room() -> Room {
    let room = Room::new();
    for (name, text) in [
        ("a.txt", "10\n11\n12\n10\n11\n12\n"),
        ("b.txt", "12\n13\n14\n12\n13\n14\n"),
        ("data", "3\n1\n2\n"),
        ("empty.txt", ""),
        ("words.txt", "hello world\n"),
        ("cut.json", "{\"results\":[{\"command\":\"sleep 0.1\",\"times\":[0.1,0.11,"),
        ("test_x.py", "def test_a():\n    pass\n"),
        ("go1.txt", "BenchmarkFoo-8 100 10 ns/op\nBenchmarkFoo-8 100 11 ns/op\n"),
        ("go2.txt", "BenchmarkBar-8 100 10 ns/op\nBenchmarkBar-8 100 11 ns/op\n"),
        ("go3.txt", "BenchmarkFoo-8 100 10 B/op\nBenchmarkFoo-8 100 11 B/op\n"),
        ("go4.txt", "BenchmarkFoo-8 100 10 ns/op 5 B/op\nBenchmarkFoo-8 100 11 ns/op 5 B/op\n"),
        ("saved.json", "{\"schema\": 1, \"verb\": \"run\", \"file\": \"two.assay\"}"),
        ("unsaved.json", "{\"schema\": 1, \"verb\": \"run\", \"file\": null}"),
        ("described.json", "{\"schema\": 1, \"verb\": \"describe\", \"series\": []}"),
        ("unit.txt", "10.1 s\n10.2 s\n10.3 s\n"),
        ("decimal.txt", "1.234,5\n1.235,5\n"),
        ("thousands.txt", "1,234.5\n1,235.5\n"),
        ("text.csv", "a,b,c\n1,2,x\n3,4,y\n"),
        ("script", "#!/bin/sh\necho 1\n"),
    ] {
        room.write(name, text);
    }
    room.link("sort", "sorter");
    std::fs::write(room.path("binary"), [0, 159, 146, 150, 0, 1, 2, 255]).unwrap();
    std::fs::create_dir(room.path("dir")).unwrap();
    room
}

/// Runs every command line, which must end with status 2, and checks its message.
fn check(mistakes: &[(&str, &str)]) {
    let room = room();
    for (line, right) in mistakes {
        let words = shell_words::split(line).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = room.run(&words);
        assert_eq!(ended.status, 2, "{line}: {ended:#?}");
        assert!(ended.stderr.contains(right), "{line}: no `{right}` in {}", ended.stderr);
        for no in ["as a value, use", "(os error"] {
            assert!(!ended.stderr.contains(no), "{line}: {}", ended.stderr);
        }
    }
}

#[test]
fn a_command_in_the_wrong_place_is_answered_with_the_right_line() {
    check(&[
        ("run sort data", "assay run 'sort data'"),
        ("run --no-save sort data", "assay run --no-save 'sort data'"),
        ("run ls -la", "assay run 'ls -la'"),
        ("run sort data --json", "assay run 'sort data' --json"),
        ("run -- sort data", "assay run 'sort data'"),
        (
            "run sort -n data",
            "if `-n` is an argument of `sort`, quote the whole command: assay run 'sort -n data'",
        ),
        ("run sort -n data", "put it before the command: assay run -n data sort"),
        ("run sh -c 'sleep 1'", "quote the whole command: assay run"),
        (
            "run sort -r data",
            "if `-r` is an argument of `sort`, quote the whole command: assay run 'sort -r data'",
        ),
        ("profile sort -r data", "assay profile 'sort -r data'"),
        (
            "run sort -j4",
            "if `-j4` is an argument of `sort`, quote the whole command: assay run 'sort -j4'",
        ),
        ("run sort -j 4 --json", "assay run 'sort -j 4' --json"),
        ("run sort data", "in the current directory, but it is not a program"),
        ("run ./sorter ./sortre", "Did you mean `./sorter`?"),
        ("bench sleep 1", "assay bench 'sleep 1'"),
        ("bench 'go test -bench .'", "assay bench ./old.test ./new.test"),
        ("bench cargo bench", "cargo bench --no-run"),
        ("profile sort data", "assay profile 'sort data'"),
        ("calibrate sort data", "assay calibrate -- sort data"),
        ("doctor --fix sort data", "assay doctor --fix -- sort data"),
        ("tests pytest -x", "assay tests -- pytest -x"),
        ("tests -r 3 pytest", "assay tests -r 3 -- pytest"),
        ("tests 'pytest -q'", "assay tests -- pytest -q"),
        ("watch 'pytest -q'", "assay watch -- pytest -q"),
        ("calibrate --time 1s 'sort -n' 'sort -r'", "only one command is calibrated"),
        ("bisect HEAD~3..HEAD 'sort -n'", "assay bisect HEAD~3..HEAD -- sort -n"),
        ("profile --sampler stackprof 'sort data'", "stackprof samples Ruby programs only"),
        ("tests -- true", "its framework is not recognized"),
        (
            "tests --junit none/x.xml -- true",
            "--junit none/x.xml: the directory none does not exist",
        ),
        ("tests --framework junit:none.xml -- true", "it did not write none.xml"),
        ("tests --threshold 1% -- true", "one suite is not compared with anything"),
        ("bench a.txt b.txt", "assay compare a.txt b.txt"),
        ("bench --rev main ./sorter", "the program is given by --program ./sorter"),
        ("bench --builds 3 ./sorter", "--rev OLD --rev NEW --builds 3 --program ./sorter"),
        ("tests -x", "assay tests -- COMMAND -x"),
        ("tests -k foo -- pytest", "assay tests -- pytest -k foo"),
        ("tests test_x.py", "assay tests -- COMMAND test_x.py"),
        ("tests -- 'sort -n'", "Write `sort` and its arguments as separate words"),
        ("watch pytest", "assay watch -- pytest"),
        ("warm sort data", "assay warm -- sort data"),
        ("bisect HEAD~3..HEAD sort", "assay bisect HEAD~3..HEAD -- sort"),
        ("bisect v1 v2", "assay bisect v1..v2 -- COMMAND"),
        ("bisect v1 v2 -- sort", "assay bisect v1..v2 -- "),
        ("compare 'sort data' 'sort -n data'", "assay run 'sort data' 'sort -n data'"),
        ("describe sort data", "assay run 'sort data'"),
    ]);
}

#[test]
fn files_in_the_wrong_place_are_answered_with_the_right_line() {
    check(&[
        ("convert a.txt b.csv", "assay convert a.txt -o b.csv"),
        ("convert a.txt b.assay", "assay convert a.txt -o b.assay"),
        ("plan a.txt b.txt", "assay plan --pilot a.txt b.txt --threshold 1%"),
        ("compare a.txt b.txt 5%", "--threshold 5%"),
        ("compare old=a.txt new=b.txt", "--side old=a.txt --side new=b.txt"),
        ("compare 'a.txt b.txt'", "assay compare a.txt b.txt"),
        ("compare a.txt,b.txt", "assay compare a.txt b.txt"),
        ("compare benchmarks a.txt b.txt", "needs no `benchmarks`"),
        ("compare a.txt bb.txt", "did you mean `b.txt`"),
        ("compare empty.txt b.txt", "is empty; expected numbers"),
        ("compare binary b.txt", "is binary; expected text"),
        ("compare dir b.txt", "name a file in it"),
        ("compare cut.json b.txt", "breaks off here, so write or copy it again"),
        ("compare words.txt b.txt", "its format is unknown"),
        ("compare a.txt b.txt --report x.pdf", "name it x.html"),
        ("simulate --distribution 'normal(10, 1)' -o x.json", ".txt, .csv or .assay"),
        ("simulate normal", "assay simulate --distribution 'normal(10, 1)'"),
        ("simulate --distribution 1 -o none/x.txt", "the directory none does not exist"),
        ("compare go1.txt go2.txt", "no benchmark in common"),
        ("compare go1.txt go3.txt", "no metric is in all files"),
        ("compare unit.txt b.txt", "`--column 1 --unit s`"),
        ("compare decimal.txt b.txt", "`1234.5`"),
        ("compare thousands.txt b.txt", "`1234.5`"),
        ("compare text.csv", "`--by c --value COLUMN`"),
        ("compare script script", "assay run ./script ./script"),
        ("compare a.txt --column 0", "counted from 1"),
        ("compare --filter foo a.txt b.txt", "nothing matches `foo`"),
        ("compare --primary x a.txt b.txt", "the only one is `value`"),
        ("describe --primary x a.txt", "the only one is `value`"),
        ("compare --primary values a.txt b.txt", "the only one is `value`"),
        (
            "compare --primary Wall go4.txt go4.txt",
            "did you mean `wall`? The metrics are wall, B/op",
        ),
        ("compare --primary walls go4.txt go4.txt", "did you mean `wall`?"),
        ("compare --primary b/op go4.txt go4.txt", "did you mean `B/op`?"),
        ("compare --primary nothing go4.txt", "the metrics are wall, B/op"),
        ("describe --primary time go4.txt", "did you mean `wall`?"),
        ("plan --pilot go4.txt --primary Wall --threshold 1%", "did you mean `wall`?"),
        ("compare saved.json", "they are in two.assay: name that file instead"),
        ("compare saved.json b.txt", "this is a report of `run`"),
        ("compare unsaved.json", "measure again with `--save FILE.assay`"),
        ("compare described.json", "name the files that it was made from instead"),
        ("run --no-save --input dir cat", "takes the file that the command reads"),
        ("run --no-save --input none.txt cat", "No such file or directory"),
        ("gate --detect 5% --threshold 10% a.txt", "give --detect 10% or more"),
        ("gate --detect 0.5% a.txt", "or --threshold 0.5%"),
        ("describe --export x.json a.txt", "assay describe --json a.txt > x.json"),
        ("doctor --export x.json --quick", "assay doctor --json --quick > x.json"),
        ("convert --to json a.txt", "assay describe --json FILE"),
        ("why a.txt", "give a second file"),
        ("why 'sort data' 'sort -n data'", "assay run --why 'sort data' 'sort -n data'"),
        ("load --har a.txt http://localhost", "expected an object with a `log`"),
        ("load --har empty.txt http://localhost", "is empty or breaks off"),
        ("gate a b", "assay compare a b"),
        ("check HEAD~1", "--base HEAD~1"),
        ("plan 50 1% 3%", "assay plan --n 50 --delta 1% --sd 3%"),
        ("bench -- ./script", "assay bench ./script"),
        ("bench go test -bench .", "go test -c"),
        ("bench 'ruby nothere.rb'", "nothere.rb: no such file"),
        ("bench 'python3 -m pytest nothere.py'", "nothere.py: no such file"),
        ("bisect start", "assay bisect GOOD..BAD -- COMMAND"),
        ("help TOO_DEPENDANT", "assay help TOO_DEPENDENT"),
        ("man run", "assay help run"),
    ]);
}

#[test]
fn a_first_word_that_is_no_verb_is_answered_with_the_verb() {
    check(&[
        ("stat sort", "assay run"),
        ("time sort", "assay run"),
        ("sort data", "assay run 'sort data'"),
        ("'sort data' 'sort -n data'", "assay run 'sort data' 'sort -n data'"),
        ("a.txt b.txt", "assay compare a.txt b.txt"),
        ("./sorter ./sorter", "assay run ./sorter ./sorter"),
        (
            "./older ./newer",
            "there is no file `./older`; commands are measured by: assay run ./older ./newer",
        ),
        ("version", "assay --version"),
        ("http://localhost:8000/", "assay load http://localhost:8000/"),
        ("pytest -x", "assay tests -- pytest -x"),
        ("diff a.txt b.txt", "assay compare"),
        ("record sort", "assay profile"),
        ("attack", "assay load"),
        ("log", "assay history log"),
        ("plot", "--plots"),
        ("mutmut", "assay mutate"),
        ("bnech", "'bench'"),
        ("history list", "assay history log"),
        ("-r 3 sort", "name a verb first"),
        ("help benhc", "assay help bench"),
        ("help drfit", "assay help Drift"),
    ]);
    // There is no suggestion for a verb that resembles no other.
    let ended = room().run(&["nosuchverb"]).ends(2).complains("'nosuchverb'");
    assert!(!ended.stderr.contains("similar"), "{}", ended.stderr);
}

#[test]
fn options_of_other_tools_are_answered_with_the_right_ones() {
    check(&[
        ("run --min-runs 3 true", "-r"),
        ("run true --compare old.assay", "assay compare FILE"),
        ("run -m 3 true", "-r"),
        ("run --export-json f true", "--export FILE.json"),
        ("run --show-output true", "--output inherit"),
        ("run -D 1 true", "-P n=0..1+0.25"),
        ("run -j 4 true", "never made in parallel"),
        ("run --rev HEAD true", "assay bench --rev OLD"),
        ("check --time 3s", "--budget"),
        ("check --primary cpu", "--metric cpu"),
        ("bisect --good a --bad b", "assay bisect GOOD..BAD"),
        ("bench --warmup 3 ./a", "assay run --warmup"),
        ("bench --baseline x", "--save FILE"),
        ("bench -bench=. ./a", "--filter"),
        ("bench -count=10 ./a", "-r"),
        ("bench --benchmark_filter=x ./a", "--filter '.name:/Sort/'"),
        ("compare -col .file a.txt", "two dashes: --col"),
        ("compare -t 5% a.txt b.txt", "--threshold 5%"),
        ("compare -c 95 a.txt b.txt", "--confidence 95%"),
        ("compare -C 2 a.txt b.txt", "--column 2"),
        ("compare -alpha 0.05 a.txt b.txt", "--confidence 99%"),
        ("compare --alpha 0.05 a.txt b.txt", "--confidence 99%"),
        ("compare -delta-test ttest a.txt b.txt", "--all shows every classical test"),
        ("compare -s a.txt b.txt", "assay ministat"),
        ("compare --html a.txt b.txt", "--report FILE.html"),
        ("profile -p 12", "--pid 1234"),
        ("profile -F 99 true", "--rate 997"),
        ("profile -g true", "stacks are always recorded"),
        ("profile record -- sort data", "needs no `record`"),
        ("load -R 100 http://localhost", "--rate 100"),
        ("load -s x.lua http://localhost", "--path"),
        ("load -k http://localhost", "--new-connections"),
        ("load -n 1000 http://localhost", "--rate 100 --requests-per-step 1000"),
        ("load -z 10s http://localhost", "--slice 5s --time 2min"),
        ("load -d 30s -c 10 -t 2 http://localhost", "--slice 5s --time 2min"),
        ("load -t 2 http://localhost", "--generators 2"),
        ("load --latency http://localhost", "always measured and shown"),
        ("load -m POST http://localhost", "-X POST"),
        ("load -rate=50 http://localhost", "two dashes: --rate=50"),
        ("load -duration=5s http://localhost", "--slice 5s --time 2min"),
        ("load -q 100 http://localhost", "--rate 100"),
        ("load attack http://localhost", "needs no `attack`"),
        ("run --no-such-thing true", "--no-such-thing"),
    ]);
}

#[test]
fn wrong_values_are_answered_with_how_they_are_written() {
    check(&[
        ("run -r -3 true", "write a whole number, 1 or more"),
        ("run -r 1.5 true", "write a whole number"),
        ("run -r 10s true", "--time 10s"),
        ("run -w 3s true", "write a whole number"),
        ("run -r 99999999999999999999 true", "too large"),
        ("run -r 0 true", "write a whole number, 1 or more"),
        ("run -r sort.txt true", "write a whole number, such as 10"),
        ("run --time -5 true", "more than 0 s"),
        ("run --time 5 minutes true", "--time 5min"),
        ("run --time 5% true", "`90s` or `2min`"),
        ("run --time foo true", "its unit is ns, us, ms, s, min or h"),
        ("run --time 0,5s true", "decimals have a point: write `0.5s`"),
        ("run --time 1m30s true", "write `90s`"),
        ("run --confidence foo true", "write it like `99%`"),
        ("run --confidence 95,5% true", "write `95.5%`"),
        ("run --threshold 0,5% true", "write `0.5%`"),
        ("run --jobs 0 true", "must be from 1 to 1024"),
        ("run --nice 30 true", "must be from -20 to 19"),
        ("run -n a -n b true", "and there is 1 command: give it once per command"),
        ("run --save out.json true", "name it out.assay"),
        ("run --threshold -5% true", "greater than 0"),
        ("run --threshold 5 true", "`5%`"),
        ("run --threshold 5m true", "`5min` or `5ms`"),
        ("run --threshold 5MS true", "known are ns, us, ms"),
        ("compare a.txt b.txt --unit MS", "did you mean `ms`"),
        ("compare a.txt b.txt --unit m", "`min` or `ms`"),
        ("gate --threshold 3 a.txt", "write `3%`"),
        ("gate --threshold 0,5% a.txt", "write `0.5%`"),
        ("plan --sd 0", "must be greater than 0"),
        ("simulate --distribution 1 --ar 50%", "write it as a factor: 0.5"),
        ("simulate --distribution 1 --ar 2", "'--ar <FACTOR>': it must lie between -1 and 1"),
        ("compare a.txt b.txt --skip -1", "write a whole number"),
        ("run -P n 'sort {n}'", "-P n=1..8"),
        ("run --prepare true --prepare true sort", "once per command"),
        ("run -L n -r 2 'echo {n}'", "-L takes a name and values, as in -L n 1,2"),
        ("run -L n=1,2 'echo {n}' true", "-L takes a name and values as two words"),
        ("run -P n=0,5..1 'echo {n}'", "`5..1` in a list is not a value"),
        ("run -P n=a..c 'echo {n}'", "a range needs numbers"),
        ("run -P 'n=1;2;3' 'echo {n}'", "values are separated by commas: 1,2,3"),
        ("run -P n= 'echo {n}'", "the list of values is empty"),
        ("run -P n=1..3 -L n 1,2 'echo {n}'", "`n` is given twice"),
        ("run -P n=1..1000000 'echo {n}'", "with a factor or a step, as in -P n=1..1000000*10"),
        ("run --zip true true", "--zip steps through several parameters together"),
        ("run --no-save --threshold 1KiB -r 2 true true", "write e.g. 5ms or 1%"),
        ("run --no-save --primary walltime -r 2 true", "did you mean wall?"),
        ("run --no-save --primary wal -r 2 true", "did you mean wall?"),
        ("run --no-save --primary memory -r 2 true", "did you mean max_rss?"),
        ("run --no-save --primary instructions -r 2 true", "count it with --counters instructions"),
        ("run --no-save --primary nothing -r 2 true", "cpu_per_wall"),
        ("load --rate 50/s http://localhost", "write the number alone: --rate 50"),
        ("load --rate 10rps http://localhost", "write the number alone: --rate 10"),
        ("load --rate -5 http://localhost", "a rate is a number above 0"),
        ("load --expect-status 20x http://localhost", "such as 200 or 200,204"),
        ("load --server localhost --port 80 --num-conns 10", "assay load http://localhost:80/"),
        ("load ./sorter", "is a file, not a URL"),
        ("load --pin 99999 http://localhost", "there is no CPU 99999 here"),
        ("load --insecure --tls-version 1.3 http://localhost", "only https:// has TLS"),
        ("load --values a.txt http://localhost", "to fill in"),
        ("load --serve 'sort data' 'http://localhost:{port}/'", "{port} is in the URL, but not"),
        ("load 8000", "is not a valid URL: write http://host:port/path"),
        (
            "load --record-requests none/r.csv http://localhost:1/",
            "--record-requests none/r.csv: the directory none does not exist",
        ),
    ]);
}

#[test]
fn spellings_of_other_tools_that_are_not_ambiguous_are_accepted() {
    let room = room();
    for line in [
        "run -N -r 1 true",
        "run --shell=none -r 1 true",
        "run --shell none -r 1 true",
        "run -L n --a,--b -r 1 'echo {n}'",
        r"run -L n 'a\,b,c' -r 1 'echo {n}'",
        "convert a.txt -o b.csv",
    ] {
        let words = shell_words::split(line).unwrap();
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        if line.starts_with("run") {
            words.insert(1, "--no-save");
        }
        room.run(&words).ends(0);
    }
    assert!(room.read("b.csv").lines().count() > 6);
}

#[test]
fn a_program_without_the_command_that_it_runs_is_warned_of() {
    let room = room();
    let told = "`sh` without arguments only reads its empty input; if `./sorter` is its argument: assay run 'sh ./sorter'";
    room.run(&["run", "--no-save", "-r", "2", "sh", "./sorter"]).ends(0).complains(told);
    let told =
        "`env` without arguments runs no command; if `true` is its argument: assay run 'env true'";
    room.run(&["run", "--no-save", "-r", "2", "env", "true"]).ends(0).complains(told);
    let ended = room.run(&["run", "--no-save", "-r", "2", "sh", "sh"]).ends(0);
    assert!(!ended.stderr.contains("without arguments"), "{}", ended.stderr);
}

#[test]
fn recordings_decided_by_different_metrics_are_compared_with_advice() {
    let room = Room::new();
    for (name, metric) in [("w.assay", "wall"), ("c.assay", "cpu")] {
        room.run(&["run", "-r", "2", "--primary", metric, "--save", name, "true"]).ends(0);
    }
    let told = "different metrics decided about the recordings (w.assay by wall, c.assay by cpu); here wall decides";
    let asked = ["compare", "w.assay", "c.assay", "--json"];
    let result = room.run(&asked).ends(0).json();
    let finding = result["findings"].as_array().unwrap().iter().find(|f| f["message"] == told);
    let advice = &finding.unwrap()["advice"][0];
    assert_eq!((&advice["option"], &advice["value"]), (&"--primary".into(), &"cpu".into()));
    for metric in ["wall", "cpu"] {
        let named = room.run(&[&asked[..], &["--primary", metric]].concat()).ends(0);
        assert!(!named.stdout.contains("different metrics decided"), "{}", named.stdout);
    }
    let same = room.run(&["compare", "w.assay", "w.assay", "--json"]).ends(0);
    assert!(!same.stdout.contains("different metrics decided"), "{}", same.stdout);
}
