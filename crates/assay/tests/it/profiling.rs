//! `assay profile` from outside: files read, written and compared, and real programs under the real
//! samplers. Tests of a sampler that is not installed are skipped and report that.

use crate::room::{Room, endless, finish, is_alive, processes_of, start, until};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Works on words and numbers; GC.start ensures a share for the collector.
const RUBY: &str = "def words(n)\n  s = +\"\"\n  n.times { |i| s << \"item #{i},\" }\n  s.split(\",\").sort.size\nend\n\
def numbers(n)\n  t = 0\n  i = 0\n  while i < n\n    t += i * i % 7\n    i += 1\n  end\n  t\nend\n\
(ARGV[0] || 4).to_i.times { words(10_000); numbers(200_000); GC.start }\nexit((ARGV[1] || 0).to_i)\n";
const PYTHON: &str = "import sys\ndef numbers(n):\n    t = 0\n    for i in range(n):\n        t += i * i % 7\n    return t\n\
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 12):\n    numbers(300000)\n";
const C: &str = "static volatile unsigned sink;\n\
__attribute__((noinline)) unsigned squares(unsigned n) { unsigned t = 0; for (unsigned i = 0; i < n; i++) { t += i * i % 7; __asm__ volatile(\"\" : \"+r\"(t)); } return t; }\n\
int main(int argc, char **argv) { (void)argv; for (int r = 0; r < 60 * argc; r++) { sink += squares(1000000); __asm__ volatile(\"\"); } return 0; }\n";

fn sample(name: &str) -> String {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../profiles/tests/files");
    files.join(name).display().to_string()
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

pub(crate) fn stackprof_is_here() -> bool {
    let here = runs("ruby", &["-rstackprof", "-e", "exit"]);
    if !here {
        println!("skipped: stackprof is not installed (apt install ruby-stackprof)");
    }
    here
}

/// Returns true if perf is installed and may sample.
fn perf_works() -> bool {
    let room = Room::new();
    let data = room.path("perf.data").display().to_string();
    let here = runs(
        "perf",
        &[
            "record",
            "-q",
            "-e",
            "cpu-clock",
            "-F",
            "999",
            "-o",
            &data,
            "--",
            "/bin/sh",
            "-c",
            "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done",
        ],
    );
    if !here {
        println!("skipped: perf is not installed, or may not sample here (apt install linux-perf)");
    }
    here
}

/// Returns the directory of py-spy: that of the tests' own Python environment, or the one on PATH.
pub(crate) fn py_spy() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/runtimes/python/bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::iter::once(own)
        .chain(std::env::split_paths(&path))
        .find(|d| d.join("py-spy").is_file());
    if found.is_none() {
        println!("skipped: py-spy is not installed (pip install py-spy)");
    }
    found
}

/// Returns a compiled program, with frame pointers and symbols.
fn compiled(room: &Room) -> String {
    room.write("w.c", C);
    let built = room.path("w").display().to_string();
    let source = room.path("w.c").display().to_string();
    assert!(runs("cc", &["-O1", "-g", "-fno-omit-frame-pointer", "-o", &built, &source]));
    built
}

fn function<'a>(result: &'a Value, name: &str) -> &'a Value {
    let all = result["functions"].as_array().unwrap();
    all.iter()
        .find(|f| f["name"] == name)
        .unwrap_or_else(|| unreachable!("no {name} in {result:#}"))
}

#[test]
fn a_file_is_shown_and_turned_into_every_other_format() {
    let room = Room::new();
    let file = sample("stackprof.json");
    for ending in ["svg", "html", "txt", "pb.gz", "speedscope.json", "firefox.json", "collapsed"] {
        let out = format!("out.{ending}");
        room.run(&["profile", &file, "-o", &out]).ends(0).complains(&format!("written: {out}"));
        assert!(std::fs::metadata(room.path(&out)).unwrap().len() > 0, "{out}");
    }
    for ending in ["pb.gz", "speedscope.json", "firefox.json", "collapsed"] {
        let again = room.json(&["profile", &format!("out.{ending}"), "--top", "0"]);
        assert_eq!(again["samples"], 118, "{ending}");
        let numbers = function(&again, "Object#numbers");
        assert_eq!(numbers["flat_samples"], 46, "{ending}");
    }
    let table = room.read("out.txt");
    assert!(
        table.starts_with(
            "Total: 118 samples\n      46  39.0%  39.0%       46  39.0% Object#numbers\n"
        ),
        "{table}"
    );
    let picture = room.read("out.svg");
    assert!(picture.contains("Object#numbers: 45.82 ms (39.0 %)"), "{picture}");
    let page = room.read("out.html");
    assert!(
        page.contains("application/json") && !page.contains("http://www.google"),
        "a page loads nothing"
    );
}

