// A reporter for vitest that prints nothing. It makes vitest use the runner in the same directory,
// for which vitest has no option.
//
//   vitest --run --no-file-parallelism --reporter=DIR/assay_mutants_vitest_reporter.mjs

import { fileURLToPath } from "node:url";

export default class {
  onInit(vitest) {
    const runner = fileURLToPath(new URL("./assay_mutants_vitest.mjs", import.meta.url));
    for (const { config } of [vitest, ...(vitest.projects ?? [])]) if (config) config.runner = runner;
  }
}
