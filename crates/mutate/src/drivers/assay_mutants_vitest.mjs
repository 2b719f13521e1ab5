// A persistent runner for vitest: instead of the files that it is given, it runs the requested
// ones, repeatedly, each time with one of the changes that the sources contain behind a switch
// (`assay$` of the global object). For each file that it runs, all modules are loaded again.
//
//   ASSAY_MUTANTS=path:SOCKET vitest --run --no-file-parallelism --reporter=DIR/assay_mutants_vitest_reporter.mjs
//
// Each request and each answer is a line of JSON:
//   {"number": 7, "files": ["/p/a.test.ts"], "stops": true, "reaches": false}
//   {"tests": [{"name": "a.test.ts: adds", "state": "failed", "reaches": []}], "errors": [], "broken": [], "seconds": 0.01}
// `errors` are errors outside of tests, `broken` those of files that cannot be loaded.

import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { vi } from "vitest";
import * as runners from "vitest/runners";

const Base = runners.VitestTestRunner ?? runners.TestRunner;
// Captured before tests replace the clocks.
const { setImmediate, performance } = globalThis;
// The active mutant, and the function that records reached functions.
const active = { number: 0, reaches: undefined };
Object.defineProperty(globalThis, "assay$", { value: active, configurable: true });

export default class Driver extends Base {
  // Called for the first file, before anything is loaded. Does not return.
  async onBeforeCollect() {
    // The copy of the module whose functions the tests call.
    const vitest = realpathSync(createRequire(join(process.cwd(), "_")).resolve("vitest/package.json"));
    const { startTests } = await import(pathToFileURL(createRequire(vitest).resolve("@vitest/runner")).href);
    const answers = (ask) => answer(this, startTests, ask);
    await new Promise(() => {
      createServer((socket) => serve(socket, answers)).listen(process.env.ASSAY_MUTANTS.slice("path:".length));
    });
  }
}

function serve(socket, answers) {
  let text = "";
  let last = Promise.resolve();
  socket.setEncoding("utf8");
  socket.on("data", (piece) => {
    text += piece;
    for (let end; (end = text.indexOf("\n")) >= 0; text = text.slice(end + 1)) {
      const ask = JSON.parse(text.slice(0, end));
      last = last.then(() => answers(ask)).then((own) => socket.write(`${JSON.stringify(own)}\n`));
    }
  });
}

async function answer(runner, startTests, { number, files, stops, reaches }) {
  const own = { tests: [], errors: [], broken: [] };
  const caught = (error) => own.errors.push(String(error?.message ?? error));
  process.on("unhandledRejection", caught);
  process.on("uncaughtException", caught);
  const began = performance.now();
  active.number = number;
  for (const file of files) {
    if (stops && own.tests.some((test) => test.state === "failed")) break;
    try {
      await runFile(runner, startTests, file, { own, stops, reaches });
    } catch (error) {
      own.broken.push(String(error?.message ?? error));
    }
    // By then all unhandled rejections have been reported.
    await new Promise((resolve) => setImmediate(resolve));
  }
  active.number = 0;
  process.off("unhandledRejection", caught);
  process.off("uncaughtException", caught);
  return { ...own, seconds: (performance.now() - began) / 1000 };
}

async function runFile(runner, startTests, file, { own, stops, reaches }) {
  if (/@(vitest|jest)-environment\s/.test(readFileSync(file, "utf8"))) {
    own.broken.push(`${file} asks for an environment of its own`);
    return;
  }
  const worker = runner.workerState ?? globalThis.__vitest_worker__;
  if (worker) worker.filepath = file;
  (runner.__vitest_executor ?? runner.moduleRunner)?.mocker?.reset?.();
  vi.resetModules();
  const quiet = quietly(runner, { stops, watch: reaches ? watcher() : null });
  try {
    const [ran] = await startTests([file], quiet);
    collect(ran, quiet, own);
  } finally {
    active.reaches = undefined;
    vi.useRealTimers();
    vi.unstubAllEnvs?.();
    vi.unstubAllGlobals?.();
    vi.resetConfig?.();
    vi.restoreAllMocks();
  }
}

// Records the functions reached while a file is loaded, and while each test runs.
function watcher() {
  const [around, tests, running] = [new Set(), new Map(), new Set()];
  active.reaches = (unit) => {
    if (running.size === 0) around.add(unit);
    for (const test of running) tests.get(test).add(unit);
  };
  return {
    begins: (test) => running.add(test) && tests.set(test, new Set()),
    ends: (test) => running.delete(test),
    of: (test) => [...new Set([...around, ...(tests.get(test) ?? [])])],
  };
}

// The runner, which reports nothing to vitest.
function quietly(runner, { stops, watch }) {
  const nothing = async () => {};
  const inherited = (name) => Base.prototype[name] ?? nothing;
  let failed = false;
  return Object.assign(Object.create(runner), {
    watch,
    onBeforeCollect: nothing,
    onCollectStart: nothing,
    onCollected: nothing,
    onTaskUpdate: nothing,
    onAfterRunFiles: inherited("onAfterRunFiles"),
    async onBeforeRunTask(test) {
      if (failed && stops) test.mode = "skip";
      watch?.begins(test);
      return inherited("onBeforeRunTask").call(this, test);
    },
    async onAfterRunTask(test) {
      watch?.ends(test);
      failed ||= test.result?.state === "fail";
      return inherited("onAfterRunTask").call(this, test);
    },
  });
}

// Returns the results of the tests in a file.
function collect(file, { watch }, own) {
  const visit = (task, titles) => {
    const state = { pass: "passed", fail: "failed" }[task.result?.state] ?? "skipped";
    if (!task.tasks) {
      const name = `${basename(file.filepath)}: ${titles.join(" ").trim()}`;
      own.tests.push({ name, state, reaches: watch ? watch.of(task) : [] });
      return;
    }
    // A hook failed, or the file cannot be loaded.
    if (state === "failed" && task.result.errors?.length) {
      const list = task === file ? own.broken : own.errors;
      list.push(...task.result.errors.map((error) => String(error.message)));
    }
    task.tasks.forEach((each) => visit(each, [...titles, each.name]));
  };
  visit(file, []);
}
