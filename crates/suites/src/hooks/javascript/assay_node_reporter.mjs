// A reporter for `node --test` (Node 20 and later) that writes the events of
// docs/reference/test-events.md, and prints nothing.
//
//   node --test --test-reporter=spec --test-reporter-destination=stdout
//        --test-reporter=DIR/assay_node_reporter.mjs --test-reporter-destination=stdout
//
// It runs in the process that starts the test files, which report to it in batches. Durations are
// measured by these files; a test's end is the time at which its report arrives. A test with
// subtests is a group and not reported itself, as in TAP reports, unless it failed by itself, for
// example in one of its hooks.

import { readFileSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { Events, clock, seconds, shortened, start } from "./assay_events.cjs";

const root = process.cwd();

// Names of the files to run, if they are selected: the processes of all others exit immediately.
function chosen() {
  const list = process.env.ASSAY_TESTS_ONLY ?? "";
  if (!list.startsWith("path:")) return null;
  const only = readFileSync(list.slice("path:".length), "utf8").split("\n").filter(Boolean);
  return only.every((name) => name.startsWith("file:")) ? new Set(only.map((name) => name.slice("file:".length))) : null;
}

class NodeEvents extends Events {
  // For each file, by depth: names of the tests that began and that were reported; the end of each
  // test; the positions of tests with subtests.
  files = new Map();
  chosen = chosen();

  of(file) {
    if (!this.files.has(file)) this.files.set(file, { begun: [], told: [], ended: new Map(), below: [] });
    return this.files.get(file);
  }

  take({ type, data }) {
    if (data?.name === undefined) return;
    if (this.chosen && data.file && !this.chosen.has(relative(root, data.file))) return;
    const file = this.of(data.file);
    const depth = data.nesting;
    switch (type) {
      case "test:dequeue":
        // The file itself is also reported as a test.
        if (depth === 0 && (data.file === data.name || data.file?.endsWith(`/${data.name}`))) return;
        file.begun.length = depth;
        file.begun[depth] = data.name;
        this.write(`{"start":${JSON.stringify(file.begun.join(": "))},"at":${seconds(clock())}}`);
        break;
      case "test:complete":
        file.ended.set(`${depth} ${data.line} ${data.column} ${data.name}`, clock());
        break;
      case "test:start":
        file.told.length = depth;
        file.told[depth] = data.name;
        file.below.length = depth + 1;
        if (depth > 0) file.below[depth - 1] = true;
        file.below[depth] = false;
        break;
      case "test:pass":
      case "test:fail":
        this.test(file, depth, data, type === "test:pass");
        break;
    }
  }

  test(file, depth, data, passed) {
    const holds = file.below[depth] || data.details?.type === "suite";
    const error = data.details?.error;
    if (holds && (passed || error?.failureType === "subtestsFailed")) return;
    const end = file.ended.get(`${depth} ${data.line} ${data.column} ${data.name}`) ?? clock();
    // The time of subtests belongs to them.
    const took = BigInt(Math.round((holds ? 0 : data.details?.duration_ms ?? 0) * 1e6));
    const skipped = data.skip !== undefined && data.skip !== false;
    const failed = !passed && (data.todo === undefined || data.todo === false);
    const status = skipped ? "skipped" : failed ? "failed" : "passed";
    this.failed ||= status === "failed";
    const names = file.told.slice(0, depth + 1);
    // A file that cannot be loaded, or has no tests.
    if (depth === 0 && isAbsolute(names[0]) && names[0] === data.file) names[0] = relative(root, data.file);
    const where = data.file ? `"file":${JSON.stringify(relative(root, data.file))},"line":${data.line ?? null},` : "";
    const message = failed ? String(error?.cause?.message ?? error?.message ?? error) : skipped ? String(data.skip) : null;
    this.write(
      `{"test":${JSON.stringify(names.join(": "))},"group":${JSON.stringify(names.slice(0, -1).join(": ") || null)},${where}` +
        `"begin":${seconds(end - took)},"end":${seconds(end)},"status":"${status}"` +
        `${message === null ? "" : `,"message":${JSON.stringify(shortened(message))}`}` +
        `${skipped ? "" : `,"body":${seconds(took)}`}${holds ? `,"beside":true` : ""}}`,
    );
  }
}

export default async function* (source) {
  const events = start(NodeEvents, "node:test", process.version.slice(1));
  for await (const event of source) events?.guarded(() => events.take(event));
  events?.end();
}