#[test]
fn lines_are_counted_where_a_profile_knows_them() {
    let room = Room::new();
    let found = room.json(&["profile", &sample("py-spy.collapsed"), "--lines", "--top", "0"]);
    let names: Vec<&str> =
        found["functions"].as_array().unwrap().iter().filter_map(|f| f["name"].as_str()).collect();
    assert!(names.iter().any(|name| name.starts_with("numbers:")), "{names:?}");
    room.run(&["profile", &sample("stackprof.json"), "--lines"])
        .ends(2)
        .complains("--lines: stackprof does not report which lines were running");
    let file = sample("py-spy.collapsed");
    room.run(&["profile", &file, &file, "--lines"])
        .ends(2)
        .complains("--lines applies to a single profile");
}

#[test]
fn what_a_waiting_server_did_is_held_against_the_kernels_count() {
    let Some(samplers) = py_spy() else { return };
    let room = Room::new();
    // Four threads that are active occasionally, which is when they seem to be running.
    room.write("w.py", "import time\nfrom concurrent.futures import ThreadPoolExecutor as P\np = P(4)\nfor _ in range(4): p.submit(time.sleep, 0.01)\nwhile True:\n    p.submit(int)\n    time.sleep(0.02)\n");
    let mut server = Command::new("python3").arg(room.path("w.py")).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let process = server.id().to_string();
    // From the kernel, in ticks of 10 ms.
    let had = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap() * 0.01).sum::<f64>()
    };
    let before = had();
    let mut line = room.assay(&["profile", "--pid", &process, "--duration", "2s", "--json"]);
    line.env("PATH", format!("{}:{}", samplers.display(), std::env::var("PATH").unwrap()));
    let done = finish(line);
    let counted = had() - before;
    server.kill().unwrap();
    server.wait().unwrap();
    // If every thread only waited there is no profile, and py-spy may lack permission.
    if done.stdout.is_empty() {
        let words = ["only waited: the kernel counted", "sampled nothing", "may not inspect"];
        assert!(words.iter().any(|words| done.stderr.contains(words)), "{}", done.stderr);
        return;
    }
    let amount = done.json()["amount"].as_f64().unwrap();
    assert!(amount <= counted + 0.03, "{amount} s, and the kernel counted {counted}");
}

#[test]
fn gos_own_tool_reads_what_is_written_for_pprof() {
    if !runs("go", &["version"]) {
        println!("skipped: Go is not installed");
        return;
    }
    let room = Room::new();
    room.run(&["profile", &sample("stackprof.json"), "-o", "out.pb.gz"]).ends(0);
    let file = room.path("out.pb.gz").display().to_string();
    // It keeps its own home directory, which contains its build cache.
    let shown = Command::new("go").args(["tool", "pprof", "-top", &file]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("Type: wall"), "{shown}");
    assert!(shown.contains("45.82ms 38.98% 38.98%    45.82ms 38.98%  Object#numbers"), "{shown}");
}

#[test]
fn standard_input_is_a_file_too() {
    let room = Room::new();
    let ended =
        finish(room.shell("printf 'main;a 3\\nmain;b 1\\n' | $ASSAY profile - --json")).ends(0);
    assert_eq!(function(&ended.json(), "a")["flat"]["estimate"], 0.75);
    // A pipe of a shell, as `<(perf script)`, has a name, and can't be run.
    let pipe = "printf 'main;a 3\\nmain;b 1\\n' | $ASSAY profile /dev/stdin --json";
    let ended = finish(room.shell(pipe)).ends(0);
    assert_eq!(ended.json()["samples"], 4);
}

