// Loaded through NODE_OPTIONS into every Node process that a command starts. It has an effect only
// in processes of mocha, jasmine, jest and vitest, and of `node --test`. mocha and jasmine get a
// listener that writes the events of docs/reference/test-events.md; jest and vitest get our
// reporter in addition to their own; processes of `node --test` are watched for an early end.
//
//   NODE_OPTIONS="--require /DIR/assay_node_start.cjs" npm test
//
// It must not change the behavior of any other program, and nothing here may throw an exception
// into a suite.
"use strict";

const { EventEmitter } = require("node:events");
const { readFileSync, realpathSync } = require("node:fs");
const { basename, dirname, join, relative, sep } = require("node:path");

const root = process.cwd();

// Names as in the reporter for jest and vitest.
const named = (file, titles) => (file ? `${basename(file)}: ` : "") + titles.join(" ").trim();

// Returns the framework that this program is, and the directory of its package.
function framework() {
  const within = process.env.ASSAY_TESTS_WITHIN ?? "";
  if (!(process.env.ASSAY_TESTS ?? "").startsWith("path:") || !["", String(process.pid)].includes(within)) return null;
  let program;
  try {
    program = realpathSync(process.argv[1]);
  } catch {
    return null;
  }
  // If mocha has options for Node itself, it restarts itself from another of its files.
  const package_ = dirname(/[\\/]lib[\\/]cli[\\/]cli\.js$/.test(program) ? dirname(dirname(program)) : dirname(program));
  const own = program.slice(dirname(package_).length + 1).split(sep).join("/");
  if (/^mocha\/(bin\/_?mocha(\.c?js)?|lib\/cli\/cli\.js)$/.test(own)) return ["mocha", package_];
  if (/^jasmine\/bin\/jasmine(\.js)?$/.test(own)) return ["jasmine", package_];
  if (/^jest(-cli)?\/bin\/jest(\.js)?$/.test(own)) return ["jest", package_];
  if (program.endsWith(`${sep}vitest${sep}vitest.mjs`)) return ["vitest", dirname(program)];
  return null;
}

// Events of mocha and jasmine.
function listener(name, version) {
  const { Events, clock, nanoseconds, seconds, shortened, start } = require("./assay_events.cjs");

  class Tests extends Events {
    begun = null;

    begins(file, titles) {
      // Programs started by tests do not report: their time belongs to the test.
      process.env.ASSAY_TESTS_WITHIN = String(process.pid);
      const own = named(file, titles);
      this.begun = { own, file, titles, at: clock(), setup: 0n, hook: null, body: null, teardown: 0n };
      this.write(`{"start":${JSON.stringify(own)},"at":${seconds(this.begun.at)}}`);
    }

    // `body` is in nanoseconds; unknown values are omitted.
    ended({ own, file, titles, at, started, setup, body, teardown, status, message, retries, again }, end = clock()) {
      this.failed ||= status === "failed";
      const group = [file && basename(file), ...titles.slice(0, -1)].filter(Boolean).join(": ");
      const where = file ? `"file":${JSON.stringify(relative(root, file))},` : "";
      const phases = body === null || status === "skipped" ? "" : `,"setup":${seconds(setup)},"body":${seconds(body)},"teardown":${seconds(teardown)}`;
      this.write(
        `{"test":${JSON.stringify(own)}${started ? `,"started":${JSON.stringify(started)}` : ""},"group":${JSON.stringify(group)},${where}` +
          `"begin":${seconds(at)},"end":${seconds(end)},"status":"${status}"` +
          `${message ? `,"message":${JSON.stringify(shortened(message))}` : ""}${retries ? `,"retries":${retries}` : ""}` +
          `${again ? `,"again":true` : ""}${phases}}`,
      );
    }
  }

  const events = start(Tests, name, version);
  return events && { events, clock, nanoseconds };
}

const said = (error) => String(error?.message ?? error);

// Returns true if this process has loaded mocha itself, and not only its command line.
const isLoaded = (directory) => Object.keys(require.cache).some((file) => file.startsWith(join(directory, "lib", "mocha.")));

