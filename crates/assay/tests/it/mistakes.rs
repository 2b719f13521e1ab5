//! Mistakes that users of other tools make: every message names the line or the option to type.

use crate::room::Room;

/// A room with files that the mistakes are about.
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
        assert!(!ended.stderr.contains("as a value, use"), "{line}: {}", ended.stderr);
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
        ("run ./sorter ./sortre", "Did you mean `./sorter`?"),
        ("bench sleep 1", "assay bench 'sleep 1'"),
        ("bench 'go test -bench .'", "assay bench ./old.test ./new.test"),
        ("bench cargo bench", "cargo bench --no-run"),
        ("profile sort data", "assay profile 'sort data'"),
        ("calibrate sort data", "assay calibrate -- sort data"),
        ("doctor --fix sort data", "assay doctor --fix -- sort data"),
        ("tests pytest -x", "assay tests -- pytest -x"),
        ("tests -r 3 pytest", "assay tests -r 3 -- pytest"),
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
    // A verb that nothing resembles is not answered with a guess.
    let ended = room().run(&["nosuchverb"]).ends(2).complains("'nosuchverb'");
    assert!(!ended.stderr.contains("similar"), "{}", ended.stderr);
}

#[test]
fn options_of_other_tools_are_answered_with_the_right_ones() {
    check(&[
        ("run --min-runs 3 true", "-r"),
        ("run -m 3 true", "-r"),
        ("run --export-json f true", "--export FILE.json"),
        ("run --show-output true", "--output inherit"),
        ("run -D 1 true", "-P n=0..1+0.25"),
        ("run -j 4 true", "never made in parallel"),
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
        ("run -r -3 true", "-3 is not in 1.."),
        ("run -r 1.5 true", "write a whole number"),
        ("run -r 10s true", "--time 10s"),
        ("run -w 3s true", "write a whole number"),
        ("run -r 99999999999999999999 true", "too large"),
        ("run -r 0 true", "1.."),
        ("run --time -5 true", "more than 0 s"),
        ("run --time 5 minutes true", "--time 5min"),
        ("run --time 5% true", "`90s` or `2min`"),
        ("run --threshold -5% true", "greater than 0"),
        ("run --threshold 5 true", "`5%`"),
        ("run --threshold 5m true", "`5min` or `5ms`"),
        ("run --threshold 5MS true", "known are ns, us, ms"),
        ("compare a.txt b.txt --unit MS", "did you mean `ms`"),
        ("compare a.txt b.txt --unit m", "`min` or `ms`"),
        ("compare a.txt b.txt --skip -1", "write a whole number"),
        ("run -P n 'sort {n}'", "-P n=1..8"),
        ("run --prepare true --prepare true sort", "once per command"),
        ("load --rate 50/s http://localhost", "a rate is a number above 0"),
        ("load 8000", "is not a valid URL: write http://host:port/path"),
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
