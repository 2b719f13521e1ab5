// A reporter of `node --test` (Node 20 and later) that writes the events of docs/reference/test-events.md, and prints nothing.
//
//   node --test --test-reporter=spec --test-reporter-destination=stdout
//        --test-reporter=DIR/assay_node_reporter.mjs --test-reporter-destination=stdout
//
// It runs in the process that starts the files of tests, which report to it in batches: how long a test took is theirs, when it ended is when
// the news came. A test with subtests is what holds them, and no row, as in the reports of TAP.

import { closeSync, openSync, writeSync } from "node:fs";
import { relative } from "node:path";

const LONGEST_MESSAGE = 1000;
const clock = process.hrtime.bigint;
const loaded = clock();
const root = process.cwd();

// Seconds as the other hooks write them.
const time = (nanoseconds) => `${nanoseconds}e-9`;

class Events {
  constructor(folder) {
    this.descriptor = null;
    for (let number = 1; this.descriptor === null; number += 1) {
      try {
        this.descriptor = openSync(`${folder}/${process.pid}${number > 1 ? `-${number}` : ""}.jsonl`, "ax", 0o600);
      } catch (problem) {
        if (problem.code !== "EEXIST") throw problem;
      }
    }
    const version = JSON.stringify(process.version.slice(1));
    this.write(
      `{"assay_tests":1,"framework":"node:test","framework_version":${version},"language":"javascript","language_version":${version},` +
        `"process":${process.pid},"parent":${process.ppid},"worker":null,"loaded":${time(loaded)}}`,
    );
    // Of each file: names of what was begun, and of what was reported, by depth; when which test ended; where something stood below.
    this.files = new Map();
  }

  write(line) {
    writeSync(this.descriptor, `${line}\n`);
  }

  of(file) {
    if (!this.files.has(file)) this.files.set(file, { begun: [], told: [], ended: new Map(), below: [] });
    return this.files.get(file);
  }

  take({ type, data }) {
    if (data?.name === undefined) return;
    const file = this.of(data.file);
    const depth = data.nesting;
    switch (type) {
      case "test:dequeue":
        // The file itself comes as a test, too.
        if (depth === 0 && (data.file === data.name || data.file?.endsWith(`/${data.name}`))) return;
        file.begun.length = depth;
        file.begun[depth] = data.name;
        this.write(`{"start":${JSON.stringify(file.begun.join(": "))},"at":${time(clock())}}`);
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
    if (file.below[depth] || data.details?.type === "suite") return;
    const end = file.ended.get(`${depth} ${data.line} ${data.column} ${data.name}`) ?? clock();
    const took = BigInt(Math.round((data.details?.duration_ms ?? 0) * 1e6));
    const skipped = data.skip !== undefined && data.skip !== false;
    const failed = !passed && (data.todo === undefined || data.todo === false);
    const status = skipped ? "skipped" : failed ? "failed" : "passed";
    const names = file.told.slice(0, depth + 1);
    const where = data.file ? `"file":${JSON.stringify(relative(root, data.file))},"line":${data.line ?? null},` : "";
    const error = data.details?.error;
    const message = failed ? String(error?.cause?.message ?? error?.message ?? error) : skipped ? String(data.skip) : null;
    this.write(
      `{"test":${JSON.stringify(names.join(": "))},"group":${JSON.stringify(names.slice(0, -1).join(": ") || null)},${where}` +
        `"begin":${time(end - took)},"end":${time(end)},"status":"${status}"` +
        `${message === null ? "" : `,"message":${JSON.stringify(message.slice(0, LONGEST_MESSAGE))}`}` +
        `${skipped ? "" : `,"body":${time(took)}`}}`,
    );
  }

  end() {
    this.write(`{"end":${time(clock())}}`);
    closeSync(this.descriptor);
  }
}

export default async function* (source) {
  const wanted = process.env.ASSAY_TESTS ?? "";
  let events = null;
  for await (const event of source) {
    // Whatever goes wrong here, the tests go on.
    try {
      if (wanted.startsWith("path:")) {
        events ??= new Events(wanted.slice("path:".length));
        events.take(event);
      }
    } catch (problem) {
      try {
        events?.write(`{"problem":${JSON.stringify(String(problem))},"at":${time(clock())}}`);
      } catch {
        events = null;
      }
    }
  }
  try {
    events?.end();
  } catch {
    // The descriptor was closed by somebody.
  }
}