// mocha's runner: each run notifies us of everything that it reports to its reporter.
function mocha(directory) {
  const { version } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  let own;
  const listen = (runner) => {
    own ??= listener("mocha", version);
    if (!own) return;
    const { events, clock, nanoseconds } = own;
    const isParallel = runner.constructor.name !== "Runner";
    let last = null; // A test whose hooks behind it may still come.
    const settle = () => {
      if (last) events.ended(last, last.end);
      last = null;
    };
    const on = (name, take) => runner.on(name, (...given) => events.guarded(() => take(...given)));
    const titles = (test) => test.titlePath?.() ?? [test.title];
    const is = (hook, when) => String(hook.title).startsWith(`"${when} each"`);
    on("test", (test) => {
      settle();
      events.begins(test.file, titles(test));
    });
    on("hook", (hook) => {
      if (last && is(hook, "after")) last.hook = clock();
    });
    on("hook end", (hook) => {
      if (events.begun && is(hook, "before")) events.begun.setup = clock() - events.begun.at;
      if (last?.hook && is(hook, "after")) {
        last.end = clock();
        last.teardown += last.end - last.hook;
        last.hook = null;
      }
    });
    const passed = new WeakSet();
    let tried = null; // What the attempt said that failed at first.
    on("retry", (_test, error) => {
      tried = said(error);
    });
    const ends = (test, status, message) => {
      const { begun } = events;
      const end = clock();
      const file = test.file;
      const about = { own: named(file, titles(test)), file, titles: titles(test), at: end, setup: 0n, body: null, teardown: 0n };
      const found = begun && begun.own === about.own ? begun : about;
      const retries = test.currentRetry?.() ?? test._currentRetry ?? 0;
      // A test that passed and then failed: `done` was called twice.
      const again = found === about && passed.has(test);
      if (status === "passed") passed.add(test);
      settle();
      if (found === begun) events.begun = null;
      if (isParallel) {
        // Called when a whole file has ended.
        found.body = nanoseconds(test.duration ?? 0);
        [found.at, found.setup] = [end - found.body, 0n];
      } else if (found === begun) found.body = end - found.at - found.setup;
      last = { ...found, status, message: message ?? (retries ? tried : null), end, retries, again };
    };
    on("pass", (test) => ends(test, "passed", null));
    on("pending", (test) => {
      settle();
      ends(test, "skipped", null);
    });
    on("fail", (test, error) => {
      if (test.type === "hook") {
        settle();
        const { begun } = events;
        events.begun = null;
        const at = begun?.at ?? clock();
        const names = titles(test);
        events.ended({ own: named(test.file, names), file: test.file, titles: names, at, started: begun?.own, body: null, status: "failed", message: said(error) });
      } else ends(test, "failed", said(error));
    });
    on("suite end", settle);
    on("end", () => {
      settle();
      events.end();
    });
  };
  // If files cannot be loaded, no runner starts. The program may also only start another one, which
  // loads them.
  process.on("exit", (status) => {
    if (status && !own && isLoaded(directory)) listener("mocha", version)?.events.exits(status);
  });
  // A runner announces its start by an ordinary event. The module that defines the runner, and its
  // class, differ between versions.
  const { emit } = EventEmitter.prototype;
  EventEmitter.prototype.emit = function (event, ...given) {
    if (event === "start" && /Runner$/.test(this?.constructor?.name) && this.suite && "failures" in this) {
      EventEmitter.prototype.emit = emit;
      try {
        listen(this);
      } catch {
        // The suite continues.
      }
    }
    return Reflect.apply(emit, this, [event, ...given]);
  };
}

function jasmine(directory) {
  const { version } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const Jasmine = require(join(directory, "lib", "jasmine.js"));
  const { execute } = Jasmine.prototype;
  Jasmine.prototype.execute = function (...given) {
    try {
      const own = listener("jasmine", version);
      if (own && this.env) this.env.addReporter(reporter(own));
    } catch {
      // The suite continues.
    }
    return Reflect.apply(execute, this, given);
  };
}

