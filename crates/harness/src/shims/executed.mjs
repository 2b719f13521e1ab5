// Notes what a Node.js process executes: for each script, a digest of its text without the functions that were not called, written
// when the process or the thread ends. Loaded ahead of the program by every process and thread of it.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';

const session = new Session();
session.connect();
// In its own thread, the answer comes before `post` returns.
const ask = (method, parameters) => {
  let answer;
  session.post(method, parameters, (_error, result) => { answer = result; });
  return answer;
};

const executed = (text, functions) => {
  const runs = new Uint8Array(text.length).fill(1);
  const ranges = functions.map((own) => own.ranges[0]);
  // Inner functions come after those around them.
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const { startOffset, endOffset, count } of ranges) runs.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  const parts = [];
  for (let from = 0, to = 0; from < text.length; from = to) {
    while (to < text.length && runs[to] === runs[from]) to += 1;
    parts.push(runs[from] ? text.slice(from, to) : ' ');
  }
  // Compilers add a map with all of the source.
  return parts.join('').replace(/^\/\/[#@] source(Mapping)?URL=.*$/gm, '').replace(/\s+/g, ' ').trim();
};

ask('Profiler.enable');
ask('Profiler.startPreciseCoverage', { callCount: false, detailed: false });
process.on('exit', () => {
  const scripts = ask('Profiler.takePreciseCoverage')?.result ?? [];
  ask('Debugger.enable');
  const lines = scripts.filter(({ url }) => url.startsWith('file:') && url !== import.meta.url).map(({ scriptId, url, functions }) => {
    const text = ask('Debugger.getScriptSource', { scriptId })?.scriptSource ?? '';
    return `${createHash('sha1').update(executed(text, functions)).digest('hex')}\t${fileURLToPath(url)}\n`;
  });
  writeFileSync(new URL(`${process.pid}-${threadId}.started`, import.meta.url), lines.sort().join(''));
});
