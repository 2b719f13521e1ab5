// A reporter for jest (29 and later) and vitest (3 and later) that writes the events of
// docs/reference/test-events.md, and prints nothing.
//
//   jest --reporters=default --reporters=DIR/assay_jest_vitest_reporter.mjs
//   vitest run --reporter=default --reporter=DIR/assay_jest_vitest_reporter.mjs
//
// Both call it in the process that distributes files to workers. The duration of a test is measured
// by its worker, and so is its start if the worker reports it. The name of a test is the base name
// of its file followed by all titles, as in their JSON reports.

import { basename, relative } from "node:path";
import { Events, clock, monotonic, nanoseconds, seconds, shortened, start } from "./assay_events.cjs";

const root = process.cwd();
const name = (file, titles) => `${basename(file)}: ${titles.join(" ").trim()}`;

class Files extends Events {
  begins(file, titles) {
    this.write(`{"start":${JSON.stringify(name(file, titles))},"at":${seconds(clock())}}`);
  }

  // `began` and `took` are in milliseconds, `began` since 1970; either may be unknown.
  ended(file, titles, line, { status, began, took, message, retries, again }) {
    const length = nanoseconds(took ?? 0);
    const begin = began === undefined || began === null ? clock() - length : monotonic(began);
    const group = [basename(file), ...titles.slice(0, -1)].join(": ");
    this.failed ||= status === "failed";
    this.write(
      `{"test":${JSON.stringify(name(file, titles))},"group":${JSON.stringify(group)},"file":${JSON.stringify(relative(root, file))},` +
        `"line":${line ?? null},"begin":${seconds(begin)},"end":${seconds(begin + length)},"status":"${status}"` +
        `${message ? `,"message":${JSON.stringify(shortened(message))}` : ""}${retries ? `,"retries":${retries}` : ""}` +
        `${again ? `,"again":true` : ""}${status === "skipped" ? "" : `,"body":${seconds(length)}`}}`,
    );
  }

  // A failure of a file or a group outside of its tests, as in loading or in a hook, is reported as
  // a failed test.
  broken(file, message, titles = []) {
    const [at, place] = [seconds(clock()), relative(root, file)];
    const said = message ? `,"message":${JSON.stringify(shortened(message))}` : "";
    const name = [place, ...titles].join(": ");
    this.failed = true;
    this.write(
      `{"test":${JSON.stringify(name)},"file":${JSON.stringify(place)},"begin":${at},"end":${at},"status":"failed"${said},"beside":true}`,
    );
  }

  span(kind, file, from, to) {
    const [begin, end] = [monotonic(from), monotonic(to)];
    if (end - begin < 50_000n) return;
    this.write(
      `{"span":"${kind}","group":${JSON.stringify(relative(root, file))},"begin":${seconds(begin)},"end":${seconds(end)}}`,
    );
  }
}

export default class Reporter {
  // jest. ----------------------------------------------------------------------------------------------------------------

  // Start of the first test of each file.
  first = new Map();

  // Passed tests of unfinished files.
  passed = new Set();

  key(test, { ancestorTitles, title }) {
    return JSON.stringify([test.path, ...ancestorTitles, title]);
  }

  onRunStart() {
    this.events ??= start(Files, "jest", null);
  }

  onTestCaseStart(test, info) {
    this.events?.guarded(() => this.events.begins(test.path, [...info.ancestorTitles, info.title]));
  }

  // Loading a file precedes its first test. Skipped tests are reported only here, as are failures
  // that follow a test's end.
  onTestFileResult(test, result) {
    this.events?.guarded(() => {
      const { perfStats, testResults, testExecError, failureMessage } = result;
      if (testExecError) this.events.broken(test.path, testExecError.message || failureMessage);
      const first = this.first.get(test.path);
      if (perfStats?.start && first) this.events.span("load", test.path, perfStats.start, first);
      testResults.filter((one) => one.status === "pending").forEach((one) => this.ofJest(test, one));
      const late = testResults.filter((one) => one.status === "failed" && this.passed.has(this.key(test, one)));
      late.forEach((one) => this.ofJest(test, one, true));
      testResults.forEach((one) => this.passed.delete(this.key(test, one)));
    });
  }

  onRunComplete() {
    this.events?.end();
  }

  // vitest. --------------------------------------------------------------------------------------------------------------

  onInit(vitest) {
    this.events ??= start(Files, "vitest", vitest?.version);
  }

  onTestCaseReady(test) {
    this.events?.guarded(() => this.events.begins(test.module.moduleId, titles(test)));
  }

  // Files that failed outside of their tests and that were reported.
  told = new Set();

  onTestModuleEnd(module) {
    this.events?.guarded(() => {
      const [error] = module.errors?.() ?? [];
      if (!error || this.told.has(module.moduleId)) return;
      this.told.add(module.moduleId);
      this.events.broken(module.moduleId, error.message);
    });
  }

  onTestSuiteResult(suite) {
    this.events?.guarded(() => {
      const [error] = suite.errors?.() ?? [];
      if (error) this.events.broken(suite.module.moduleId, error.message, titles(suite));
    });
  }

  // Version 3 reports no end of a file that can't be loaded.
  onTestRunEnd(modules) {
    modules?.forEach((module) => this.onTestModuleEnd(module));
    this.events?.end();
  }

  // Both. ----------------------------------------------------------------------------------------------------------------

  onTestCaseResult(test, result) {
    this.events?.guarded(() => {
      if (result === undefined) this.ofVitest(test);
      else this.ofJest(test, result);
    });
  }

  // A retried test is reported once per attempt.
  ofJest(test, result, again = false) {
    const { ancestorTitles, title, status, startedAt, duration, failureMessages, location, invocations } = result;
    if (status === "passed") this.passed.add(this.key(test, result));
    const how = { passed: "passed", failed: "failed" }[status] ?? "skipped";
    const message = how === "failed" ? failureMessages?.[0]?.split("\n    at ")[0] : null;
    if (startedAt && !this.first.has(test.path)) this.first.set(test.path, startedAt);
    const times = { status: how, began: startedAt, took: duration, message, again: again || invocations > 1 };
    this.events.ended(test.path, [...ancestorTitles, title], location?.line, times);
  }

  ofVitest(test) {
    const { state, errors } = test.result();
    const { startTime, duration, retryCount } = test.diagnostic() ?? {};
    const how = { passed: "passed", failed: "failed" }[state] ?? "skipped";
    const times = { status: how, began: startTime, took: duration, message: errors?.[0]?.message, retries: retryCount };
    this.events.ended(test.module.moduleId, titles(test), test.location?.line, times);
  }
}

// Returns the names of all groups around a vitest test, and its own.
function titles(test) {
  const found = [];
  for (let each = test; each && each.type !== "module"; each = each.parent) found.unshift(each.name);
  return found;
}