function reporter({ events, nanoseconds, clock }) {
  const guarded = (take) => (result) => events.guarded(() => take(result));
  const failed = (result, name) => {
    const [first] = result.failedExpectations ?? [];
    if (!first) return;
    events.ended({ own: name, file: null, titles: [name], at: clock(), body: null, status: "failed", message: first.message });
  };
  return {
    specStarted: guarded(({ filename, fullName }) => events.begins(filename, [fullName])),
    specDone: guarded(({ filename, fullName, status, duration, failedExpectations }) => {
      const how = { passed: "passed", failed: "failed" }[status] ?? "skipped";
      const { begun } = events;
      events.begun = null;
      const end = clock();
      const body = duration === null || duration === undefined ? end - (begun?.at ?? end) : nanoseconds(duration);
      const about = begun ?? { own: named(filename, [fullName]), file: filename, titles: [fullName], at: end, setup: 0n, teardown: 0n };
      events.ended({ ...about, body, status: how, message: how === "failed" ? failedExpectations?.[0]?.message : null }, end);
    }),
    suiteDone: guarded((result) => failed(result, `${result.fullName} (beside its specs)`)),
    jasmineDone: guarded((result) => {
      failed(result, "(beside all specs)");
      events.end();
    }),
  };
}

// Returns the reason why a test file ended before all of its tests, if nothing else reports it;
// otherwise null. `isThrough` is true if the process has run out of work.
//
// If a file of `node --test` calls `process.exit(0)`, results that were not sent yet are lost, and
// `node --test` reports it as passed. Calls from a hook that runs after the tests, from `node
// --test` itself (`--test-force-exit`) and from a file without tests are legitimate.
function early(status, isThrough) {
  const hasTests = process.moduleLoadList.includes("NativeModule internal/test_runner/test");
  if (!process.env.NODE_TEST_CONTEXT) {
    const isTest = /(^|[._-])(test|spec)\.[cm]?[jt]s$/.test(basename(process.argv[1] ?? ""));
    return status && isTest && !hasTests ? `ended with status ${status} before its tests ran` : null;
  }
  if (isThrough || status || !hasTests) return null;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = Infinity;
  const frames = String(new Error().stack).split("\n");
  Error.stackTraceLimit = stackTraceLimit;
  const caller = frames[frames.findIndex((frame) => /\bprocess\.exit /.test(frame)) + 1];
  const isMeant = /\(node:internal\//.test(caller) || frames.some((frame) => /\bTestHook\.run/.test(frame));
  return isMeant ? null : "called process.exit(0) before its tests were through";
}

function watchEnd() {
  if (process.env.ASSAY_TESTS_WITHIN || !require("node:worker_threads").isMainThread) return;
  let isThrough = false;
  process.once("beforeExit", () => {
    isThrough = true;
  });
  process.once("exit", (status) => {
    const why = early(status, isThrough);
    if (!why) return;
    const { Events, clock, seconds, start } = require("./assay_events.cjs");
    const framework = process.env.NODE_TEST_CONTEXT ? ["node:test", process.version.slice(1)] : [];
    const events = start(Events, ...framework);
    const said = JSON.stringify(`${relative(root, process.argv[1])} ${why}`);
    events?.guarded(() => events.write(`{"fault":${said},"at":${seconds(clock())}}`));
    events?.end();
  });
}

try {
  const [name, directory] = framework() ?? [];
  if (!name) watchEnd();
  if (name === "mocha") mocha(directory);
  if (name === "jasmine") jasmine(directory);
  const ours = join(__dirname, "assay_jest_vitest_reporter.mjs");
  if (name === "jest" && !process.argv.some((word) => /^--reporters(=|$)/.test(word))) {
    // Inserted at the end or before `--`: jest takes words that follow `--reporters` for reporters.
    const end = process.argv.indexOf("--");
    process.argv.splice(end < 0 ? process.argv.length : end, 0, "--reporters=default", `--reporters=${ours}`);
  }
  if (name === "vitest" && !process.argv.some((word) => word.startsWith("--reporter")))
    process.argv.push("--reporter=default", `--reporter=${ours}`);
} catch {
  // Whatever failed, the program continues.
}
