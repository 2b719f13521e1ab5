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

// Blanks, a comment, a string or a part of one, a word, or any other character.
const TOKEN = /\s+|(\/\/[^\n\u2028\u2029]*|\/\*[^]*?\*\/)|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|[\w$\u0080-\uffff]+|[^]/y;
const TEMPLATE = /(?:[^`\\$]|\\[^]|\$(?!\{))*(`|\$\{)/y;
const PATTERN = /\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[\w$]*/y;
// After these, a slash begins a regular expression, and otherwise divides.
const BEFORE_PATTERN = /^(?:[(,=:[!&|?{};+\-*%~^<>]|return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)?$/;

// Returns the text with spaces for every comment that begins a line; the text itself if its tokens are not understood.
const withoutComments = (text) => {
  const templates = []; // Number of open braces within each open template.
  let [result, previous, at] = ['', '', 0];
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at = found ? pattern.lastIndex : at;
    return found;
  };
  while (at < text.length) {
    const from = at;
    if (text[at] === '/' && BEFORE_PATTERN.test(previous) && match(PATTERN)) {
      previous = ')';
      result += text.slice(from, at);
      continue;
    }
    const [token, comment] = match(TOKEN);
    if (token === '"' || token === "'") return text;
    let inTemplate = token === '`';
    if (token === '{' && templates.length) templates[templates.length - 1] += 1;
    if (token === '}' && templates.length && (templates[templates.length - 1] -= 1) < 0) {
      templates.pop();
      inTemplate = true;
    }
    if (inTemplate) {
      const end = match(TEMPLATE);
      if (!end) return text;
      if (end[1] !== '`') templates.push(0);
      previous = end[1] === '`' ? ')' : '{';
    } else if (comment === undefined && token.trim()) previous = token;
    const isAlone = comment !== undefined && !text.slice(text.lastIndexOf('\n', from - 1) + 1, from).trim();
    result += isAlone ? token.replace(/[^\n]/g, ' ') : text.slice(from, at);
  }
  return templates.length ? text : result;
};

const executed = (source, functions) => {
  const text = withoutComments(source);
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
