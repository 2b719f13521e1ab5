// Writes the events of docs/reference/test-events.md for JavaScript reporters, both modules and
// scripts. It contains nothing specific to a framework. Nothing here may throw an exception into a
// suite.

"use strict";

const { openSync, writeSync } = require("node:fs");

const LONGEST_MESSAGE = 1000;
const MOST_PROBLEMS = 20;

// Nanoseconds of CLOCK_MONOTONIC; captured now, since tests may fake it later.
const clock = process.hrtime.bigint;
const loaded = clock();
const epoch = BigInt(Date.now()) * 1_000_000n - loaded;

// Formats a number of seconds like the other hooks.
const seconds = (nanoseconds) => `${nanoseconds}e-9`;

const nanoseconds = (milliseconds) => BigInt(Math.round(milliseconds * 1e6));

// Converts a time of `Date.now()` to the clock of the events.
const monotonic = (milliseconds) => nanoseconds(milliseconds) - epoch;

// Returns a message without colors, truncated.
const shortened = (message) => message.replace(/\u001b\[[0-9;]*m/g, "").slice(0, LONGEST_MESSAGE);

class Events {
  problems = 0;
  // Returns true if a test failed, or a file or a hook shared by several tests.
  failed = false;

  constructor(folder, framework, version) {
    for (let number = 1; this.descriptor === undefined; number += 1) {
      try {
        this.descriptor = openSync(`${folder}/${process.pid}${number > 1 ? `-${number}` : ""}.jsonl`, "ax", 0o600);
      } catch (problem) {
        if (problem.code !== "EEXIST") throw problem;
      }
    }
    const [ours, node] = [framework, version].map((text) => JSON.stringify(text ?? null));
    this.write(
      `{"assay_tests":1,"framework":${ours},"framework_version":${node},"language":"javascript",` +
        `"language_version":${JSON.stringify(process.version.slice(1))},"process":${process.pid},"parent":${process.ppid},` +
        `"worker":null,"loaded":${seconds(loaded)}}`,
    );
    this.framework = framework;
    process.on("exit", (status) => this.exits(status));
  }

  // The command may ignore this process's exit status, as a pipe does.
  exits(status) {
    const why = `${this.framework} exited with status ${status}, although no test failed`;
    if (status && !this.failed) this.guarded(() => this.write(`{"fault":${JSON.stringify(why)},"at":${seconds(clock())}}`));
  }

  write(line) {
    writeSync(this.descriptor, `${line}\n`);
  }

  // Runs a part of the hooks; if it fails, the tests continue.
  guarded(take) {
    try {
      take();
    } catch (problem) {
      this.problems += 1;
      try {
        if (this.problems <= MOST_PROBLEMS) this.write(`{"problem":${JSON.stringify(String(problem))},"at":${seconds(clock())}}`);
      } catch {
        // The suite closed the descriptor.
      }
    }
  }

  end() {
    this.guarded(() => this.write(`{"end":${seconds(clock())}}`));
  }
}

// The events of this process if `assay tests` requests them; otherwise null.
function start(kind, framework, version) {
  const wanted = process.env.ASSAY_TESTS ?? "";
  if (!wanted.startsWith("path:")) return null;
  try {
    return new kind(wanted.slice("path:".length), framework, version);
  } catch {
    return null;
  }
}

module.exports = { Events, clock, monotonic, nanoseconds, seconds, shortened, start };
