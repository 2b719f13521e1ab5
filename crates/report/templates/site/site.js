"use strict";
// What the pages of a history show beyond their text: series that can be zoomed, and two runs side by side. Data come as scripts, each of which
// calls a function of `assay`. Texts from them become text nodes, never markup. Nothing is decided here: a ratio with its interval
// is all that is computed, in `ratio`.
(() => {
  const page = document.body.dataset;
  const make = (name, text = "", kind = "") => {
    const made = document.createElement(name);
    if (text !== "") made.textContent = text;
    if (kind !== "") made.className = kind;
    return made;
  };
  const id = (name) => document.getElementById(name);
  const say = (text) => { (id("told") || id("about")).textContent = text; };

  // ---- data

  let runs = null;
  let listed = null;
  const lines = new Map();
  const results = new Map();
  let file = 0;
  // Note: data and page carry the same stamp of the store, so that pages and data of different
  // times are never mixed.
  const fresh = (stamp) => {
    if (stamp === page.stamp) return true;
    say("These pages were made anew meanwhile: reload this one.");
    return false;
  };
  const real = (whole, exponent) => (exponent < 0 ? whole / 10 ** -exponent : whole * 10 ** exponent);
  const numbers = (ranges) => {
    const all = [];
    for (let i = 0; i < ranges.length; i += 2) for (let n = 0; n < ranges[i + 1]; n += 1) all.push(ranges[i] + n);
    return all;
  };
  const NO_VALUE = -2;
  const values = (exponent, centres, below, above) => {
    let sum = 0;
    const whole = centres.map((step) => (sum += step));
    const known = below.length > 0;
    return {
      centre: whole.map((w, i) => (known && below[i] === NO_VALUE ? null : real(w, exponent))),
      lower: whole.map((w, i) => (known && below[i] >= 0 ? real(w - below[i], exponent) : null)),
      upper: whole.map((w, i) => (known && above[i] >= 0 ? real(w + above[i], exponent) : null)),
    };
  };
  globalThis.assay = {
    runs(given) { if (fresh(given.stamp)) runs = given; },
    benchmarks(given) { if (fresh(given.stamp)) listed = given; },
    series(key, about, exponent, at, centres, below, above) {
      if (fresh(about.stamp)) lines.set(key, { ...about, at: numbers(at), ...values(exponent, centres, below, above) });
    },
    file(number, stamp) { file = fresh(stamp) ? number : -1; },
    part(benchmark, metric, exponent, at, centres, below, above) {
      if (file < 0) return;
      const all = values(exponent, centres, below, above);
      numbers(at).forEach((place, i) => {
        const run = file * runs.together + place;
        if (!results.has(run)) results.set(run, new Map());
        results.get(run).set(metric * listed.label.length + benchmark, [all.centre[i], all.lower[i], all.upper[i]]);
      });
    },
  };
  const asked = new Map();
  const load = (name) => {
    if (!asked.has(name)) {
      asked.set(name, new Promise((done, failed) => {
        const script = make("script");
        script.src = `${page.up}data/${name}.js`;
        script.onload = done;
        script.onerror = () => failed(new Error(`${name} is missing`));
        document.head.append(script);
      }));
    }
    return asked.get(name);
  };

  // ---- words

  const SCALES = {
    s: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]],
    B: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
    "1": [[1, ""]],
    "1/s": [[1e9, "G/s"], [1e6, "M/s"], [1e3, "k/s"], [1, "/s"]],
  };
  const scale = (unit, size) => {
    const all = SCALES[unit] || [[1, unit]];
    return all.find(([factor]) => Math.abs(size) >= factor) || all[all.length - 1];
  };
  const digits = (value, wanted = 4) => {
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e15 || size < 1e-6)) return value.toPrecision(wanted);
    const decimals = Number.isInteger(value) && size >= 1000 ? 0 : Math.max(0, wanted - 1 - Math.floor(Math.log10(size || 1)));
    return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals, useGrouping: size >= 10000 });
  };
  const inUnit = (value, unit, [factor, symbol] = scale(unit, value), wanted = 4) =>
    value === null || value === undefined ? "" : `${digits(value / factor, wanted)} ${symbol}`.trim();
  const tick = (value, step, [factor, symbol]) => {
    // Steps of bytes have many decimals in KiB: no more than tell adjacent ticks apart.
    const most = Math.max(0, 1 + Math.ceil(-Math.log10(step / factor)));
    let decimals = 0;
    while (decimals < Math.min(9, most) && Math.abs(((step / factor) * 10 ** decimals) % 1) > 1e-6 && Math.abs(((step / factor) * 10 ** decimals) % 1) < 1 - 1e-6) decimals += 1;
    return `${(value / factor).toFixed(decimals)} ${symbol}`.trim();
  };
  const ends = (lower, upper, [factor, symbol]) => (lower === null ? "" : `${digits(lower / factor)} … ${digits(upper / factor)} ${symbol}`.trim());
  const percent = (ratio) => {
    const change = 100 * (ratio - 1);
    return `${change < 0 ? "-" : "+"}${digits(Math.abs(change), Math.abs(change) < 1 ? 2 : 3)} %`;
  };
  const minute = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
  const isCommit = (name) => /^[0-9a-f]{40,}$/i.test(name);
  const short = (name) => (isCommit(name) ? name.slice(0, 10) : name);
  const revision = (run) => (runs.of[run] === null ? "-" : short(runs.commit[runs.of[run]]) + (changed.has(run) ? "+" : ""));
  let changed = new Set();
  const link = (run) => runs.link[run] || runs.run[run];
  const compared = (before, run) => `${page.up}compare.html#${before === undefined ? "" : `a=${link(before)}&`}b=${link(run)}`;

  // ---- a series

  let plot = null;
  let drawn = null;
  let printing = false;

  function colours() {
    const chart = id("chart");
    const of = (name) => getComputedStyle(chart).getPropertyValue(`--${name}`).trim();
    // Ink for paper, whatever the screen is.
    return printing
      ? { text: "#000", quiet: "#444", grid: "#ddd", line: "#0072b2", level: "#000", good: "#00513b", bad: "#8a3200" }
      : { text: of("text"), quiet: of("quiet"), grid: of("grid"), line: of("s0"), level: of("s1"), good: of("good"), bad: of("bad") };
  }

  function draw(range) {
    const chart = id("chart");
    const s = drawn;
    const ink = colours();
    if (plot) plot.destroy();
    const x = s.at.map((_, i) => i);
    const level = s.at.map(() => null);
    for (const [from, to, median] of s.parts) for (let i = from; i < to; i += 1) level[i] = median;
    const largest = s.centre.reduce((most, v) => Math.max(most, Math.abs(v || 0)), 0);
    const unit = scale(s.unit, largest);
    const zones = (u) => {
      const { ctx, bbox } = u;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      // From the run that is surely before a change to the one that is surely after it.
      for (const [, earliest, latest, , better] of s.changes) {
        ctx.fillStyle = (better ? ink.good : ink.bad) + "2e";
        const [left, right] = [earliest - 1, latest].map((at) => u.valToPos(at, "x", true));
        const most = Math.max(right - left, 2 * devicePixelRatio);
        ctx.fillRect((left + right - most) / 2, bbox.top, most, bbox.height);
      }
      ctx.restore();
    };
    const many = s.at.length > 400;
    const axis = { stroke: ink.quiet, grid: { stroke: ink.grid, width: 1 }, ticks: { stroke: ink.grid }, font: "12px system-ui, sans-serif" };
    // Steps that are round in KiB and MiB.
    const bytes = s.unit === "B" ? { incrs: Array.from({ length: 60 }, (_, i) => 2 ** i) } : {};
    const width = () => Math.max(240, chart.clientWidth);
    plot = new uPlot({
      width: width(),
      height: 320,
      legend: { show: false },
      padding: [null, 36, null, null],
      scales: { x: { time: false, range: (u, low, high) => [Math.max(low, -0.5), Math.min(high, s.at.length - 0.5)] } },
      cursor: { drag: { x: true, y: false }, points: { size: 8 } },
      series: [
        {},
        { stroke: "transparent", width: 0, points: { show: false } },
        { stroke: "transparent", width: 0, points: { show: false } },
        { stroke: ink.line, width: many ? 0.7 : 1, points: { show: !many, size: 4, fill: ink.line } },
        { stroke: ink.level, width: 2, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) },
      ],
      bands: [{ series: [2, 1], fill: ink.line + "30" }],
      axes: [
        { ...axis, space: 96, values: (u, at) => at.map((i) => (Number.isInteger(i) && s.at[i] !== undefined ? revision(s.at[i]).slice(0, 10) : "")) },
        { ...axis, ...bytes, size: 74, values: (u, at, axis, space, step) => at.map((v) => tick(v, step, unit)) },
      ],
      hooks: {
        drawClear: [zones],
        setCursor: [(u) => point(u.cursor.idx)],
        setScale: [(u, key) => { if (key === "x") later(() => table(u.scales.x.min, u.scales.x.max)); }],
      },
    }, [x, s.lower, s.upper, s.centre, level], chart);
    if (range) plot.setScale("x", range);
    let down = 0;
    plot.over.addEventListener("pointerdown", (event) => { down = event.clientX; });
    plot.over.addEventListener("click", (event) => {
      const at = plot.cursor.idx;
      if (Math.abs(event.clientX - down) < 4 && at !== null && at !== undefined) location.href = compared(s.at[at - 1], s.at[at]);
    });
    document.body.dataset.drawn = String(s.at.length);
  }

  function point(at) {
    if (at === null || at === undefined) return;
    const s = drawn;
    const run = s.at[at];
    const unit = scale(s.unit, s.centre[at]);
    const interval = ends(s.lower[at], s.upper[at], unit);
    const change = s.changes.find(([, earliest, latest]) => at >= earliest && at <= latest);
    say(`${revision(run)}, ${minute(runs.started[run])}: ${inUnit(s.centre[at], s.unit, unit)}${interval ? ` [${interval}]` : ""}` +
      (change ? ` · ${change[5] || change[3]}` : ""));
  }

  let waiting = 0;
  const later = (f) => { clearTimeout(waiting); waiting = setTimeout(f, 120); };
  const MOST_ROWS = 200;

  function row(cells, head) {
    const made = make("tr");
    cells.forEach((cell, i) => {
      const box = make(i === 0 ? "th" : "td", i === 0 && head ? "" : cell[0] ?? cell, cell[1] || "");
      if (i === 0) box.scope = "row";
      if (i === 0 && head) {
        const anchor = make("a", cell);
        anchor.href = head;
        box.append(anchor);
      }
      made.append(box);
    });
    return made;
  }

  /// Fills a table. If no row has a value in the column `optional`, it is left out.
  function fill(body, rows, optional) {
    const has = rows.some(([cells]) => cells[optional][0]);
    body.closest("table").tHead.rows[0].cells[optional].hidden = !has;
    body.replaceChildren(...rows.map(([cells, link]) => row(cells.filter((_, i) => has || i !== optional), link)));
  }

  /// The runs that the plot shows.
  function table(low, high) {
    const s = drawn;
    const body = id("runs");
    if (!body) return;
    const first = Math.max(0, Math.ceil(low));
    const last = Math.min(s.at.length - 1, Math.floor(high));
    const from = Math.max(first, last - MOST_ROWS + 1);
    const rows = [];
    for (let i = last; i >= from; i -= 1) {
      const unit = scale(s.unit, s.centre[i]);
      const cells = [revision(s.at[i]), [minute(runs.started[s.at[i]])], [inUnit(s.centre[i], s.unit, unit)], [ends(s.lower[i], s.upper[i], unit)]];
      rows.push([cells, compared(s.at[i - 1], s.at[i])]);
    }
    fill(body, rows, 3);
    id("shown").textContent = `${rows.length} of the ${last - first + 1} runs in the plot, the latest first. Each interval is about its run alone (95 %); runs differ by more.`;
  }

  function levels() {
    const s = drawn;
    if (!id("levels")) return;
    id("levels").replaceChildren(...s.parts.map(([from, to, median], i) => {
      const change = i > 0 ? s.changes[i - 1] : null;
      const cells = [revision(s.at[from]), [minute(runs.started[s.at[from]])], [String(to - from)], [inUnit(median, s.unit)],
        change ? [change[3], change[4] ? "good" : "bad"] : [""]];
      return row(cells, compared(s.at[from - 1], s.at[from]));
    }));
    id("changes").replaceChildren(...s.changes.filter((change) => change[5]).reverse().map((change) => {
      const item = make("li");
      item.append(make("span", change[5], change[4] ? "good" : "bad"));
      if (change[6]) {
        const next = make("span", "Next: ", "quiet");
        next.append(make("code", change[6]));
        item.append(make("br"), next);
      }
      return item;
    }));
    id("claim").textContent = s.said;
    id("about").textContent = `${s.at.length} ${s.at.length === 1 ? "run" : "runs"}: ${s.title}`;
  }

  async function series() {
    const keys = JSON.parse(page.series);
    if (keys.length === 0) return;
    const which = id("which");
    keys.forEach(([key, title]) => which.append(new Option(title, key)));
    const show = async (isFirst) => {
      await load("runs");
      await load(page.page === "machines" ? "machines" : which.value);
      if (!runs || !lines.has(which.value)) return;
      changed = new Set(runs.changed);
      drawn = lines.get(which.value);
      id("picture").hidden = false;
      draw();
      if (!isFirst) levels();
    };
    which.addEventListener("change", () => show(false));
    document.querySelectorAll("[data-last]").forEach((button) => button.addEventListener("click", () => {
      const all = drawn.at.length;
      const last = Number(button.dataset.last) || all;
      plot.setScale("x", { min: Math.max(-0.5, all - last - 0.5), max: all - 0.5 });
    }));
    const again = () => { if (plot) draw({ min: plot.scales.x.min, max: plot.scales.x.max }); };
    addEventListener("resize", () => later(again));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    addEventListener("beforeprint", () => { printing = true; again(); });
    addEventListener("afterprint", () => { printing = false; again(); });
    await show(true);
  }

  // ---- two runs

  /// The ratio of two medians with the interval that their intervals give it (MOVER on logarithms, Zou and Donner 2008).
  function ratio([a, aLow, aHigh], [b, bLow, bHigh]) {
    if (!(a > 0 && b > 0)) return null;
    const known = aLow > 0 && bLow > 0;
    const half = (x, y) => Math.exp(Math.hypot(Math.log(x), Math.log(y)));
    return { of: b / a, interval: known ? [b / a / half(b / bLow, aHigh / a), (b / a) * half(bHigh / b, a / aLow)] : null };
  }

  async function compare() {
    await load("runs");
    await load("benchmarks");
    if (!runs || !listed) return;
    changed = new Set(runs.changed);
    const [a, b, metric] = ["a", "b", "metric"].map(id);
    const byLink = new Map(runs.run.map((_, run) => [decodeURIComponent(link(run)), run]));
    const several = runs.machines.length > 1;
    const name = (run) => `${revision(run)} · ${minute(runs.started[run])}${several ? ` · ${runs.machines[runs.on[run]]}` : ""}`;
    const newest = [...runs.order].reverse();
    for (const select of [a, b]) select.append(...newest.map((run) => new Option(name(run), String(run))));
    const before = (run) => newest.slice(newest.indexOf(run) + 1).find((other) => runs.on[other] === runs.on[run]);
    const fromLink = () => {
      const given = new URLSearchParams(location.hash.slice(1));
      const to = byLink.get(given.get("b")) ?? newest[0];
      const from = byLink.get(given.get("a")) ?? before(to) ?? to;
      [a.value, b.value] = [from, to];
    };
    const show = async () => {
      const [from, to] = [Number(a.value), Number(b.value)];
      await Promise.all([from, to].map((run) => load(`runs-${Math.floor(run / runs.together)}`)));
      const [old, young] = [from, to].map((run) => results.get(run) || new Map());
      const all = listed.label.length;
      const present = [...new Set([...old.keys(), ...young.keys()].map((key) => Math.floor(key / all)))].sort((x, y) => x - y);
      const kept = present.includes(Number(metric.value)) && metric.value !== "" ? metric.value : String(present.includes(listed.primary) ? listed.primary : present[0]);
      metric.replaceChildren(...present.map((m) => new Option(listed.metrics[m][0], String(m))));
      if (present.length > 0) metric.value = kept;
      rows(old, young, Number(kept), from, to);
    };
    const rows = (old, young, of, from, to) => {
      const [, unit] = listed.metrics[of] || ["", "1"];
      const all = listed.label.length;
      const found = listed.label.map((label, i) => {
        const [x, y] = [old.get(of * all + i), young.get(of * all + i)];
        return { i, label, x, y, r: x && y ? ratio(x, y) : null };
      }).filter(({ x, y }) => x || y);
      found.sort((p, q) => Math.abs(Math.log(q.r ? q.r.of : 1)) - Math.abs(Math.log(p.r ? p.r.of : 1)));
      const body = found.map(({ i, label, x, y, r }) => {
        const size = scale(unit, (x || y)[0]);
        const ends = r && r.interval;
        const spread = listed.spread[i];
        return [[label, [x ? inUnit(x[0], unit, size) : "–", "minor"], [y ? inUnit(y[0], unit, size) : "–"], [r ? percent(r.of) : ""],
          [ends ? `${percent(ends[0])} … ${percent(ends[1])}` : ""], [spread === null || of !== listed.primary ? "" : `± ${digits(100 * spread, 2)} %`, "minor"]],
          `benchmarks/${listed.file[i]}.html`];
      });
      fill(id("rows"), body, 4);
      const both = found.filter(({ r }) => r).length;
      id("claim").textContent = `${revision(to)} beside ${revision(from)}: ${both} ${both === 1 ? "benchmark" : "benchmarks"} in both`;
      const apart = runs.on[from] !== runs.on[to] ? " They ran on different machines: times can't be compared." : "";
      const commits = [from, to].map((run) => (runs.of[run] === null ? null : runs.commit[runs.of[run]]));
      id("about").textContent = `${minute(runs.started[from])}, ${runs.machines[runs.on[from]]} → ${minute(runs.started[to])}, ${runs.machines[runs.on[to]]}.` + apart +
        (commits.every((c) => c && isCommit(c)) && commits[0] !== commits[1] ? ` git log ${short(commits[0])}..${short(commits[1])}` : "");
      document.body.dataset.drawn = String(both);
    };
    fromLink();
    const choose = () => {
      history.replaceState(null, "", `#a=${link(Number(a.value))}&b=${link(Number(b.value))}`);
      show();
    };
    a.addEventListener("change", choose);
    b.addEventListener("change", choose);
    metric.addEventListener("change", show);
    addEventListener("hashchange", () => { fromLink(); show(); });
    await show();
  }

  // ---- all benchmarks

  function overview() {
    const body = id("benchmarks");
    const all = [...body.rows];
    const search = id("search");
    search.addEventListener("input", () => {
      const wanted = search.value.toLowerCase();
      let shown = 0;
      for (const one of all) {
        one.hidden = !one.cells[0].textContent.toLowerCase().includes(wanted);
        shown += one.hidden ? 0 : 1;
      }
      id("matched").textContent = wanted === "" ? "" : `${shown} of ${all.length}`;
    });
    id("order").addEventListener("change", (event) => {
      const by = event.target.value;
      body.append(...(by === "name" ? all : [...all].sort((a, b) => Number(b.dataset[by]) - Number(a.dataset[by]))));
    });
  }

  document.querySelectorAll(".tools.scripted").forEach((tools) => { tools.hidden = false; });
  const start = { benchmark: series, machines: series, compare, overview }[page.page];
  Promise.resolve(start()).catch((error) => say(`Not everything can be shown: ${error.message}`));
})();
