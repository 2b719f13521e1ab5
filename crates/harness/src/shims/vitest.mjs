// Reporter for `vitest bench`, in all its versions. Writes the results in assay's own format to the file in ASSAY_JS_ANSWER, or no file
// if nothing was measured.
//
// No option of vitest does this in all versions: `--outputJson` ended with version 4, and `--reporter=json` began with version 5.

import fs from 'node:fs';

export default class {
  #files;

  /// Until version 3.
  onFinished(files) { this.#files ??= files; this.#write(); }

  /// Since version 3.
  onTestRunEnd(modules) { this.#files ??= modules.map((module) => module.task); this.#write(); }

  #write() {
    const lines = [], names = new Set();
    const add = (words, { latency, error }) => {
      const text = words.join(' > ');
      let name = text;
      for (let number = 2; names.has(name); number++) name = `${text} #${number}`;
      const index = names.size;
      names.add(name);
      lines.push({ kind: 'row', name }, { kind: 'subject', side: 0, row: index, name });
      if (error || !(latency?.mean >= 0)) {
        const message = error?.message ?? 'it has no time';
        lines.push({ kind: 'finding', code: 'BENCHMARK_FAILED', severity: 'serious', message, subject: name });
      } else {
        const count = latency.samplesCount ?? latency.sampleCount;
        lines.push({ kind: 'obs', subject: index, values: { wall: latency.mean / 1e3, iterations: count } });
      }
    };
    const visit = (task, outer) => {
      const words = [...outer, task.name];
      // Before version 5, a benchmark is a task; since then, a test has any number of them, which may include earlier results.
      const { benchmark, errors } = task.result ?? {};
      for (const inner of task.tasks ?? []) visit(inner, words);
      if (task.type === 'suite') {
        // A file that can't be loaded, or a hook that failed. Until version 3, suites have a `benchmark`, too, which is no result.
        if (errors?.length) add(words, { error: errors[0] });
        return;
      }
      if (benchmark) add(words, { latency: benchmark.latency ?? benchmark, error: errors?.[0] });
      for (const own of task.benchmarks ?? []) {
        for (const measured of own.tasks.filter(({ fromStore }) => !fromStore)) add([outer[0], own.name, measured.name], measured);
      }
      if (!benchmark && errors?.length) add(words, { error: errors[0] });
    };
    this.#files.forEach((file) => visit(file, []));
    if (!lines.length) return;
    lines.unshift(
      { assay: 1, kind: 'run', tool: 'vitest' },
      { kind: 'side', name: '' },
      { kind: 'metric', name: 'wall', unit: 's' },
      { kind: 'metric', name: 'iterations', unit: '1', better: 'higher' },
    );
    fs.writeFileSync(process.env.ASSAY_JS_ANSWER, lines.map((line) => JSON.stringify(line) + '\n').join(''));
    // The file says which benchmarks failed; the others were measured.
    process.on('exit', () => { process.exitCode = 0; });
  }
}
