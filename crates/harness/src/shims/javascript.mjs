// Loaded by `assay bench` ahead of a script that uses tinybench or mitata. The script runs as ever, but where it has its benchmarks run
// they are listed, or one of them is measured by the library and the script ends.
//
// A module can't be changed from outside: whoever imports one of the libraries gets a module of ours that hands on the real one's names.
//
// From the environment: ASSAY_JS_ANSWER, the file to write; ASSAY_JS_ITEM, the benchmark to measure (without it all are listed);
// ASSAY_JS_ITERATIONS or else ASSAY_JS_SECONDS, how much; ASSAY_JS_COLD, no warm-up.

import fs from 'node:fs';
import Module from 'node:module';

const { ASSAY_JS_ANSWER: answer, ASSAY_JS_ITEM: item, ASSAY_JS_SECONDS: seconds, ASSAY_JS_COLD: cold } = process.env;
const iterations = Number(process.env.ASSAY_JS_ITERATIONS ?? 0);
const isListing = item === undefined;

const names = new Set();
const unique = (label) => {
  const text = String(label).toWellFormed?.() ?? String(label);
  let name = text;
  for (let number = 2; names.has(name); number++) name = `${text} #${number}`;
  names.add(name);
  return name;
};

// Turns of two processes (crates/harness/src/turns.rs); without another process, a single one.
const { ASSAY_TURNS: room, ASSAY_TURN: side, ASSAY_TURN_COUNT: turnCount } = process.env;
const turns = (() => {
  const count = room && !isListing && !cold ? Number(turnCount) : 1;
  let pipes, isAlone = false;
  const byte = Buffer.alloc(1);
  const wait = () => {
    if (!isAlone) isAlone = fs.readSync(pipes.own, byte) === 0 || byte.toString() !== 't';
  };
  return {
    count,
    begin() {
      if (count < 2) return;
      if (pipes) {
        fs.writeSync(pipes.other, 't');
      } else {
        const open = (name, flags) => fs.openSync(`${room}/${name}`, flags);
        pipes = { own: open(side, 'r'), other: open(side === 'a' ? 'b' : 'a', 'w') };
        fs.writeSync(open('ready', 'w'), 'r');
      }
      wait();
    },
    finish() {
      if (!pipes) return;
      fs.writeSync(pipes.other, 'd');
      while (!isAlone) wait();
    },
  };
})();

/// Calls the library once a turn. Returns the mean of an iteration over all turns, their number, and the CPU time by the time that passed.
const inTurns = async (measure) => {
  let [sum, count, busy, passed] = [0, 0, 0, 0];
  for (let turn = 0; turn < turns.count; turn++) {
    turns.begin();
    const [before, began] = [process.cpuUsage(), performance.now()];
    const part = await measure(turn);
    passed += performance.now() - began;
    const { user, system } = process.cpuUsage(before);
    busy += (user + system) / 1e3;
    if (part.error) return part;
    sum += part.seconds * part.count;
    count += part.count;
  }
  turns.finish();
  return { seconds: sum / count, count, busy: busy / passed };
};

const write = (lines) => fs.writeFileSync(answer, lines.map((line) => JSON.stringify(line) + '\n').join(''));

if (isListing) {
  process.on('exit', () => { if (names.size) write([...names]); });
}

/// Writes what was measured, and ends the script.
const end = (tool, found) => {
  const error = found.error && `${found.error.name ?? 'Error'}: ${found.error.message ?? found.error}`;
  write([
    { assay: 1, kind: 'run', tool },
    { kind: 'side', name: '' },
    { kind: 'row', name: item },
    { kind: 'subject', side: 0, row: 0, name: item },
    ...error
      ? [{ kind: 'finding', code: 'BENCHMARK_FAILED', severity: 'serious', message: error, subject: item }]
      : [
          { kind: 'metric', name: 'wall', unit: 's' },
          { kind: 'metric', name: 'iterations', unit: '1', better: 'higher' },
          { kind: 'metric', name: 'busy', unit: '1' },
          { kind: 'obs', subject: 0, values: { wall: found.seconds, iterations: found.count, busy: found.busy } },
        ],
  ]);
  process.exit(0);
};

