//! The catalog of findings: every code with its severities, its topic, and its explanation, which
//! is both its entry in `docs/reference/findings.md` and the output of `assay help CODE`.
//!
//! A finding can only be created with a code from this list. The message and the advice are written
//! where the finding is created.

use super::Severity;

/// A code, with everything that its findings have in common.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// Name of the code, as in files: `DRIFT`.
    pub name: &'static str,
    /// Possible severities, the usual one first.
    pub severities: &'static [Severity],
    /// Topic of the finding.
    pub topic: Topic,
    /// What the finding means, why it matters, and what to do, in Markdown.
    pub text: &'static str,
}

/// The topic of a finding, by which reports group findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Obstacles to any verdict, which the sentence about a comparison already mentions.
    Verdict,
    /// The sampling design, which the note on separate recordings already covers.
    Design,
    /// The machine and its settings.
    Machine,
    /// A single series. Such a finding does not affect a comparison in blocks.
    Series,
    /// Drift that blocks cancel, and disturbed runs, which the lines on checks and noise already
    /// cover.
    Checks,
    /// Anything else.
    Other,
}

/// Returns the code with this name, or `None` if it is unknown, as one from a file of another
/// version may be.
pub fn named(name: &str) -> Option<&'static Code> {
    ALL.binary_search_by(|code| code.name.cmp(name)).ok().map(|at| ALL[at])
}

/// Returns the topic of the code with this name, or [`Topic::Other`] if the code is unknown.
pub fn topic(name: &str) -> Topic {
    named(name).map_or(Topic::Other, |code| code.topic)
}

