#!/usr/bin/env node
// Starts the program `assay` of the package for this machine, which npm installed beside this one. Arguments, streams, signals and status
// are the program's own.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { existsSync } = require("node:fs");

const { optionalDependencies: forMachines, version } = require("../package.json");
const wanted = `assay-bench-${process.platform}-${process.arch}`;

function complain(...lines) {
  process.stderr.write(`assay: ${lines.join("\n")}\n`);
  process.exit(2);
}

function program() {
  // Named by hand: for machines that have no package, or a build of one's own.
  if (process.env.ASSAY_BINARY) {
    if (existsSync(process.env.ASSAY_BINARY)) return process.env.ASSAY_BINARY;
    complain(`there is no program ${process.env.ASSAY_BINARY}, which ASSAY_BINARY names`);
  }
  const machines = Object.keys(forMachines);
  if (!machines.includes(wanted)) {
    const known = machines.map((name) => name.replace("assay-bench-", "")).join(", ");
    complain(
      `there is no program for ${process.platform}-${process.arch}: this package has it for ${known}.`,
      "Build it from the sources (Rust and a C compiler), and name it in ASSAY_BINARY.",
    );
  }
  let found;
  try {
    found = require.resolve(`${wanted}/bin/assay`);
  } catch {
    complain(
      `the package ${wanted} is not installed, which has the program for this machine: npm leaves it out with --omit=optional,`,
      "and where a lock file was written on another machine. Install it:",
      `  npm install ${wanted}@${version}`,
    );
  }
  return found;
}

const file = program();
const words = process.argv.slice(2);

// In newer versions of Node this process can become the program.
if (typeof process.execve === "function") {
  try {
    process.execve(file, [file, ...words], process.env);
  } catch (error) {
    complain(`${file}: ${error.message}`);
  }
}

const child = spawn(file, words, { stdio: "inherit" });
child.on("error", (error) => complain(`${file}: ${error.message}`));
// From a terminal both have got an interrupt; from elsewhere only this process has.
const terminal = [0, 1, 2].some((number) => require("node:tty").isatty(number));
for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (!(terminal && (signal === "SIGINT" || signal === "SIGQUIT"))) child.kill(signal);
  });
}
child.on("exit", (status, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exit(signal ? 128 + constants.signals[signal] : status);
});
