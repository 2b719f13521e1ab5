// Records what a test file run by `node --test` uses of the project (ASSAY_TESTS_COVERAGE,
// docs/reference/test-events.md): the functions entered, by V8's own counts, the files loaded and
// opened, and the programs started. All tests of a file share this record.
//
//   NODE_OPTIONS=--import=file:///DIR/assay_node_coverage.mjs node --test
//
// It is loaded into every Node process, and does nothing except in those that run a test file, and
// in their workers. Nothing here may throw an exception into a suite.

import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import workers from "node:worker_threads";

const MOST_WORDS = 64;
// Directories with these names contain no project files.
const OTHERS = /(^|\/)(node_modules|\.git)(\/|$)/;
// These hooks, which are inside the project if its temporary directory is.
const HOOKS = dirname(fileURLToPath(import.meta.url));
// Extensions of data files that can be imported without a visible open.
const NAMED_DATA = /["'](\.{1,2}\/[^"'\n]+\.json)["']/g;

const { readFileSync, writeFileSync } = fs;
const wanted = (name) => {
  const value = process.env[name] ?? "";
  return value.startsWith("path:") ? value.slice("path:".length) : null;
};

class Noting {
  opens = new Set();
  lists = new Set();
  spawns = new Map();
  written = new Set();
  unseen = undefined;

  constructor(top, file) {
    this.top = top;
    // As in reports, relative to the directory in which the suite was started.
    this.file = relative(process.cwd(), file);
  }

  // Returns a path relative to the project's top, or null if it is elsewhere.
  own(path) {
    const found = relative(this.top, path);
    if (dirname(path) === HOOKS) return null;
    return found === "" || found.startsWith("..") || OTHERS.test(found) ? null : found;
  }

  noted(path, into) {
    try {
      if (path instanceof URL) path = fileURLToPath(path);
      if (Buffer.isBuffer(path)) path = path.toString();
      if (typeof path !== "string") return;
      const found = resolve(path) === this.top ? "." : this.own(resolve(path));
      if (found !== null) into.add(found);
    } catch {
      // Invalid paths are rejected by the function that receives them.
    }
  }

  started(words, cwd) {
    const short = words.slice(0, MOST_WORDS).map(String);
    const place = resolve(cwd instanceof URL ? fileURLToPath(cwd) : String(cwd ?? "."));
    const spawn = {
      words: short,
      ...(place === this.top ? {} : { in: place }),
      ...(words.length > MOST_WORDS ? { cut: true } : {}),
    };
    this.spawns.set(JSON.stringify(spawn), Object.keys(spawn).length === 1 ? short : spawn);
  }

  // Wraps functions of a module.
  before(module, names, take) {
    for (const name of names) {
      const real = module[name];
      if (typeof real !== "function") continue;
      const ours = function (...given) {
        try {
          take(...given);
        } catch {
          // The suite continues.
        }
        return Reflect.apply(real, this, given);
      };
      // These properties are used by `util.promisify` and others.
      for (const key of Reflect.ownKeys(real)) {
        const about = Object.getOwnPropertyDescriptor(real, key);
        const own = Object.getOwnPropertyDescriptor(ours, key);
        if (!own || own.configurable) Object.defineProperty(ours, key, about);
      }
      module[name] = ours;
    }
  }

  watch() {
    const read = (path) => this.noted(path, this.opens);
    const write = (path) => this.noted(path, this.written);
    const open = (path, flags) => (/[wa]|^r\+/.test(typeof flags === "string" ? flags : "r") ? write : read)(path);
    const list = (path) => this.noted(path, this.lists);
    for (const [module, end] of [[fs, ["", "Sync"]], [fs.promises, [""]]]) {
      const named = (...names) => names.flatMap((name) => end.map((end) => name + end));
      this.before(module, named("open"), open);
      this.before(module, named("readFile", "stat", "lstat", "access", "exists", "realpath", "readlink", "copyFile", "cp"), read);
      this.before(module, named("writeFile", "appendFile"), write);
      this.before(module, named("readdir", "opendir"), list);
    }
    this.before(fs, ["createReadStream"], read);
    this.before(fs, ["createWriteStream"], write);
    this.before(childProcess.ChildProcess.prototype, ["spawn"], ({ file, args, cwd }) =>
      this.started([file, ...(args ?? []).slice(1)], cwd),
    );
    this.before(childProcess, ["spawnSync", "execFileSync"], (file, args, options) => {
      const { shell, cwd } = (Array.isArray(args) ? options : args) ?? {};
      const words = [file, ...(Array.isArray(args) ? args : [])];
      this.started(shell ? ["sh", "-c", words.join(" ")] : words, cwd);
    });
    this.before(childProcess, ["execSync"], (line, options) => this.started(["sh", "-c", line], options?.cwd));
    workers.Worker = new Proxy(workers.Worker, {
      construct: (real, given, made) => {
        // Node does not load this file into workers created from a text.
        if (given[1]?.eval || /^data:/.test(String(given[0]))) this.unseen = "a worker that is made of a text";
        return Reflect.construct(real, given, made);
      },
    });
    syncBuiltinESMExports();
  }