#[test]
fn the_status_of_a_program_that_ends_after_its_sampler_is_known() {
    let room = Room::new();
    // Like py-spy, it kills what it started as soon as the program seems to be gone.
    let sampler = "#!/bin/sh\n\
        while [ \"$1\" != -- ]; do [ \"$1\" = --output ] && out=$2; shift; done; shift\n\
        \"$@\" & child=$!\n\
        until [ -e ending ]; do sleep 0.01; done\n\
        kill -9 $child; echo 'main 3' > \"$out\"\n";
    room.write("py-spy", sampler);
    finish(room.shell("chmod +x py-spy")).ends(0);
    let line = "PATH=.:$PATH $ASSAY profile --json --sampler py-spy -- \
        /bin/sh -c ': > ending; sleep 0.1; exit 3'";
    let ended = finish(room.shell(line)).ends(4);
    assert!(ended.stdout.contains("exited with status 3"), "{}", ended.stdout);
}

#[test]
fn two_files_are_compared_within_the_error_of_sampling() {
    let room = Room::new();
    room.write("old.collapsed", "main;a 500\nmain;b 500\n");
    room.write("new.collapsed", "main;a 250\nmain;b 500\n");
    let found = room.json(&["profile", "old.collapsed", "new.collapsed"]);
    assert_eq!(function(&found, "a")["change"], "smaller");
    assert_eq!(found["design"], "unpaired");
    room.run(&["profile", "old.collapsed", "old.collapsed"])
        .ends(0)
        .shows("No function has a detectably different share");
    room.run(&["profile", "old.collapsed", "new.collapsed", "--fail-if", "slower"])
        .ends(2)
        .complains("in blocks");
    room.run(&["profile", "old.collapsed", "--fail-if", "slower"]).ends(2).complains("one profile");
}

#[test]
fn what_can_not_be_profiled_is_told_with_what_to_do() {
    let room = Room::new();
    room.write("w.rb", RUBY);
    room.write("x.collapsed", "a 1\n");
    let told = |arguments: &[&str], about: &str| {
        let all: Vec<&str> = std::iter::once("profile").chain(arguments.iter().copied()).collect();
        room.run(&all).ends(2).complains(about);
    };
    told(&[], "what should be profiled?");
    told(&["w.rb"], "`w.rb` is a program, not a profile. To sample it: assay profile 'ruby w.rb'");
    room.write("two words.py", PYTHON);
    told(&["two words.py"], "assay profile -- python3 'two words.py'");
    room.write("tool", "#!/usr/bin/env ruby\nputs 1\n");
    told(&["tool"], "assay profile 'ruby tool'");
    std::fs::copy("/bin/true", room.path("compiled")).unwrap();
    finish(room.shell("chmod 644 compiled")).ends(0);
    told(&["compiled"], "chmod +x compiled\n  assay profile -- ./compiled");
    room.write("bare", RUBY);
    finish(room.shell("chmod +x bare")).ends(0);
    told(&["./bare"], "does not name its interpreter");
    told(&["none.rb"], "no such file");
    told(&["none.pb.gz"], "no such file");
    told(&["x.collapsed", "-o", "x.png"], "known are .svg, .html");
    told(&["x.collapsed", "-o", "x.collapsed"], "which is read");
    told(&["x.collapsed", "--rate", "10"], "is a finished profile");
    told(&["x.collapsed", "sleep 1"], "can't be compared with a command");
    told(&["no-such-program-at-all"], "cannot find the program");
    told(&["--pid", "999999999"], "there is no process 999999999");
    told(&["--pid", "1", "--sampler", "stackprof"], "--sampler rbspy");
    told(&["x.collapsed", "--rate", "fast"], "samples per second");
    told(&["sleep 1", "--sampler", "perf", "--clock", "wall"], "perf samples processor time");
}

#[test]
fn two_profiles_have_a_differential_flame_graph() {
    let room = Room::new();
    room.write("old.collapsed", "main;a 500\nmain;b 500\n");
    room.write("new.collapsed", "main;a 250\nmain;b 500\n");
    let files = ["profile", "old.collapsed", "new.collapsed"];
    room.run(&[&files[..], &["-o", "d.svg", "-o", "d.html"]].concat()).ends(0);
    for file in ["d.svg", "d.html"] {
        let text = room.read(file);
        let verdict = "own share 50.0 % → 33.3 %, -16.7 points";
        assert!(text.contains(verdict) && text.contains("takes less"), "{file}: {text}");
    }
    assert!(room.read("d.html").contains("application/json"));
    room.run(&[&files[..], &["-o", "d.pb.gz"]].concat())
        .ends(2)
        .complains("differential flame graph");
}

