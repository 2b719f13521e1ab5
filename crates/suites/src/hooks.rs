//! What `assay tests` loads into the processes of a suite, as text: the hooks of test frameworks of Ruby, Python and JavaScript.
//!
//! All files go into one directory, from where the interpreters load what they need. They are written for themselves, in their languages:
//! nothing of the gem or the package is imported. What they write is in docs/reference/test-events.md.

/// Every file by its name: `assay_tests.rb` is loaded by `RUBYOPT`, `assay_tests_hook.py` is the plugin of pytest, `assay_unittest.py` is run
/// in place of `-m unittest`, `assay_node_reporter.mjs` is a reporter of `node --test`, `assay_node_coverage.mjs` is imported by its processes,
/// `assay_jest_vitest_reporter.mjs` one of jest and vitest; `assay_warm.rb` is loaded by `RUBYOPT`; `warm/sitecustomize.py` is found by every Python that has its directory in
/// `PYTHONPATH`, and loads `assay_warm.py`; the others are loaded by these.
pub const FILES: [(&str, &str); 36] = [
    ("assay_events.mjs", include_str!("hooks/javascript/assay_events.mjs")),
    (
        "assay_jest_vitest_reporter.mjs",
        include_str!("hooks/javascript/assay_jest_vitest_reporter.mjs"),
    ),
    ("assay_node_coverage.mjs", include_str!("hooks/javascript/assay_node_coverage.mjs")),
    ("assay_node_reporter.mjs", include_str!("hooks/javascript/assay_node_reporter.mjs")),
    ("assay_tests.rb", include_str!("hooks/ruby/assay_tests.rb")),
    ("assay_tests_calls.py", include_str!("hooks/python/assay_tests_calls.py")),
    ("assay_tests_causes.py", include_str!("hooks/python/assay_tests_causes.py")),
    ("assay_tests_causes.rb", include_str!("hooks/ruby/assay_tests_causes.rb")),
    ("assay_tests_coverage.py", include_str!("hooks/python/assay_tests_coverage.py")),
    ("assay_tests_coverage.rb", include_str!("hooks/ruby/assay_tests_coverage.rb")),
    ("assay_tests_events.py", include_str!("hooks/python/assay_tests_events.py")),
    ("assay_tests_files.py", include_str!("hooks/python/assay_tests_files.py")),
    ("assay_tests_frames.py", include_str!("hooks/python/assay_tests_frames.py")),
    ("assay_tests_frames.rb", include_str!("hooks/ruby/assay_tests_frames.rb")),
    ("assay_tests_hook.py", include_str!("hooks/python/assay_tests_hook.py")),
    ("assay_tests_imports.py", include_str!("hooks/python/assay_tests_imports.py")),
    ("assay_tests_minitest.rb", include_str!("hooks/ruby/assay_tests_minitest.rb")),
    ("assay_tests_opens.rb", include_str!("hooks/ruby/assay_tests_opens.rb")),
    ("assay_tests_pytest.py", include_str!("hooks/python/assay_tests_pytest.py")),
    ("assay_tests_record.rb", include_str!("hooks/ruby/assay_tests_record.rb")),
    ("assay_tests_rspec.rb", include_str!("hooks/ruby/assay_tests_rspec.rb")),
    ("assay_tests_test_unit.rb", include_str!("hooks/ruby/assay_tests_test_unit.rb")),
    ("assay_unittest.py", include_str!("hooks/python/assay_unittest.py")),
    ("assay_warm.py", include_str!("hooks/python/assay_warm.py")),
    ("assay_warm.rb", include_str!("hooks/ruby/assay_warm.rb")),
    ("assay_warm_gems.rb", include_str!("hooks/ruby/assay_warm_gems.rb")),
    ("assay_warm_json.rb", include_str!("hooks/ruby/assay_warm_json.rb")),
    ("assay_warm_keeper.rb", include_str!("hooks/ruby/assay_warm_keeper.rb")),
    ("assay_warm_load.py", include_str!("hooks/python/assay_warm_load.py")),
    ("assay_warm_loads.rb", include_str!("hooks/ruby/assay_warm_loads.rb")),
    ("assay_warm_pytest.py", include_str!("hooks/python/assay_warm_pytest.py")),
    ("assay_warm_replay.rb", include_str!("hooks/ruby/assay_warm_replay.rb")),
    ("assay_warm_run.rb", include_str!("hooks/ruby/assay_warm_run.rb")),
    ("assay_warm_server.py", include_str!("hooks/python/assay_warm_server.py")),
    ("assay_warm_stage.rb", include_str!("hooks/ruby/assay_warm_stage.rb")),
    ("warm/sitecustomize.py", include_str!("hooks/python/warm/sitecustomize.py")),
];

/// What is made of C for them (`build.rs`), by its name. The hooks find it beside themselves, and do without where it is not, which costs more.
#[cfg(target_os = "linux")]
pub const LIBRARIES: [(&str, &[u8]); 2] = [
    ("assay_marks.so", include_bytes!(concat!(env!("OUT_DIR"), "/assay_marks.so"))),
    ("assay_python_calls.so", include_bytes!(concat!(env!("OUT_DIR"), "/assay_python_calls.so"))),
];
/// What is made of C for them: only for Linux.
#[cfg(not(target_os = "linux"))]
pub const LIBRARIES: [(&str, &[u8]); 0] = [];

#[cfg(test)]
mod tests {
    use super::FILES;

    #[test]
    fn every_file_of_the_directory_is_there() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/src/hooks");
        // What is in a directory has its name from there on, the language's own left out.
        let names = |language: &str, below: &str| -> Vec<String> {
            let entries = std::fs::read_dir(format!("{directory}/{language}/{below}")).unwrap();
            let files = entries.map(Result::unwrap).filter(|entry| entry.path().is_file());
            files.map(|entry| below.to_owned() + entry.file_name().to_str().unwrap()).collect()
        };
        let of = ["javascript", "python", "ruby"].map(|language| names(language, ""));
        let mut found = of.concat();
        found.extend(names("python", "warm/"));
        found.sort();
        let mut listed: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        listed.sort_unstable();
        assert_eq!(found, listed);
        assert!(FILES.iter().all(|(_, text)| text.ends_with('\n')));
    }
}