  // Converts V8's counts to lines of files.
  counted(scripts) {
    const [numbers, blocks, loads, builds] = [new Map(), {}, [], []];
    for (const { url, functions } of scripts) {
      if (!url.startsWith("file://")) continue;
      const place = fileURLToPath(url.split("?")[0]);
      const path = this.own(place);
      if (path === null) continue;
      let text;
      try {
        text = readFileSync(place, "utf8");
      } catch {
        continue;
      }
      if (!numbers.has(path)) numbers.set(path, numbers.size);
      const number = numbers.get(path);
      if (!loads.includes(number)) loads.push(number);
      for (const [, data] of text.matchAll(NAMED_DATA)) this.noted(resolve(dirname(place), data), this.opens);
      const whole = functions.find(({ ranges }) => ranges[0].startOffset === 0)?.ranges[0].endOffset;
      // The executed code differs from the file: it was generated from it.
      if (whole !== text.length && whole !== text.length + 1) {
        if (!builds.includes(path)) builds.push(path);
        continue;
      }
      const starts = [0];
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
      const lines = new Set(blocks[number] ?? []);
      for (const { ranges } of functions) {
        if (ranges[0].count > 0) lines.add(lineOf(starts, ranges[0].startOffset));
      }
      blocks[number] = [...lines].sort((a, b) => a - b);
    }
    return { numbers, blocks, loads, builds };
  }

  end(scripts, folder, thread) {
    const { numbers, blocks, loads, builds } = this.counted(scripts);
    const opens = [...this.opens].filter((path) => !this.written.has(path) && !numbers.has(path) && !this.lists.has(path));
    const sources = [...numbers].map(([source, number]) => `{"source":${JSON.stringify(source)},"number":${number}}\n`);
    const covers = { covers_file: this.file, blocks, loads, builds, opens, lists: [...this.lists], spawns: [...this.spawns.values()], unseen: this.unseen };
    const name = `${folder}/${process.pid}-covers${thread ? `-${thread}` : ""}.jsonl`;
    writeFileSync(name, `${sources.join("")}${JSON.stringify(covers)}\n`, { flag: "ax", mode: 0o600 });
  }
}

// Returns the line, from 1, of an offset in a text, given the offsets of its lines.
function lineOf(starts, offset) {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

// Returns true if there is a list of files to run and the current file is not in it.
function leftOut(file) {
  const list = wanted("ASSAY_TESTS_ONLY");
  if (list === null) return false;
  const only = readFileSync(list, "utf8").split("\n").filter(Boolean);
  return only.every((name) => name.startsWith("file:")) && !only.includes(`file:${relative(process.cwd(), file)}`);
}

async function begin() {
  const [folder, top] = [wanted("ASSAY_TESTS"), wanted("ASSAY_TESTS_COVERAGE")];
  const within = process.env.ASSAY_TESTS_WITHIN;
  if (!folder || !process.env.NODE_TEST_CONTEXT || !process.argv[1]) return;
  // A program that a test starts; a worker has the process id of its process.
  if (within && within !== String(process.pid)) return;
  const { isMainThread, threadId } = workers;
  // A worker's own file is not a test file.
  const file = isMainThread ? resolve(process.argv[1]) : process.env.ASSAY_TESTS_FILE;
  process.env.ASSAY_TESTS_WITHIN = String(process.pid);
  process.env.ASSAY_TESTS_FILE = file;
  if (isMainThread && leftOut(file)) process.exit(0);
  if (!top) return;
  const { Session } = await import("node:inspector");
  const session = new Session();
  session.connect();
  const noting = new Noting(top, file);
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: Boolean(process.env.NODE_V8_COVERAGE) });
  noting.watch();
  process.on("exit", () => {
    // Counts requested by other code are left unchanged.
    session.post("Profiler.getBestEffortCoverage", (problem, found) => {
      try {
        if (!problem) noting.end(found.result, folder, isMainThread ? 0 : threadId);
      } catch {
        // Without these lines, the file's tests count as not observed.
      }
    });
  });
}

try {
  await begin();
} catch {
  // The suite continues.
}