/// Tasks of tinybench, in all its versions: the library measures, for as long as it is told.
const tinybench = (library) => {
  const { prototype } = library.Bench;
  if (Object.hasOwn(prototype, 'assay')) return library;
  const { run, runSync, warmup } = prototype;
  // Before version 3 a script may ask for it, of all tasks; it comes where one is measured.
  const warmed = new WeakSet();
  if (warmup) prototype.warmup = async function () { warmed.add(this); };

  // From version 3.0.7 to 5, they are in an object of their own.
  const settingsOf = (bench) => bench.opts ?? bench;

  const prepare = (bench) => {
    const tasks = bench.tasks.map((task) => [unique(bench.name ? `${bench.name} > ${task.name}` : task.name), task]);
    const wanted = tasks.find(([name]) => name === item)?.[1];
    if (wanted) tasks.forEach(([, task]) => { if (task !== wanted) bench.remove(task.name); });
    const settings = settingsOf(bench);
    settings.throws = false;
    const isShort = !wanted || cold;
    settings.time = !isShort && !iterations && seconds ? (seconds * 1e3) / turns.count : 0;
    settings.iterations = wanted ? Math.max(Math.round(iterations / turns.count), 1) : 1;
    if (isShort && !warmup) settings.warmup = false;
    return wanted;
  };
  const told = (task) => {
    const { result } = task;
    const latency = result?.latency ?? result;
    if (result?.error) return { error: result.error };
    if (!(latency?.mean >= 0)) return { error: { message: `it has no time (${result?.state ?? 'it did not run'})` } };
    return { seconds: latency.mean / 1e3, count: latency.samplesCount ?? latency.samples?.length ?? iterations };
  };
  prototype.run = async function () {
    const wanted = prepare(this);
    if (!wanted) return run.call(this);
    if (warmed.has(this) && !cold) await warmup.call(this);
    end('tinybench', await inTurns(async (turn) => {
      if (turn > 0) {
        // It is warm after the first turn. A task that is not reset would not run again.
        if (!warmup) settingsOf(this).warmup = false;
        this.reset();
      }
      await run.call(this);
      return told(wanted);
    }));
  };
  if (runSync) {
    prototype.runSync = function () {
      const wanted = prepare(this);
      const done = runSync.call(this);
      if (wanted) end('tinybench', told(wanted));
      return done;
    };
  }
  Object.defineProperty(prototype, 'assay', { value: true });
  return library;
};

/// Benchmarks of mitata. Its `run` first measures empty functions for seconds, so that it is not asked.
let wrapped;
const mitata = (library) => {
  if (wrapped) return wrapped;
  const { measure, B } = library;
  // Before version 1, benchmarks can't be measured one by one.
  if (!B || !measure) return library;
  const { prototype } = B;
  let trials = [];
  const { name: named } = prototype;
  // Every benchmark is given its name when it is made.
  prototype.name = function (...words) {
    if (!trials.includes(this)) trials.push(this);
    return named.apply(this, words);
  };
  // The arguments of a benchmark's variant; the first argument changes fastest.
  const argumentsOf = (trial, index) => {
    let rest = index;
    return Object.fromEntries(Object.entries(trial._args).map(([key, values]) => {
      const value = values[rest % values.length];
      rest = Math.floor(rest / values.length);
      return [key, value];
    }));
  };
  // Before version 1.0.25 there is no function for them.
  const labels = (trial) => {
    if (trial._names) return [...trial._names()];
    const length = Object.values(trial._args).reduce((product, values) => product * values.length, 1);
    return Array.from({ length }, (_, index) => Object.entries(argumentsOf(trial, index))
      .reduce((label, [key, value]) => label.replace(`$${key}`, value), trial._name));
  };
  const run = async (options = {}) => {
    const own = trials.filter((trial) => options.filter?.test(trial._name) ?? true);
    trials = [];
    for (const trial of own) {
      for (const [index, label] of labels(trial).entries()) {
        if (unique(label) !== item) continue;
        const args = argumentsOf(trial, index);
        const effort = cold
          ? { min_samples: 1, max_samples: 1, warmup_samples: 0 }
          : { min_cpu_time: (Number(seconds) * 1e9) / turns.count };
        const tune = { inner_gc: trial._gc === 'inner', gc: trial._gc ? undefined : false, args, ...effort };
        try {
          // Otherwise the first turns would measure code that is not compiled yet.
          if (!cold) await measure(trial.f, { ...tune, min_cpu_time: 2e8 });
          end('mitata', await inTurns(async () => {
            const { avg, ticks } = await measure(trial.f, tune);
            return { seconds: avg / 1e9, count: ticks };
          }));
        } catch (error) {
          end('mitata', { error });
        }
      }
    }
    return { layout: [], context: {}, benchmarks: [] };
  };
  return wrapped = { ...library, run };
};

const libraries = { tinybench, mitata };
globalThis[Symbol.for('assay')] = libraries;

const load = Module._load;
Module._load = function (request, ...rest) {
  const library = load.call(this, request, ...rest);
  return Object.hasOwn(libraries, request) ? libraries[request](library) : library;
};

// Run by the loader, in a thread of its own.
const hooks = `
  const libraries = ['tinybench', 'mitata'];
  export async function resolve(specifier, context, next) {
    const found = await next(specifier, context);
    if (!libraries.includes(specifier)) return found;
    return { url: 'assay:' + specifier + '?' + encodeURIComponent(found.url), format: 'module', shortCircuit: true };
  }
  export async function load(url, context, next) {
    if (!url.startsWith('assay:')) return next(url, context);
    const [library, real] = url.slice('assay:'.length).split('?');
    const from = JSON.stringify(decodeURIComponent(real));
    const given = 'globalThis[Symbol.for("assay")].' + library + '(library)';
    const own = library === 'mitata' ? 'export const { run } = given;' : '';
    const source = 'import * as library from ' + from + '; export * from ' + from + '; const given = ' + given + ';' + own
      + ' const whole = given.default; export { whole as default };';
    return { format: 'module', source, shortCircuit: true };
  }`;
Module.register?.('data:text/javascript,' + encodeURIComponent(hooks));