macro_rules! catalogue {
    ($($(#[doc = $line:literal])+ $name:ident: $($severity:ident)|+ $(, $topic:ident)?;)+) => {
        $($(#[doc = $line])+
        pub const $name: &Code = &Code {
            name: stringify!($name),
            severities: &[$(Severity::$severity),+],
            topic: catalogue!(@topic $($topic)?),
            text: concat!($($line, "\n"),+),
        };)+

        /// All codes, sorted by name.
        pub const ALL: &[&Code] = &[$($name),+];
    };
    (@topic) => { Topic::Other };
    (@topic $topic:ident) => { Topic::$topic };
}

catalogue! {
    /// A benchmark is worse than normal, or its state is unknown, and a fresh run that measures
    /// both revisions alternately can settle it (`assay gate --confirm`). The message says whether
    /// such a run is possible and what it found. The run may confirm the alarm (`ratio` is the
    /// change in that run), show no change (the alarm is dropped), or be inconclusive (the result
    /// is unknown). If no run was possible, the alarm remains.
    /// **Why:** differences between runs cancel in a fresh run. Smaller changes become visible, and
    /// a change in the machine is not mistaken for a change in the code. Such a run is not possible
    /// if a revision is unknown here or does not build, if the recorded command cannot be used for
    /// two revisions, or if the same commit was measured twice.
    /// **What to do:** run the command shown in the finding, or use `--confirm`. If the alarm is
    /// confirmed and there are several commits, `assay bisect` finds the one responsible. If it is
    /// not confirmed but happens again, check what changed on the machine (`assay doctor`). If the
    /// fresh run is inconclusive, give it more time (`--time`). If no run was possible, follow the
    /// message: `--rev`, `--build` and the words after `--` supply what was not recorded.
    ALARM_CONFIRMATION: Note | Warning;

    /// The URL of a load test names `0.0.0.0` or `[::]`, which means all addresses of a machine.
    /// **Why:** servers print such an address when they start, but it is not one to connect to. The
    /// system treats it as the loopback address, so the load went there.
    /// **What to do:** nothing, or write `127.0.0.1`.
    ALL_ADDRESSES: Note;

    /// All values of a subject are the same.
    /// **Why:** either the quantity is constant, as a count of allocations often is, or the clock
    /// is too coarse. In the latter case, "no difference" only means "no difference that this clock
    /// shows".
    /// **What to do:** nothing for counts. For times, use a finer clock or give each run more work.
    ALL_EQUAL: Warning;

    /// The threshold is smaller than the smallest difference that this machine could detect in a
    /// minute when it was calibrated (`calibrated_wall_60s` and `calibrated_cpu_60s` in the
    /// recorded environment).
    /// **Why:** a run of commands would end without an answer, or take far longer.
    /// **What to do:** raise `--threshold`, decide on CPU time if that is more precise, measure
    /// longer, or make the machine quieter (`assay doctor`) and calibrate again. The calibration
    /// measured a different, small program, so this is only a warning.
    BELOW_DETECTABLE: Warning;

    /// In the four-step check, the interval of the effect includes values within the threshold, so
    /// the effect may be too small to matter. If the whole interval is within the threshold
    /// (`serious`), the check ends.
    /// **Why:** differences within the threshold were declared not to matter, and are not worth
    /// publishing.
    /// **What to do:** if only part of the interval is within the threshold, take more values to
    /// narrow it. Otherwise, nothing. If smaller differences matter, choose a smaller threshold
    /// before the next run.
    BELOW_THRESHOLD: Warning | Serious;

    /// Benchmarks, tests or metrics have no values on one side or in one run. Either the other side
    /// or an earlier run has them (`assay compare`, `assay history trend`, `assay gate`), or the
    /// tool that wrote the file recorded that they were skipped or reported no time for them.
    /// **Why:** they have no verdict, and are not included in the geometric mean, which covers only
    /// the benchmarks that both suites have. If a benchmark is no longer measured, nobody sees it
    /// get worse.
    /// **What to do:** nothing, if they were added, removed or skipped on purpose. If one was
    /// renamed, run `assay history alias OLD NEW`.
    BENCHMARKS_MISSING: Note | Warning;

    /// A benchmark failed. Either its program ended with an error, was killed, took too long, or
    /// printed output that its harness does not allow (`assay bench`); or the tool that wrote a
    /// file recorded that the benchmark failed, panicked or was cut short, or reported a value that
    /// is `NaN` or infinite.
    /// **Why:** the benchmark has no values, or fewer than the others, and is left out from then
    /// on, so that one broken benchmark does not affect the others. Earlier blocks are kept and
    /// judged. A benchmark that fails must not look faster.
    /// **What to do:** run it by itself, fix it, and measure again. The message quotes its last
    /// output, the tool's message, or the line of the file.
    BENCHMARK_FAILED: Warning;

    /// The finding names what limits the capacity reported by `assay load --find`. It is the last
    /// goal that was missed, with the measured value; the highest rate that `--most-rate` allows
    /// (`rate`), at which `searches` searches still met the goals; or the time budget (the rest
    /// would take `rest_seconds`).
    /// **Why:** if even requests sent one at a time miss a goal, no rate can meet it: the search
    /// ends immediately, with a capacity of 0. If the highest allowed rate is the limit, the
    /// capacity is that rate or more, and two servers that both reach it may differ by any amount
    /// above it.
    /// **What to do:** raise `--time` if the budget ended, or `--most-rate` if a higher rate matters
    /// and the server may be loaded that heavily. If a goal was missed, do nothing, or choose a goal
    /// that the server can meet.
    CAPACITY_LIMIT: Note | Warning;

    /// With `load --insecure`, the identity of the server was not checked.
    /// **Why:** the load may have gone to another server.
    /// **What to do:** trust the server's certificate with `--ca FILE`.
    CERTIFICATES_NOT_CHECKED: Note;

    /// A benchmark changed between two runs of the same commit (`assay history trend`).
    /// **Why:** the code did not change. The machine, its settings, or the program's input did.
    /// **What to do:** find out what changed on the machine that day. Measure both commits around
    /// the change in one run: `assay bench --rev`.
    CHANGED_WITHOUT_COMMIT: Warning;

    /// The level of a series changed permanently at one point (`assay describe`): the series was
    /// better before, or had not settled by its end. Changes too small to matter are not reported
    /// (below 1 % of the median, or indistinguishable from chance with this number of values).
    /// `begins` is the index of the first value of the last part, counted from 0. `change` is the
    /// difference between the medians of the last part and the first.
    /// **Why:** one number for the whole series describes neither part.
    /// **What to do:** find out what changed there (frequency, another program, a cache that filled, a
    /// new version), and describe the parts separately.
    CHANGE_POINT: Warning, Series;

    /// A load generator sent each request only after an earlier one had been answered.
    /// **Why:** while the server stalls, such a generator sends nothing. One request per connection
    /// waits; the requests that users would have sent in that time are missing from all quantiles.
    /// With ten connections, a server that stalls for one second in ten shows a 99th percentile of
    /// a few milliseconds, while users see nine tenths of a second. To compensate, wrk adds
    /// latencies that it did not measure, without saying how many. Such a tool can only measure the
    /// highest rate.
    /// **What to do:** to measure latencies under a given load, send requests on a schedule that
    /// does not depend on the server ([`assay load --rate`](../guides/load.md), wrk2, vegeta, k6's
    /// arrival rates).
    CLOSED_LOOP: Note;

    /// The values come in steps that are large compared to the threshold.
    /// **Why:** two programs whose times fall into one step look equal, and two on either side of a
    /// boundary look a whole step apart. If nearly all readings of a side fall on two neighboring
    /// steps, each may be off by half a step, and more readings do not help; the interval is
    /// therefore widened by a whole step at each end. If readings are spread over several steps,
    /// rounding errors cancel, and ties are resolved instead
    /// ([how](../concepts/deciding.md#2-the-interval)).
    /// **What to do:** use a finer clock, or more work per run, so that a step is a smaller share
    /// of each value. Counts have steps of 1 by nature; choose a threshold above 1 for them.
    COARSE_CLOCK: Warning;

    /// Some functions (`functions`) differ between two builds, or exist in only one of them. Out of
    /// `of` benchmarks, `benchmarks` reach such code, directly or through other functions.
    /// `unreached` is the number of functions that no benchmark reaches.
    /// **Why:** a benchmark that does not reach the change says nothing about it. Code that a
    /// benchmark *may* call counts as reached. Benchmarks of pytest-benchmark, pyperf,
    /// benchmark-ips and Go run once more, untimed, and the message states what they execute. With
    /// `bench --sensitivity`, there is one finding per function. For each benchmark, it states how
    /// many seconds longer a call must take before the difference is found, or `null` if the
    /// benchmark calls the function only outside the timed code.
    /// **What to do:** add a benchmark that calls the named functions, or run one that does.
    CODE_CHANGED: Note | Warning;

    /// Commits around a change cannot be measured or listed: one does not build or its program
    /// fails (`assay bisect`), or the repository's history no longer connects the two commits
    /// around the change (`assay history trend`).
    /// **Why:** commits that do not build are common, and give no information about the change.
    /// Commits are no longer connected if the history was rewritten (`git rebase`, `git push
    /// --force`), or if the runs were added in another clone. The change is then located by the
    /// commits as they were when the runs were added.
    /// **What to do:** nothing, unless the change is among these commits. All commits between two
    /// measurable ones are then named together; to tell them apart, use a build line that also
    /// works for them. Fetch missing commits, or look in the clone that has them.
    COMMITS_MISSING: Note | Warning;

    /// A command that was measured twice in every block (`run --control`) differs from itself: the
    /// interval from `lower` to `upper`, as logarithms of the ratio, excludes 0.
    /// **Why:** by chance, this happens in at most one run in twenty; otherwise something disturbs
    /// the sides unequally.
    /// **What to do:** differences of that size between other commands mean nothing in this run.
    /// Measure again.
    CONTROL_DIFFERS: Warning;

    /// Counts are not per iteration. Either those of `bench --alloc`, `--count-instructions` or
    /// `--counters` cover a whole process, including start-up; or `counters` of Google Benchmark
    /// are totals over all iterations. They are totals unless their author flagged them, and the
    /// file does not say which ones are flagged.
    /// **Why:** if a harness, such as Google Benchmark before 1.8, does not accept a number of
    /// iterations, no two runs differ only in the number of iterations. The process does as little
    /// work as possible, so the benchmark's own share of the count is small. A total in a file
    /// grows with the number of iterations, which the tool chooses anew each time. If a counter's
    /// values show that it is a total (they are whole multiples of the iterations), it is divided
    /// and called `NAME/iteration`. Other whole-number counters of the same benchmark may also be
    /// totals that are too small to show it, so they are kept both undivided and divided. Files
    /// that contain only aggregates do not state the iterations, so whole-number counters are
    /// omitted.
    /// **What to do:** use a newer harness, or let the program read the counter around its own loop
    /// (`c/assay_alloc.h`). Flag counters with `benchmark::Counter::kAvgIterations`, and do not use
    /// `--benchmark_report_aggregates_only`.
    COUNTED_WHOLE: Note | Warning;

    /// Counts are incomplete. The message says what is missing.
    /// **Why:** *allocations* (`--alloc`): a runtime or an allocator requests memory in large
    /// pieces and divides it up itself (CPython, Ruby, the JVM, V8, PHP, Go; jemalloc or mimalloc
    /// linked into a program), and only requests to malloc are counted. Or some `programs` that a
    /// command starts are not counted, so work that moves into them seems to disappear. These are
    /// static programs, programs that gain privileges, and programs started without `LD_PRELOAD`
    /// and `ASSAY_ALLOC` in their environment (`env -i`, `sudo`).
    ///
    /// *Counters:* the kernel lets this user count only in user mode, so instructions and misses in
    /// the kernel on behalf of a program are omitted, for all commands alike. Or more events were
    /// requested than the processor has counters. The events took turns, one of them counted for
    /// only `least_share` of the time, and the counts were scaled up to the whole time, which can
    /// be wrong for a short run.
    /// **What to do:** for allocations, follow the message if it suggests one, or use the
    /// language's own counters; link programs dynamically, leave their environment intact, or
    /// remove them from the command. Programs are counted if they are started with `execve` or its
    /// variants, or with `posix_spawn` by a program that is itself counted. For programs that spend
    /// most of their time in the kernel, set `sysctl kernel.perf_event_paranoid=1`, or run as root.
    /// Request fewer `--counters` in one run.
    COUNTS_INCOMPLETE: Note | Warning;

    /// The CPU frequency may change during the measurement. It follows the load (the governor is
    /// not `performance`, or the tool that measured reports frequency scaling), it may exceed its
    /// nominal value (`turbo`), or the machine runs on battery.
    /// **Why:** a program that starts on an idle CPU is slow at first, which affects short programs
    /// and first benchmarks most. The turbo frequency depends on temperature and on the other
    /// cores. Laptops on battery lower their frequency in unpredictable steps. In blocks, these
    /// effects are the same for all sides on average.
    /// **What to do:** use `cpupower frequency-set -g performance` during the measurement, and turn
    /// turbo off if you need steadier times (the finding names the setting). Plug the machine in.
    CPU_FREQUENCY: Note | Warning, Machine;

    /// A benchmark gets steadily worse, or better, over many commits (`assay history trend`).
    /// **Why:** no single step is large enough to be detected, but together they matter (2 % or
    /// more from the first third of the runs to the last). A straight line fits these runs better
    /// than any step, so no single commit is the cause. `from` is the first run of the trend,
    /// counted from 0; `runs` is the number of runs; `ratio` is the last third divided by the
    /// first.
    /// **What to do:** compare both ends in one run, `assay bench --rev FIRST --rev LAST`, and check
    /// what grew in that time: data, dependencies, or the machine itself (then other benchmarks creep
    /// as well).
    CREEP: Note | Warning;

    /// A benchmark program reports, or its file shows, that it was built for debugging: without
    /// optimization, with a sanitizer, or with a library built that way.
    /// **Why:** its times say little about an optimized build. If only Google Benchmark's own
    /// library was built this way (without `NDEBUG`), as in Debian, the library's part of each time
    /// is larger, which matters for benchmarks that take nanoseconds. This does not show how the
    /// measured code was built.
    /// **What to do:** rebuild it (`CMAKE_BUILD_TYPE=Release`, `cargo bench`), and link an
    /// optimized library, the same on both sides.
    DEBUG_BUILD: Note | Warning;

    /// *In blocks:* the difference between the subjects changed during the run: successive
    /// differences are more alike than chance allows (tested with 24 or more blocks). *Otherwise:*
    /// successive values of one subject are alike, so the effective number of independent values
    /// (`effective`) is smaller than the number of values.
    /// **Why:** an interval that assumes independence would be too narrow. It was widened, and a
    /// run in blocks does not stop early while the dependence lasts. In a short series, chance
    /// alone often makes the effective number slightly smaller, because it is based on a sum over
    /// many lags. If the effective number is at least half of all values and the correlation of
    /// neighbors is at most 1.645/√n, this is a note and not a warning. The interval is widened in
    /// either case.
    /// **What to do:** measure again at another time and compare the two results. Look for slow
    /// changes: heat, frequency, a cache that fills, a leak. For the four-step check, record 24 or
    /// more values of each subject.
    DEPENDENCE: Note | Warning;

    /// In the four-step check, a series has fewer than 24 values (`have`).
    /// **Why:** that is too few to tell whether successive values are independent, which the test
    /// assumes.
    /// **What to do:** record 24 or more values of each subject.
    DEPENDENCE_UNKNOWN: Warning;

    /// At least three runs of a subject, and more than one in twenty, were disturbed far more than
    /// is usual for that subject. They were interrupted by other programs (involuntary switches),
    /// waited for the disk (major faults), or lost the CPU to a hypervisor.
    /// **Why:** such a run takes longer, and how often that happens is a matter of luck. The runs
    /// are marked and kept. For runs in blocks, the terminal output also shows the difference with
    /// less weight on those blocks. That figure never affects the verdict.
    /// **What to do:** stop other work. `assay doctor` shows what would shield the runs.
    DISTURBED: Note, Checks;

    /// The values of a subject changed from the first third of the run to the last by more than chance
    /// allows. `drift` is the change in the metric's unit.
    /// **Why:** in blocks, drift cancels, since every subject drifts alike, so this is a note. In a
    /// recording of one subject, it is a warning: the median depends on when it was measured. It
    /// remains a note if the drift is below a tenth of the standard deviation or below 0.1 % of the
    /// median, as is common in long series and for values far from zero.
    /// **What to do:** in blocks, nothing. Otherwise warm up longer (`--warmup`), or measure in blocks.
    DRIFT: Note | Warning, Checks;

    /// Some runs of a command failed (exit status other than 0, or a signal), and an option allowed
    /// the run to continue: their values are included. Or a program run by `assay profile` failed,
    /// or its sampler does not report how it ended.
    /// **Why:** a run that fails early is fast, and its profile covers only its work until then,
    /// which may not be the intended work. rbspy starts the program itself and does not pass on its
    /// exit status, so a program that failed early seems to have run normally.
    /// **What to do:** make sure that a failing run does the same work, or fix it. Read its output
    /// (`--show-output`), run the program once without the sampler, or use stackprof.
    FAILURES: Note | Warning;

    /// A test failed in some runs of its suite and passed in others, in the same order (`assay tests
    /// --runs N`), or tests of the same version both passed and failed on the same target (`assay
    /// farm`), which then counts as neither passing nor failing.
    /// **Why:** such a test depends on time, chance, the order of tests, the network, or something
    /// else outside the suite.
    /// **What to do:** fix it. The share of failures is given with an interval. The finding states
    /// how many consecutive passing runs would be a sign that the test is fixed; fewer do not
    /// suffice. `--flaky fail` makes it a failure. For a farm, `assay tests --runs 20` shows how
    /// often it fails, and whether another test causes it.
    FLAKY: Warning;

    /// The load generator was the bottleneck, not the server. In some `slices` it sent requests
    /// late (by more than 1 ms and more than a fifth of the usual latency at that step), or had no
    /// CPU time left (`load --connections`); or `requests` failed because this machine had no free
    /// local port, as each closed connection keeps one for a minute, or because this process
    /// reached its limit on open files.
    /// **Why:** the latency of a late request is partly caused by the generator. If several servers
    /// are compared, these values are left out. For a single server they are shown. If the
    /// generator limits the rate, two servers that are both faster than it look alike. Requests
    /// that fail for lack of a port or a descriptor say nothing about the server.
    /// **What to do:** give the generator its own CPU (`--pin`, `--pin-servers`), stop other work, or
    /// use several (`--generators`, `--on`). Allow more ports (`sysctl
    /// net.ipv4.ip_local_port_range='1024 65535'`) or files (`ulimit -n 65536`), keep connections
    /// alive, or use fewer simultaneous ones.
    GENERATOR_LIMIT: Warning;

    /// Some blocks lack a value for a subject (`begun`, `complete`) and are left out of the
    /// comparison. Or runs were lost and repeated, because the helper process that starts the
    /// commands was killed.
    /// **Why:** a pair needs both values. Whatever killed the helper may have disturbed neighboring
    /// runs.
    /// **What to do:** usually nothing: an interrupted run ends with such a block. If there are
    /// many, find out which subject has no value. For lost runs, look for what kills processes on
    /// this machine: a memory limit, an administrator's script.
    INCOMPLETE_BLOCKS: Note | Warning;

    /// Intervals contain the true value less often than they claim. One cause is correlation of
    /// successive values beyond chance (`lag1`, between neighbors; 24 values or more). Intervals
    /// that assume independence are then too narrow, and widened ones may be as well. The size of
    /// the error depends on how far the dependence reaches, so it cannot be stated as a number. The
    /// other cause is a distribution of the values for which the interval of a median or of a
    /// verdict holds less often than claimed: `simulated` instead of `nominal`.
    /// **Why:** every method for intervals was simulated with six kinds of data and four sample
    /// sizes ([how often intervals hold](../concepts/deciding.md#10-how-often-intervals-hold)). The
    /// warning appears for fewer than 5 in 100 samples of independent normal values. For a series
    /// of 50 or more values in which each keeps 0.9 of the previous one, it almost always appears.
    /// **What to do:** take more values, or measure in blocks. Until then, read the interval as one of
    /// lower confidence.
    INTERVAL_OPTIMISTIC: Warning;

    /// The placement of code in memory differs between builds, so their times differ although the
    /// code is the same. *Several builds of one source* (`--builds`): 95 % of builds are within
    /// `spread` of their mean. *Two builds:* the functions of `benchmarks`, and everything that
    /// they call in the program, are identical down to the last instruction, yet they are faster or
    /// slower. *A search* (`assay bisect`): builds of neighboring commits differ (`own`) by a large
    /// part of the change being searched for (`step`), so it cannot tell which commit caused it.
    /// **Why:** the linker's placement of code decides how loops are aligned in caches and in the
    /// tables of the branch predictor. A change in another function moves this one. More runs of
    /// the same build do not average that out. With several builds, the interval of the verdict
    /// covers the differences between builds. The code of two builds is compared for Google
    /// Benchmark and Go, in programs for x86-64 and 64-bit ARM that keep their symbols. Addresses
    /// are ignored; shared libraries are compared as whole files. There are [differences that this
    /// comparison does not see](../guides/layout.md#when-the-code-is-the-same).
    /// **What to do:** measure several builds of each side (`--builds`). After a search, compare
    /// the most likely commit with its predecessor: `assay bench --rev COMMIT~ --rev COMMIT
    /// --builds 5`. If there is no verdict yet, more builds narrow the interval; more time does
    /// not. See [Is it the code, or its placement?](../guides/layout.md).
    LAYOUT: Note | Warning;

    /// A command left processes running when it ended, in its process group or in a session of their
    /// own. They were killed.
    /// **Why:** they would have run during the next measurement, and their remaining work is not in
    /// the numbers. They are killed before `--conclude` begins; if a line there fails because
    /// nothing is left to kill, the run continues.
    /// **What to do:** let the command wait for its children. Start a server that it needs in
    /// `--setup`, which may leave one running.
    LEFT_PROCESSES: Warning;

    /// The values were taken at several levels (iterations within processes, processes of builds),
    /// and the outer units differ by more than the variation within them explains. An interval of
    /// the mean that counts every value as independent is too narrow by `factor`.
    /// **Why:** properties that all values of a process share (its memory layout, its compiled code) do
    /// not average out over its iterations (Kalibera and Jones 2013).
    /// **What to do:** use the interval over the outermost level, and take more units of that
    /// level. `assay describe` says what more repetitions at each level would gain.
    LEVELS_IGNORED: Warning, Series;

    /// The sides of `assay bench` are one program that loads different shared libraries. The
    /// finding lists the libraries that differ, with the file of each side, as found by the
    /// program's own loader (`libraries` is their number). If this could not be determined, it says
    /// why.
    /// **Why:** these are the possible causes of a difference between the sides. They also show
    /// that the variables (`LD_LIBRARY_PATH`, `LD_PRELOAD`) had an effect. A program linked with an
    /// RPATH ignores `LD_LIBRARY_PATH`, so both sides may load the same libraries without anyone
    /// noticing. Loaders other than glibc's do not report what they load, and scripts open
    /// libraries while they run.
    /// **What to do:** check that the list contains the intended library and no other. Without a
    /// list, check it with `LD_DEBUG=libs` or a version that the program prints.
    LIBRARIES: Note;

    /// Programs did not get all of the CPU. The evidence says how this was detected: the load
    /// average of the last minute was above 0.5 per CPU when the run began (`load_1m`); a short
    /// test that only computes did not get a whole CPU (`share`); another process used the CPU
    /// while `assay doctor` ran; a control group limits CPU time (`quota`); or the hypervisor gave
    /// the CPU to others.
    /// **Why:** other work competes with the measured program. Under a quota, a program is paused
    /// until the next period, which causes stalls of up to 100 ms. Under a hypervisor, it is paused
    /// while the clock keeps running.
    /// **What to do:** stop the other work, or decide on CPU time beforehand (`--primary cpu`). If
    /// the kernel divides the CPU by terminal session (`sched_autogroup`), a busy session takes
    /// half; the finding then names the setting. Remove the quota, or measure outside the container
    /// or on a machine that is not shared.
    MACHINE_BUSY: Note | Warning, Machine;

    /// Machine settings were changed for the measurement (`--governor`, `--turbo`, `--rt-runtime`,
    /// `--autogroup`) and restored afterwards.
    /// **Why:** the result describes the machine with these settings, not its usual state.
    /// **What to do:** nothing. The message gives the values before and during the run.
    MACHINE_SET: Note;

    /// The peak memory of a subject is no larger than that of the helper that started it. Smaller
    /// values cannot be measured.
    /// **Why:** such values are an upper bound, and differences between them have no meaning.
    /// **What to do:** do not compare the peak memory of such small programs.
    MEMORY_FLOOR: Note;

    /// Wall time and CPU time of a subject give different answers; or there is no verdict on wall
    /// time yet, but CPU time is known at least 1.5 times as precisely.
    /// **Why:** if the two moved in opposite directions, the time spent waiting changed, or work
    /// moved to another process or core. If wall time fell and CPU time did not change, the program
    /// waits less, or another process (a server) does the work. If CPU time changed and wall time
    /// did not, the work overlaps with waiting. On a busy machine, a program waits for others,
    /// which adds to its wall time but hardly affects its CPU time.
    /// **What to do:** decide which of them matters to your users, and name it before the *next* run:
    /// `--primary cpu`, if the program only computes. Choosing the metric after seeing the result would
    /// invalidate the verdict.
    METRICS_DIFFER: Note;

    /// The values cluster around several points (`assay describe`): the dip test rejects a single mode,
    /// and the density has a clear valley. Or some answers of a server (`assay load`; `delayed` of
    /// `answers`) ended about 40 ms after they began, and hardly any a little earlier or later.
    /// **Why:** the mean and the median may be where there are no values. The cluster that a run falls
    /// into matters more than the change in question. 40 ms is the time for which Linux delays an
    /// acknowledgement: a server that writes an answer in parts waits for it between them, because of
    /// Nagle's algorithm.
    /// **What to do:** find the cause (inputs, caches, frequency, which core), and measure the cases
    /// separately. A server should write each answer as a whole, or set `TCP_NODELAY`.
    MULTIMODAL: Warning, Series;

    /// A requested setting was not available (`--pin`, `--fifo`, `--nice`, `--no-aslr`, `--mlock`,
    /// `--governor`, `tests --toggle`, …). The run continued without it, for all commands alike.
    /// **Why:** the message says what refused the setting and which privilege it needs, or which
    /// other run of `assay` currently changes it. Two runs that change the same setting would undo
    /// each other's changes. A toggle is not available if it belongs to another language, to a
    /// server that neither `--with` starts nor `--server` names, or to a server with its data in
    /// memory, where nothing waits for a disk; or if the server does not know it, refuses the
    /// value, or would need a restart.
    /// **What to do:** obtain the privilege, wait for the other run to end, follow the message, or omit
    /// the option.
    NOT_CONTROLLED: Warning;

    /// An event of `--counters`, the instructions (`--count-instructions`) or the allocations
    /// (`--alloc`) of a command could not be counted, or a file contains byte counts of a memory
    /// manager that exceed the address space of a process and were left out. The values are
    /// missing, which is not the same as zero.
    /// **Why:** the message gives the reason. Most virtual machines offer no hardware counters, and
    /// many systems deny them to ordinary users. Under valgrind a program may fail or take longer
    /// than `--timeout` allows. Allocations are counted by a library that the dynamic linker loads
    /// between a program and its malloc: static programs (most of Go's) have no dynamic linker,
    /// programs that gain privileges (setuid, capabilities) do not load the library, and a malloc
    /// inside the program, or AddressSanitizer, takes precedence. Google Benchmark 1.7.1 writes
    /// uninitialized numbers for the first repetition.
    /// **What to do:** count software events, measure on another machine, or give
    /// `--count-instructions` a longer `--timeout`. For allocations, link the program dynamically,
    /// without the sanitizer, and run it as the user whose privileges it gains; see
    /// `docs/guides/allocations.md`. Update Google Benchmark.
    NOT_COUNTED: Warning;

    /// The samples were recorded separately, not in blocks. The message says whether, according to
    /// the times in the files, every recording of one side was made before the first one of the
    /// other.
    /// **Why:** anything that changed between the recordings (load, heat, an update) is part of the
    /// difference, and neither computation nor more recordings can remove it. The verdict is about
    /// these samples, not about the programs.
    /// **What to do:** run both in blocks: `assay run A B`, or record the sides alternately.
    NOT_INTERLEAVED: Warning, Design;

    /// The values deviate from a normal distribution by more than chance allows (`assay describe`):
    /// a fitted one is off by more than 5 % of the values at some point, or the values are skewed
    /// or have long tails.
    /// **Why:** Student's t, "mean ± standard deviation" and plans based on them assume a normal
    /// distribution. The fewer values there are, the larger the error.
    /// **What to do:** nothing for verdicts of `assay`, which use ranks. When quoting a number, prefer
    /// the median and its interval.
    NOT_NORMAL: Note, Series;

    /// Some values are zero or negative, so no ratios can be formed. In the four-step check
    /// (`serious`), the threshold is a share of a median of 0.
    /// **Why:** differences in the metric's unit are compared instead. `assay gate` determines what
    /// is normal from logarithms, which such values do not have. If all earlier runs have the same
    /// value, a new run with that value is normal, and any other value remains undecided. In the
    /// four-step check, any share of zero is zero, so neither the number of values nor the effect
    /// can be judged relative to it.
    /// **What to do:** nothing, or give the threshold as an amount, such as `--threshold 250us`.
    /// Instead of `assay gate`, compare both builds (`assay compare`), which decides by differences.
    NOT_POSITIVE: Note | Serious;

    /// In the four-step check, the test shows no difference at the requested significance.
    /// **Why:** this does not prove that there is no difference.
    /// **What to do:** look at the interval of the effect, which shows how large a difference is
    /// possible. Take more values to narrow it.
    NOT_REJECTED: Warning;

    /// Some or all of the samples could not be saved. The message gives the reason.
    /// **Why:** the verdict is valid, but the run cannot be examined again or resumed.
    /// **What to do:** free some disk space, or choose another file (`--save`). Use `--no-save` to
    /// save nothing on purpose.
    NOT_SAVED: Warning;

    /// One iteration of a benchmark takes less time than a single instruction takes on any
    /// processor.
    /// **Why:** the result is not used, so the compiler removed the work. The time measures nothing.
    /// **What to do:** let the benchmark use its result, with `DoNotOptimize` or `black_box`, or by
    /// printing a sum.
    OPTIMISED_AWAY: Warning;

    /// A test fails after another one and passes by itself, or the reverse. `assay tests --runs N`
    /// found it in random orders, and identified the other test by running some of the tests again.
    /// **Why:** tests share state (a variable, a table, a file, the current directory), and one
    /// test finds what another one left behind.
    /// **What to do:** run the two tests as the message says. Let the first one clean up after
    /// itself, or the second one set up what it needs.
    ORDER_DEPENDENT: Note | Warning;

    /// The commit that `assay bisect` found accounts for less than the difference between the good and
    /// the bad commit.
    /// **Why:** a search finds one step, and there are others before or after it.
    /// **What to do:** also search the commits before it and those after it.
    OTHER_CHANGES: Note;

    /// A command ends with a different exit status than its reference, writes different text to
    /// standard output, or leaves a different file of `--same` behind (`assay run`). The message
    /// quotes the first difference; `byte` and `line` are its position, counted from 1.
    /// **Why:** a program that does less work is faster without being better. The outputs were
    /// compared in warm-up runs, and once more in two further untimed runs, so that output that
    /// varies from run to run is not reported.
    /// **What to do:** find out which output is correct. `--require-same` makes it an error.
    OUTPUT_DIFFERS: Warning;

    /// A command does less work when its output is discarded (`/dev/null`). Either its user CPU
    /// time when the output is read is more than three times that of the timed runs (`assay run`),
    /// or the command is known to do this, so its output goes to a pipe that is read.
    /// **Why:** some programs notice that their output is discarded, and stop at the first result:
    /// `grep`, for example.
    /// **What to do:** measure the command as it is used, with `--output pipe` or `--output FILE`.
    /// `--output null` discards the output nevertheless.
    OUTPUT_DISCARDED: Note | Warning;

    /// The outputs of a command and its reference were not compared. The message says why: the
    /// output differs from run to run (times, addresses, the order of threads); a run takes more
    /// than 10 s, so no further run is added to check this; the output is shown (`--output
    /// inherit`); a file of `--same` does not exist, or no run wrote it; a server answers the same
    /// request differently (`assay load`).
    /// **What to do:** let the command write its result to a file and name that file with `--same
    /// FILE`, or do what the message suggests; `--require-same` adds further runs of any length.
    OUTPUT_NOT_COMPARED: Note | Warning;

    /// A part of the input was left out. The message says which: lines of a log that do not match
    /// `--pattern`, or lack the requested keys (`lines`); the first observations of every series,
    /// or the first blocks, because of `--skip` (`skipped`); a metric whose units in different
    /// files cannot be converted to each other; requests of a recording to other servers, and its
    /// lines without a request (`load --har`, `--replay`); all events of a perf recording but the
    /// first; parts of a test suite that its hook could not see, because the version of the
    /// framework is unknown or the project replaced parts of it.
    /// **Why:** the rest is described or compared as if it were everything. A pattern that misses
    /// some of the values biases the result. Values in different units cannot be compared; for the
    /// deciding metric, this is an error. Each side of a load test is a single server.
    /// **What to do:** nothing, if the rest is what you want. Look at the line in the message, and
    /// widen the pattern if the line contains a value. In the output of `go test`, the line looks
    /// like the start of a result but is not one, perhaps because a benchmark printed it. Choose
    /// the number to skip by the warm-up, not by the result; indices are counted from the first
    /// remaining observation. Record the metric in one unit. Record one event at a time (`perf
    /// record -e`).
    PARTLY_READ: Note | Warning;

    /// One value in every `period` differs from the others (`assay describe`). `first` is the index
    /// of the first such value (counted from 0). `excess` is the difference between their median
    /// and that of the others. It is reported if it is at least a quarter of the spread of the
    /// values or 1 % of the median; by chance, that happens in one series in a thousand. Only
    /// periods of a whole number of values, up to 500, are found.
    /// **Why:** something recurs that is not the work in question, or is only part of it: a timer,
    /// garbage collection, a buffer that is flushed. Quantiles and means depend on how many periods
    /// the samples cover. A measurement that is in step with the period sees the effect either
    /// always or never.
    /// **What to do:** find the cause, and remove it or make it part of every observation (more
    /// work per run, so that one run covers whole periods).
    PERIODIC: Warning, Series;

    /// The runs were made by the portable runner: on macOS and the BSDs, or because
    /// `ASSAY_RUNNER=portable` requested it.
    /// **Why:** this runner has no launcher. It counts no events or allocations, applies no
    /// settings to programs or the machine, and cannot find processes that left their group.
    /// Starting any program takes longer than with the launcher by the same amount, so differences
    /// are correct, but ratios of very short runs are closer to 1. Peak memory below that of
    /// `assay` itself cannot be measured.
    /// **What to do:** nothing, or measure on Linux. [Systems](systems.md) has a table of what works on
    /// each system.
    PORTABLE_RUNNER: Note, Machine;

    /// A profile has few samples: fewer than 100 (`samples`); it has fewer per second than
    /// requested (`delivered_hz`); the sampler `missed` some; or some `tests` with at least 1 % of
    /// a suite's samples have fewer than 25 (`assay tests --profile`).
    /// **Why:** with 100 samples, the share of a function that takes half of the time is known to
    /// within ± 10 percentage points at best; with 25 samples, to within ± 20. The share of a test
    /// in the suite is known more precisely. Samples are missed while the program cannot be
    /// interrupted, so the share of that code is too small. A CPU-time timer fires no more often
    /// than the kernel ticks (250 times a second on most systems), and profilers do not report
    /// this: at 1000 samples per second, they deliver a quarter of the samples, and times computed
    /// as samples × period are too short by that factor.
    /// **What to do:** let the program work longer, sample more often (`--rate`), take several runs
    /// (`--runs`), or run a test alone (`--only`). If samples are missed or fewer than requested,
    /// request fewer per second, or use a wall-clock timer (`--clock wall`).
    PROFILE_FEW: Note | Warning;

    /// Stacks in a profile are incomplete. Some `samples` have stacks without their outermost
    /// functions, or more than a fifth of the samples (`share`) are in functions without a name.
    /// **Why:** perf keeps 127 frames of a stack. Deeper recursion loses `main` and the functions
    /// nearest to it, so their totals are too small and the flame graph has several roots. Names are
    /// missing if the symbols were stripped from the program or the library, or the code was compiled
    /// at run time.
    /// **What to do:** for perf, raise `kernel.perf_event_max_stack`. Build with symbols, or install
    /// the package of debug symbols (Debian: `NAME-dbgsym`).
    PROFILE_STACKS: Note | Warning;

    /// The sampler did not see a part of the work: perf sampled less than 90 % of the CPU time that the
    /// kernel counted for the program (`cpu_seconds`); some `tests` took long enough for twenty samples
    /// and have none (`assay tests --profile`); or the sampler does not see garbage collection.
    /// A Python program that py-spy hardly saw was run twice.
    /// **Why:** if `kernel.perf_event_paranoid` is 2 or more, an ordinary user may not sample
    /// inside the kernel, so reading and writing seem to take almost no time. Only root may sample
    /// a program that runs as a different user (set-user-ID). Each process loses up to one sampling
    /// period, which adds up for many short processes. The table shows the rest as `(not sampled)`,
    /// so that all shares refer to the kernel's time. stackprof only sees the process that it was
    /// started in, and not its forks, such as the parallel workers of Rails; samples of other
    /// threads are attributed to no test. The time of a collector that is not seen is attributed to
    /// the functions during which it ran, so functions that allocate look slower than they are.
    /// py-spy loses track of a program that replaces itself with another one (`os.execv`) when it
    /// also follows child processes, so a second run is sampled without following them.
    /// **What to do:** run `assay` as root, or lower the setting to 1. Run the tests in one process
    /// (`PARALLEL_WORKERS=1`), or use a sampler that follows processes (`--sampler rbspy`). To see
    /// garbage collection, use stackprof. If a second run would do harm, give the program that is
    /// finally executed as the command.
    PROFILE_UNSEEN: Note | Warning;

    /// According to the samples, a program used more CPU time than the kernel counted.
    /// **Why:** py-spy and rbspy guess from outside whether a thread is running. A waiting thread
    /// that moves at that moment looks like a running one, so an idle server seems to use several
    /// processors. For a process sampled by `--pid`, the samples of each thread are compared with
    /// its CPU time. If they indicate more, those in Python's own waiting functions
    /// (`Condition.wait`, `select`, `_worker` of a pool, …) are dropped. If the remaining samples
    /// still indicate more than twice the time that the thread ran or queued for a processor, the
    /// thread is dropped; otherwise, its samples are scaled down to its CPU time. If nothing
    /// remains, there is no profile. For a program that `assay` starts, the kernel knows the CPU
    /// time of the program and all its children. If the samples indicate more, those in waiting
    /// functions are dropped, and the others are scaled to the CPU time. If they indicate less,
    /// because sampling began late or processes ended early, they are scaled up. If less than half
    /// of the CPU time was sampled, the rest is shown as a separate entry, `(not sampled)`.
    /// **What to do:** sample while there is work, or include waiting (`--clock wall`).
    PROFILE_WAITING: Note | Warning;

    /// According to the times in the files, the recordings of both sides alternate.
    /// **Why:** the spread between recordings then includes the drift of the machine, so `--fail-if`
    /// accepts the verdict.
    /// **What to do:** nothing.
    RECORDINGS_ALTERNATE: Note;

    /// The compared recordings were made on different machines (host, processor, kernel, governor,
    /// runner), with different versions or settings of the tool, the library or the language, or
    /// with different deciding metrics. The finding lists them with their values.
    /// **Why:** that difference is part of the result, and no computation can remove it.
    /// **What to do:** measure both on one machine, in blocks (`assay run A B`), or record both with
    /// the same settings. `--primary` names the metric that decides.
    RECORDINGS_DIFFER: Warning;

    /// Requests to a server failed in a load test. The message says how many failed, how they
    /// failed, and from which slice on the server answered none; a note gives details of the first
    /// failure of each kind, such as `malformed: the size of a chunk is not a number`.
    /// **Why:** latencies say nothing about a server that fails. Many tools omit failed requests
    /// from their times but count them in their rate, so a server that refuses the hard ones looks
    /// fast. `answered` is the share answered correctly, and `rate_achieved` counts only those. The
    /// verdict is based on failures if one side stopped answering while the other still answers,
    /// was unavailable for a while, or fails more often in too many blocks for this to be chance.
    /// It is then `slower`, or `faster` if the reference is the one that fails. A server counts as
    /// unavailable if the other's share of failed requests was at most a tenth of its own, and one
    /// of these is true: it refused, cut off or wrongly answered 5 % of its requests, and at least
    /// 10; it left more than half of the requests of a slice, and at least 10, unanswered while the
    /// generator was never more than 0.1 s late; requests of a slice had timed out, and a single
    /// request after that took more than 1 s longer than usual. The affected share of its requests
    /// or slices must also exceed the threshold. Occasional timeouts only count by the number of
    /// blocks in which they occur, because a busy machine also causes them.
    /// **What to do:** look at the kind of failure in the table and at the server's log; fix the
    /// cause, or send fewer requests. `fd-unavail`, `addrunavail` and dropped iterations in a file
    /// of another tool are failures of the client, all others of the server.
    REQUESTS_FAILED: Note | Warning | Serious;

    /// The run was interrupted and resumed later (`--resume`); or (`serious`) it was resumed although
    /// a program, a command or the machine was no longer the same (`--force`).
    /// **Why:** the machine may have been in a different state. Blocks cancel that, since none of
    /// them was interrupted. If the program changed, the blocks before and after are not one
    /// experiment, and a verdict would mix them. There is therefore no verdict on any metric; only
    /// the measured values are shown.
    /// **What to do:** nothing for a note. If it is serious, measure again.
    RESUMED: Note | Serious;

    /// Earlier runs of a benchmark are not used to determine what is normal (`assay gate`, `assay
    /// history trend`). The message says why: it changed some time ago (`ratio`); a level was
    /// accepted as normal (`assay history bless`); some `runs` are of revisions that are not on the
    /// branch by first parents (`--branch`); or the metric was recorded in a different unit before.
    /// **Why:** runs before a change, or experiments on another branch, do not show what is normal now.
    /// Values in different units are not compared: they form their own series.
    /// **What to do:** nothing, if that is intended. `assay history trend BENCHMARK` shows when it
    /// changed, and both units. `assay history bless --list` shows who accepted a level, and
    /// `--remove` undoes it. Runs of unknown revisions are not on the branch; `--rev` names the
    /// revision when a run is added. Record the metric in the earlier unit, or give it another
    /// name.
    RUNS_LEFT_OUT: Note | Warning;

    /// The machine code of `benchmarks` benchmarks, and of everything that they call, is the same
    /// in both builds; the largest movement is `most`. `reach` is how far any other benchmark may
    /// have moved without a change in its code.
    /// **Why:** placement by the linker, noise and drift move every benchmark, and these benchmarks
    /// show how far. If there are ten or more of them, the interval of each other benchmark covers
    /// that range, and these have no verdict (`same code`). If there are fewer, they are only
    /// shown.
    /// **What to do:** measure several builds of each side (`--builds`) if smaller differences matter.
    /// See [negative controls](../guides/layout.md#when-the-code-is-the-same).
    SAME_CODE_MOVED: Note;

    /// Some of the inputs are identical: builds of one side (`--builds`) or recordings of a side
    /// are identical down to the last byte (`differ` is the number of distinct ones, and only these
    /// count), or the same file was given twice, under the same or different paths (`assay
    /// compare`).
    /// **Why:** copies say nothing about how builds or recordings differ. A file does not differ from
    /// itself, so the comparison describes the procedure and not a program; with `--fail-if` this is a
    /// usage error.
    /// **What to do:** give every build its own seed, and check that the build line relinks and
    /// uses it ([how](../guides/layout.md#how-a-build-is-varied)). Check the pattern of recordings:
    /// it may match both the single files and a file that contains all of them. If a file was given
    /// twice, give the other side's file instead.
    SAME_INPUT: Warning;

    /// Lines that a program wrote to the sample channel could not be used, or it did not report a
    /// metric that it reported before (`--metric`, `--samples`), or reported nothing at all, or something
    /// other than a number.
    /// **Why:** lines are not used if they are not JSON, or not part of the [sample
    /// protocol](sample-protocol.md), or were mixed up by two processes that wrote simultaneously.
    /// Valid lines are used. A run without a value of a metric is left out for that metric, and so
    /// is its block. If the program omits the metric when it is slow, the remaining values make it
    /// look too fast.
    /// **What to do:** find the reason: the message quotes the first case. Write every line with a
    /// single call.
    SAMPLES_PROBLEM: Warning;

    /// A server of a load test was overloaded. Either it was still busy with abandoned requests
    /// half a minute after a slice had ended (this affected some `slices`), or the processes that
    /// `load --serve` started together used more memory (`bytes`) than `--serve-memory` allows.
    /// **Why:** the server answers the requests of the next slice late because of the previous one.
    /// If its memory were actually limited, such a server would be killed or would swap.
    /// **What to do:** lower the rates, or use a longer `--timeout`. Use fewer workers, or more memory.
    SERVER_OVERLOADED: Warning;

    /// The ratio of the medians is outside the interval of the typical ratio.
    /// **Why:** the difference is not the same everywhere: perhaps most runs are equal and one in ten
    /// is much slower. One number does not describe that.
    /// **What to do:** look at the distributions (quantiles, means) before quoting a number. Decide
    /// whether the typical run or the worst matters.
    SHAPE: Note;

    /// Slices of a load test are too short: some have fewer requests (or answers with chunks) than the
    /// deciding quantile needs (`needed`: 10 for p90, 100 for p99, 1000 for p99.9), or ended before
    /// their first answer (`slices`).
    /// **Why:** the "p99" of 20 requests is the longest one, regardless of the server.
    /// `rate_achieved` counts the answers within a slice, so it is 0 in one without answers,
    /// although every request may have been answered.
    /// **What to do:** use longer slices (`--slice`, `--requests-per-step`), or a lower quantile.
    SLICES_SHORT: Note | Warning;

    /// The run that `assay gate` judges is worse than normal, and the runs before it are not. `ratio`
    /// is its distance from normal.
    /// **Why:** single runs are sometimes bad for reasons unrelated to the code. If the code is
    /// unchanged, hardly any of the forty runs after a bad one is bad. One bad run is therefore not
    /// an alarm; the status is 3.
    /// **What to do:** run it again: a second bad run is an alarm. If both revisions can be measured
    /// here, use `assay gate --confirm`: the fresh run decides.
    STANDS_OUT: Warning;

    /// The run ended before it had all answers: the user stopped it, or the time for a suite ended
    /// while some of its benchmarks (`open`) had no answer.
    /// **Why:** if the run was meant to stop by itself, the verdict is as good as any other, since
    /// its interval is valid at every moment. If the number of blocks was fixed, fewer were
    /// measured. Benchmarks without an answer differ by about the threshold, or their times vary
    /// widely; the report gives the bound known so far.
    /// **What to do:** resume the run, allow more time (`--time`), a larger `--threshold`, fewer
    /// benchmarks, or a metric that varies less (`--primary cpu`).
    STOPPED_EARLY: Note;

    /// A suite failed for a reason other than failed tests. Either its command ended with an error
    /// although no test failed, or its report contradicts itself (a TAP plan that was not met,
    /// `Bail out!`, failures in JUnit XML that belong to no test).
    /// **Why:** something outside the tests failed (a coverage limit, a hook at the end, a crash
    /// after some results). A build that checks the exit status fails, so the status of `assay
    /// tests` is 4.
    /// **What to do:** run the command by itself to see the reason.
    SUITE_STATUS: Serious;

    /// A tool saved no individual values, only their mean, spread and number; or (`serious`) it
    /// saved a single number, without a spread or without the number of values.
    /// **Why:** only Welch's test of the means is then possible. A single stall shifts a mean, and
    /// order, dependence and shape are unknown. A single number gives a ratio, but no uncertainty,
    /// so there is no verdict.
    /// **What to do:** let the tool save the values. The finding names the option if there is one.
    SUMMARY_ONLY: Warning | Serious;

    /// A setting of the system disturbs measurements (`assay doctor`); the finding names it and gives
    /// the command that changes it.
    /// **Why:** *clock source:* the system reads a slow or coarse clock (`hpet`, `acpi_pm`,
    /// `jiffies`); reading it takes about a microsecond, which is part of every short measurement.
    /// *Address randomization off:* every run has the same memory layout, and its good or bad luck,
    /// often a few percent, looks like a property of the code. *Sessions:* the kernel divides the
    /// CPU between terminal sessions first, so a busy process in another session takes half of it,
    /// regardless of its niceness. *Real-time limit:* under `--fifo`, the kernel stops a program
    /// for a part of every second, so that it cannot block the machine. *No isolated CPU:* the
    /// kernel may run other work on the CPU of the measured program. *Swap:* a run that waits for
    /// memory on disk takes far longer, and runs are hit at random.
    /// **What to do:** switch to the clock `tsc` if the machine offers it. Turn address
    /// randomization on with `sysctl kernel.randomize_va_space=2`. While measuring, use
    /// `--autogroup off`, `--rt-runtime unlimited` together with `--fifo`, and `swapoff -a` if
    /// there is enough memory. If it matters, boot with `isolcpus=N` and measure with `--pin N`.
    SYSTEM_SETTINGS: Note | Warning, Machine;

    /// A version changed a benchmark by amounts that differ between its targets by more than their
    /// errors explain (Cochran's Q, `q`, p < 1 % over all benchmarks); the message gives the range
    /// expected for the next target. Or several `facts` separate the targets on which a version
    /// fails or is slower from the others, and the message names one of them and lists the others
    /// (`assay farm`).
    /// **Why:** the mean over different targets describes none of them. With few targets, there is
    /// always some fact that separates them, and here no target has one of these facts without the
    /// others.
    /// **What to do:** read the result target by target. Add a target that has only one of the facts.
    TARGETS_DIFFER: Note;

    /// A version's tests fail on some targets. The message says what these have in common, and since
    /// which version (`assay farm`).
    /// **Why:** only builds whose tests ran give information about a version. A version that also
    /// passed on the same target has a flaky test. What the targets share need not be the cause.
    /// **What to do:** the page of a build shows a command that repeats it. If the failure was seen
    /// only once, run the tests again.
    TARGETS_FAIL: Warning;

    /// On some targets, a benchmark is more than 1 % slower than with the base. The message says by
    /// how much, what these have in common, and since which version (`assay farm`).
    /// **Why:** both versions were measured alternately on the same node, and all benchmarks on all
    /// targets share the error rate.
    /// **What to do:** `assay bisect` finds the commit, on a machine of that kind.
    TARGETS_SLOWER: Warning;

    /// On some targets, a version has no result: it could not be installed, took too long, was
    /// stopped by a machine fault, or ran no visible test (`assay farm`).
    /// **Why:** the tests neither failed nor passed.
    /// **What to do:** see the log of the build for the reason. After a machine fault, the job is
    /// retried automatically.
    TARGETS_UNTESTED: Note | Warning;

    /// A test of a suite failed. The message gives its last failure (`assay tests`). The time of
    /// the test is still counted.
    /// **What to do:** fix it. A test that fails early is quicker than one that passes, so compare
    /// suites whose tests pass.
    TEST_FAILED: Warning;

    /// A test, or the setup of a group of tests, exceeded `--test-timeout`, and the suite was
    /// stopped. The message says which test it was, where and for how long it hung, and how many
    /// tests had ended before (`assay tests`).
    /// **Why:** the test waits for something that does not happen, or is merely slow. Tests that
    /// ended before keep their times, and the one that hung counts as failed. The total time is not
    /// that of a complete suite.
    /// **What to do:** fix what hangs, or raise `--test-timeout`.
    TEST_HUNG: Serious;

    /// A test takes at least 10 % longer than before. The message gives the increase, with an
    /// interval, and the time when it began (`assay watch`).
    /// **Why:** the times of tests are kept from runs in which all tests ran and passed, at most
    /// one run every ten minutes. A change of level within the last 30 days is reported, and all
    /// tests share the error rate. If most tests slowed down at the same time, this is reported
    /// once: the cause is the machine, or something that they share.
    /// **What to do:** press `t` to see how to profile it.
    TEST_SLOWER: Note;

    /// Some runs reached the time limit and are included with that time.
    /// **Why:** they would have taken longer, so the difference is a bound: the report says "at
    /// least" or "at most".
    /// **What to do:** raise `--timeout` if the size matters. The direction is certain.
    TIMEOUTS: Warning;

    /// The values of a recording are so strongly correlated that they are equivalent to fewer than
    /// ten independent ones.
    /// **Why:** no interval can be trusted then, so there is no interval and no verdict.
    /// **What to do:** measure both in one run, in blocks: `assay run A B`.
    TOO_DEPENDENT: Serious, Verdict;

    /// There are too few blocks, or values, for any verdict at this confidence. `have` is their
    /// number, and `needed` the minimum. As a note before the run: the time suffices for fewer
    /// `blocks` than any verdict needs (6 at 95 % for two subjects, more for several). In the
    /// four-step check, there are too few to find a difference as large as the threshold with the
    /// requested power. If there are too few even for ten times the threshold and for the observed
    /// difference (`serious`), the check ends.
    /// **Why:** with n blocks, all of them agree by chance in one of 2^(n-1) cases. A difference that
    /// matters may remain undetected.
    /// **What to do:** allow more time (`--time`), set a sufficient number beforehand (`--runs`),
    /// measure fewer subjects, or record more values (`assay plan` says how many). For the
    /// four-step check, a larger threshold may be enough.
    TOO_FEW: Note | Warning | Serious, Verdict;

    /// The runs of a benchmark do not suffice to show what is normal or whether it changed. Either
    /// there are too few on this machine (`runs`; at least `more` are still needed); the first or
    /// the last two to four are all above or below the others up to the next change, but are too
    /// few to count as a level of their own; or runs differ so much (`spread`, their standard
    /// deviation) that the worsening given by `--detect` cannot be found within three runs in 80 %
    /// of cases, however many are kept (`detectable` is the worsening that can be found).
    /// **Why:** fewer than five runs do not show how much runs differ, and the machine may have had
    /// a bad day: by chance, one series in twenty ends like this without a change. "Not worse"
    /// would only mean that nothing could have been detected.
    /// **What to do:** record or keep more runs (`--keep`). At the beginning of a series, record more
    /// of those revisions or earlier ones (`assay history backfill`). `assay gate` judges the last run
    /// immediately. If runs differ, measure both builds in one run, in blocks, where differences
    /// between runs cancel (`assay bench --rev`), or make the machine steadier (`assay doctor`).
    TOO_FEW_RUNS: Note | Warning;

    /// The last line of a sample file is incomplete, as after a crash, and was left out; or the
    /// last line of a table has no line ending, and its number is shorter than all others.
    /// **Why:** at most the observation being written is lost; everything before it is complete.
    /// **What to do:** nothing for a sample file, since the run can be resumed. Fetch the table
    /// again.
    TRUNCATED_FILE: Warning;

    /// A revision was measured while the working tree based on it had uncommitted changes.
    /// **Why:** a revision is built from committed files, so the changes are not in the result.
    /// **What to do:** commit them, or measure the working tree as it is: `assay bench --rev .`.
    UNCOMMITTED: Warning;

    /// The values came from several processes (forks, builds, recordings), each with several
    /// values. The means of these units were compared. It is a warning if a side has only three
    /// recordings, too few for a rank test. The interval is then Student's t, which assumes
    /// normally distributed recordings.
    /// **Why:** the properties of one process (its memory layout, its compiler's choices) are in
    /// all of its values, so a hundred values of two processes are equivalent to only two values.
    /// With three on each side, the smallest two-sided p-value of a rank test is 0.10; with four,
    /// it is 0.029.
    /// **What to do:** record each side at least four times. More processes make the answer more
    /// certain; more values per process do not.
    UNITS_COMPARED: Note | Warning;

    /// A series was worse at first and steady from some point on (`assay describe`), or a benchmark
    /// was still getting faster when the warm-up of its harness ended (`assay bench`). For a series,
    /// `begins` is the index of that point, counted from 0, and `change` is the difference between
    /// the median of the steady part and that of the part before.
    /// **Why:** a program behaves differently while caches and its heap fill and code is compiled;
    /// both parts together describe neither. If the steady part neither drifts nor is correlated,
    /// `DRIFT` and `DEPENDENCE` are not reported separately: their results are in the evidence of
    /// this finding (`drift`, `effective`). The same is true for `CHANGE_POINT`.
    /// **What to do:** warm up longer before measuring (`--warmup`, or the harness's own setting,
    /// such as `x.config(warmup: 2)`), or describe only the steady part: `assay describe --skip N`,
    /// where N is `begins`.
    WARM_UP: Warning, Series;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_each_says_what_to_do() {
        assert!(ALL.is_sorted_by(|a, b| a.name < b.name));
        for code in ALL {
            assert!(code.text.contains("**What to do:**"), "{}", code.name);
            assert_eq!(named(code.name), Some(*code));
        }
        assert_eq!(topic("of another version"), Topic::Other);
    }
}
