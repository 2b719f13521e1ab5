// A reporter of vitest that prints nothing: it has the runner beside it run the files, for which vitest has no option.
//
//   vitest --run --no-file-parallelism --reporter=DIR/assay_mutants_vitest_reporter.mjs

import { fileURLToPath } from "node:url";

export default class {
  onInit(vitest) {
    const runner = fileURLToPath(new URL("./assay_mutants_vitest.mjs", import.meta.url));
    for (const { config } of [vitest, ...(vitest.projects ?? [])]) if (config) config.runner = runner;
  }
}