#[test]
fn a_process_of_somebody_else_is_told_with_the_capability() {
    let own = Command::new("id").arg("-u").output().unwrap().stdout;
    if own != b"0\n" || !runs("setpriv", &["--version"]) {
        println!("skipped: only root can become somebody else (setpriv of util-linux)");
        return;
    }
    let room = Room::new();
    let nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    if finish(room.shell(&format!("{nobody} $ASSAY --version"))).status != 0 {
        println!("skipped: the program lies where only root can run it");
        return;
    }
    let mut other = Command::new("sleep").arg("60").spawn().unwrap();
    for sampler in ["", "--sampler py-spy"] {
        let line = format!("{nobody} $ASSAY profile --pid {} {sampler}", other.id());
        let ended = finish(room.shell(&line)).ends(2);
        assert!(ended.stderr.contains("belongs to root"), "{}", ended.stderr);
        assert!(ended.stderr.contains("CAP_SYS_PTRACE"), "{}", ended.stderr);
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_process_that_has_ended_is_none() {
    let room = Room::new();
    let mut ended = Command::new("true").spawn().unwrap();
    until("it has ended", || !is_alive(ended.id()));
    // It is still in the process table, because it was not waited for.
    room.run(&["profile", "--pid", &ended.id().to_string()]).ends(2).complains("it may have ended");
    ended.wait().unwrap();
}

#[test]
fn a_sampler_that_is_missing_comes_with_its_install_line() {
    let room = Room::new();
    room.write("python3", "#!/bin/sh\nexit 0\n");
    finish(room.shell("chmod +x python3")).ends(0);
    // Only this directory is searched.
    finish(room.shell("PATH=. $ASSAY profile './python3 x.py'"))
        .ends(2)
        .complains("pip install py-spy");
    finish(room.shell("PATH=. $ASSAY profile $ASSAY")).ends(2).complains("apt install linux-perf");
}

#[test]
fn a_ruby_program_has_its_functions_and_its_collector() {
    if !stackprof_is_here() {
        return;
    }
    let room = Room::new();
    room.write("w.rb", RUBY);
    let found = room.json(&["profile", "ruby w.rb 8", "--top", "0"]);
    assert_eq!(found["sampler"], "stackprof");
    assert!(found["delivered_hz"].as_f64().unwrap() > 100.0, "{found:#}");
    assert!(found["garbage_collection"]["estimate"].as_f64().unwrap() > 0.0);
    let numbers = function(&found, "Object#numbers");
    assert!(numbers["flat"]["estimate"].as_f64().unwrap() > 0.05, "{numbers}");
    assert!(numbers["flat"]["lower"].is_f64() && numbers["flat"]["upper"].is_f64(), "{numbers}");
}

#[test]
fn a_program_that_fails_keeps_what_was_sampled() {
    if !stackprof_is_here() {
        return;
    }
    let room = Room::new();
    room.write("w.rb", RUBY);
    let ended = room.run(&["profile", "ruby w.rb 4 3", "--json"]).ends(4);
    assert!(ended.json()["samples"].as_u64().unwrap() > 0);
    assert!(ended.stdout.contains("exited with status 3"));
}

#[test]
fn a_program_that_is_interrupted_keeps_what_was_sampled_and_leaves_nothing() {
    if !stackprof_is_here() {
        return;
    }
    let room = Room::new();
    let sleeper = endless();
    let words: Vec<&str> = sleeper.split(' ').collect();
    room.write("w.rb", &format!("$stdout.sync = true\nspawn('{}', '{}')\nFile.write('ready', '1')\nt = 0\nloop {{ t += 1 }}\n", words[0], words[1]));
    let assay = start(room.assay(&["profile", "ruby w.rb", "--json"]));
    until("the program is at work", || room.path("ready").exists());
    std::thread::sleep(std::time::Duration::from_millis(300));
    assay.signal("INT");
    let ended = assay.finish().ends(130);
    assert!(ended.json()["samples"].as_u64().unwrap() > 0);
    assert!(processes_of(&sleeper).is_empty(), "a child of the program outlived it");
}

#[test]
fn a_program_is_sampled_as_often_as_was_asked_and_an_interruption_keeps_the_runs_before() {
    if !stackprof_is_here() {
        return;
    }
    let room = Room::new();
    room.write("log.rb", "File.write('log', \"run\\n\", mode: 'a')\n");
    room.write("w.rb", &format!("require './log'\n{RUBY}"));
    let found = room.json(&["profile", "ruby w.rb 3", "--runs", "3"]);
    assert_eq!((&found["runs"], room.read("log").lines().count()), (&3.into(), 3));
    // The fifth run would never end.
    let endless = "loop {} if File.readlines('log').size > 4\n";
    room.write("w.rb", &format!("require './log'\n{endless}{RUBY}"));
    let assay = start(room.assay(&["profile", "ruby w.rb 3", "--runs", "3", "--json"]));
    until("the second run is at work", || room.read("log").lines().count() > 4);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assay.signal("INT");
    let found = assay.finish().ends(130).json();
    assert!(found["runs"].as_u64().unwrap() >= 1, "{found:#}");
    assert_eq!(room.read("log").lines().count(), 5);
}

/// Checks that a program (which writes its pid) and its child are gone after `assay` is killed.
fn killing_assay_ends(room: &Room, line: &str, sleeper: &str) {
    let assay = start(room.shell(&format!("exec {line}")));
    until("the program is at work", || {
        std::fs::read_to_string(room.path("pid")).is_ok_and(|pid| !pid.is_empty())
            && !processes_of(sleeper).is_empty()
    });
    let program: u32 = room.read("pid").trim().parse().unwrap();
    assay.signal("KILL");
    assay.finish().ends(128 + 9);
    until("the program is gone", || !is_alive(program));
    until("what it had started is gone", || processes_of(sleeper).is_empty());
}

#[test]
fn a_program_under_perf_does_not_outlive_assay() {
    if !perf_works() {
        return;
    }
    let (room, sleeper) = (Room::new(), endless());
    room.write("w.sh", &format!("#!/bin/sh\n{sleeper} &\necho $$ > pid\nwhile :; do :; done\n"));
    finish(room.shell("chmod +x w.sh")).ends(0);
    killing_assay_ends(&room, "$ASSAY profile ./w.sh", &sleeper);
}

#[test]
fn a_program_under_py_spy_does_not_outlive_assay() {
    let Some(directory) = py_spy() else { return };
    let (room, sleeper) = (Room::new(), endless());
    let words: Vec<&str> = sleeper.split(' ').collect();
    room.write("w.py", &format!("import os, subprocess\nsubprocess.Popen({words:?})\nopen('pid', 'w').write(str(os.getpid()))\nwhile True:\n    pass\n"));
    let line = format!("env PATH={}:$PATH $ASSAY profile 'python3 w.py'", directory.display());
    killing_assay_ends(&room, &line, &sleeper);
}

#[test]
fn a_program_under_stackprof_does_not_outlive_assay() {
    if !stackprof_is_here() {
        return;
    }
    let (room, sleeper) = (Room::new(), endless());
    let words: Vec<&str> = sleeper.split(' ').collect();
    room.write("w.rb", &format!("spawn(*{words:?})\nFile.write('pid', Process.pid)\nloop {{ }}\n"));
    killing_assay_ends(&room, "$ASSAY profile 'ruby w.rb'", &sleeper);
}

#[test]
fn a_rate_too_low_for_a_single_sample_lets_the_program_run_and_says_what_to_do() {
    if !stackprof_is_here() {
        return;
    }
    let room = Room::new();
    room.run(&["profile", "--rate", "1", "--", "ruby", "-e", "File.write('done', '1')"])
        .ends(2)
        .complains("give it more work, sample more often");
    assert_eq!(room.read("done"), "1");
}

#[test]
fn sampling_ends_when_its_time_is_up() {
    if !stackprof_is_here() {
        return;
    }
    let room = Room::new();
    room.write("w.rb", "loop { 1 + 1 }\n");
    let found = room.json(&["profile", "ruby w.rb", "--duration", "0.5"]);
    assert!(found["samples"].as_u64().unwrap() > 0);
}

#[test]
fn two_ruby_programs_have_a_verdict_on_every_function() {
    if !stackprof_is_here() {
        return;
    }
    let room = Room::new();
    room.write("old.rb", RUBY);
    room.write("new.rb", &RUBY.replace("numbers(200_000)", "numbers(40_000)"));
    let files = ["-o", "runs.assay", "-o", "runs.html"];
    let arguments = [&["profile", "ruby old.rb 6", "ruby new.rb 6"], &files[..]].concat();
    let ended = room.run(&arguments).ends(0);
    let row = ended.stdout.lines().find(|line| line.contains("#numbers")).unwrap().to_owned();
    assert!(row.contains("faster"), "{}", ended.stdout);
    let suite = room.json(&["compare", "runs.assay"]);
    assert!(suite.to_string().contains("Object#numbers"));
    let page = room.read("runs.html");
    assert!(page.contains("takes less") && page.contains("own time in a run"), "{page}");
}

#[test]
fn a_python_program_has_its_functions() {
    let Some(directory) = py_spy() else { return };
    let room = Room::new();
    room.write("w.py", PYTHON);
    // It has to run for longer than py-spy takes to find it, some tenths of a second.
    let line = format!(
        "PATH={}:$PATH $ASSAY profile 'python3 w.py 100' --top 0 --json",
        directory.display()
    );
    let found = finish(room.shell(&line)).ends(0).json();
    assert_eq!(found["sampler"], "py-spy");
    assert!(function(&found, "numbers")["flat"]["estimate"].as_f64().unwrap() > 0.3);
}

/// A parent that waits, and children that work; it exits with status 3.
const PARENT: &str = "import subprocess, sys\n\
def wait():\n    for _ in range(2):\n        subprocess.run([sys.executable, 'child.py'])\n\
wait()\nsys.exit(3)\n";
const CHILD: &str = "import time\n\
def heavy():\n    t = 0\n    while time.process_time() < 0.5:\n        t += sum(range(1000))\n\
heavy()\n";

#[test]
fn children_of_a_python_program_are_sampled_and_its_status_and_cpu_time_are_its_own() {
    let Some(directory) = py_spy() else { return };
    let room = Room::new();
    room.write("parent.py", PARENT);
    room.write("child.py", CHILD);
    let line = format!(
        "PATH={}:$PATH $ASSAY profile 'python3 parent.py' --top 0 --json",
        directory.display()
    );
    let ended = finish(room.shell(&line)).ends(4);
    let found = ended.json();
    assert!(function(&found, "heavy")["flat"]["estimate"].as_f64().unwrap() > 0.5, "{found:#}");
    assert!(ended.stdout.contains("exited with status 3"), "{found:#}");
    // Two children of half a second each, plus starting Python three times.
    let total = found["amount"].as_f64().unwrap();
    assert!((1.0..1.6).contains(&total), "{total}");
    let names = found["functions"].to_string();
    assert!(!names.contains("process "), "processes are no functions: {names}");
}

#[test]
fn a_python_program_that_replaces_itself_is_seen() {
    let Some(directory) = py_spy() else { return };
    let room = Room::new();
    room.write("heavy.py", CHILD);
    room.write(
        "start.py",
        "import os, sys\nos.execv(sys.executable, [sys.executable, 'heavy.py'])\n",
    );
    let line = format!(
        "PATH={}:$PATH $ASSAY profile 'python3 start.py' --top 0 --json",
        directory.display()
    );
    let found = finish(room.shell(&line)).ends(0).json();
    assert!(function(&found, "heavy")["flat"]["estimate"].as_f64().unwrap() > 0.2, "{found:#}");
}

#[test]
fn names_that_are_not_utf8_are_read() {
    let room = Room::new();
    let sample = |name: &[u8]| {
        let mut text = name.to_vec();
        text.extend_from_slice(b" 7/7 1.5: 1000000 cpu-clock: \n\t 7f00 work (/bin/\xd0)\n\n");
        text
    };
    let text = [sample(b"my ; thr\xff 1"), sample("обработ".as_bytes()), sample(b"\xd0")].concat();
    std::fs::write(room.path("p.txt"), text).unwrap();
    let found = room.json(&["profile", "p.txt"]);
    assert_eq!(
        (&found["samples"], &function(&found, "work")["flat_samples"]),
        (&3.into(), &3.into())
    );
    std::fs::write(room.path("c.collapsed"), b"main;caf\xe9 3\n").unwrap();
    let found = room.json(&["profile", "c.collapsed"]);
    assert_eq!(function(&found, "caf\u{fffd}")["flat_samples"], 3);
    std::fs::write(room.path("wide"), b"\xff\xfem\0a\0").unwrap();
    room.run(&["profile", "wide"]).ends(2).complains("UTF-16 text; save it as UTF-8");
    std::fs::write(room.path("noise"), b"\xfd\xfe\xff\n").unwrap();
    room.run(&["profile", "noise"]).ends(2).complains("neither text nor pprof");
}

#[test]
fn a_recursion_deeper_than_perf_keeps_says_so() {
    if !perf_works() {
        return;
    }
    let room = Room::new();
    let deep = "static volatile unsigned long sink;\n\
        __attribute__((noinline)) unsigned long leaf(unsigned long n) { for (int i = 0; i < 2000; i++) n = n * 31 + i; return n; }\n\
        __attribute__((noinline)) unsigned long rec(int d) { if (d == 0) { unsigned long s = 0; for (int i = 0; i < 60000; i++) s += leaf(i); return s; } return rec(d - 1) + 1; }\n\
        int main(void) { sink = rec(500); return 0; }\n";
    room.write("deep.c", deep);
    let (built, source) = (room.path("deep"), room.path("deep.c"));
    let (built, source) = (built.display().to_string(), source.display().to_string());
    assert!(runs("cc", &["-O1", "-g", "-fno-omit-frame-pointer", "-o", &built, &source]));
    let found = room.json(&["profile", &built]);
    assert!(found["findings"].to_string().contains("PROFILE_STACKS"), "{found:#}");
}

#[test]
fn a_compiled_program_has_its_functions_and_a_picture() {
    if !perf_works() {
        return;
    }
    let room = Room::new();
    let program = compiled(&room);
    let found = room.json(&["profile", &program, "-o", "out.html"]);
    assert_eq!(found["sampler"], "perf");
    assert!(function(&found, "squares")["flat"]["estimate"].as_f64().unwrap() > 0.8);
    assert!(room.read("out.html").contains("squares"));
    let strip = room.path("w").display().to_string();
    assert!(runs("strip", &[&strip]));
    let found = room.json(&["profile", &program]);
    assert!(found["findings"].to_string().contains("PROFILE_STACKS"), "{found:#}");
}

#[test]
fn what_sampling_costs_is_measured() {
    if !perf_works() {
        return;
    }
    let room = Room::new();
    let program = compiled(&room);
    let found = room.json(&["profile", &program, "--overhead"]);
    let metrics: Vec<&str> = found["overhead"]["ratios"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cost| cost["metric"].as_str().unwrap())
        .collect();
    assert_eq!(metrics, ["wall", "cpu"]);
    // perf has to be started, whatever it samples.
    let once = &found["overhead"]["start_and_end"];
    assert!(once["estimate"].as_f64().unwrap() > 0.0, "{found:#}");
    assert_eq!(found["runs"], 6);
}

#[test]
fn a_process_that_ends_while_it_is_sampled_keeps_what_was_sampled() {
    if !perf_works() {
        return;
    }
    let room = Room::new();
    let work = "sleep 0.7; i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done";
    let mut busy = Command::new("/bin/sh").args(["-c", work]).spawn().unwrap();
    let found = room.json(&["profile", "--pid", &busy.id().to_string(), "--quiet"]);
    busy.wait().unwrap();
    assert!(found["samples"].as_u64().unwrap() > 0);
}

#[test]
fn a_process_that_runs_goes_on_after_it_was_sampled() {
    if !perf_works() {
        return;
    }
    let room = Room::new();
    let mut busy = Command::new("/bin/sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let found = finish(room.assay(&[
        "profile",
        "--pid",
        &busy.id().to_string(),
        "--duration",
        "0.5",
        "--json",
    ]));
    let lives = is_alive(busy.id());
    busy.kill().unwrap();
    busy.wait().unwrap();
    assert!(lives, "the process was ended");
    assert!(found.ends(0).json()["samples"].as_u64().unwrap() > 0);
}

#[test]
fn a_program_that_fails_at_once_is_named_with_its_status() {
    if !perf_works() {
        return;
    }
    let room = Room::new();
    let told = "exited with status 1";
    let ended = room.run(&["profile", "--sampler", "perf", "false"]).ends(4);
    // On a busy machine it is sampled before it ends.
    assert!(ended.stderr.contains(told) || ended.stdout.contains(told), "{ended:?}");
}
