"use strict";
// Draws the flame graph anew for what is zoomed into, and marks what is searched for. Without it the still picture remains. Of two profiles
// there are verdicts (marks), which give the colors, and the widths can be those of either; of tests kinds give them, and the order stays.
document.querySelectorAll(".boxes").forEach((graph) => {
  const part = (name) => graph.querySelector("." + name);
  const { names, nodes, unit, marks, plain, sides, kinds, whole } = JSON.parse(part("data").textContent);
  const flame = part("flame");
  const told = part("told");
  const matched = part("matched");
  const search = part("search");
  const ROW = 18;
  const NARROWEST = 1.5;
  const children = nodes.map(() => []);
  const depth = nodes.map(() => 0);
  nodes.forEach(([, parent], index) => {
    if (parent >= 0) {
      children[parent].push(index);
      depth[index] = depth[parent] + 1;
    }
  });
  if (!kinds) children.forEach((list) => list.sort((a, b) => (names[nodes[a][0]] < names[nodes[b][0]] ? -1 : 1)));
  // Where the amounts stand that are drawn: those of the second profile, or of the first.
  const NEW = 2;
  const OLD = 4;
  let drawn = NEW;
  const value = (index) => nodes[index][drawn];
  let zoomed = 0;
  let wanted = null;

  const amount = (value) => {
    if (unit === "s") {
      return value >= 1 ? value.toFixed(2) + " s" : (value * 1e3).toFixed(value >= 0.01 ? 1 : 3) + " ms";
    }
    return Math.round(value).toLocaleString("en") + (unit === "B" ? " B" : " samples");
  };
  const percent = (value, column = drawn) => (nodes[0][column] > 0 ? (100 * value) / nodes[0][column] : 0).toFixed(1) + " %";
  const markOf = (index) => (marks && nodes[index][1] >= 0 ? marks[nodes[index][5]] : undefined);
  const colour = (index) => {
    if (marks) return nodes[index][1] < 0 ? plain[0] : (markOf(index) || [plain[1]])[0];
    if (kinds) return kinds[nodes[index][3]][0];
    if (nodes[index][3]) return "#7fb2e5";
    if (nodes[index][1] < 0) return "#d5d8dc";
    let hash = 0x811c9dc5;
    for (const c of new TextEncoder().encode(names[nodes[index][0]])) hash = Math.imul(hash ^ c, 0x01000193) >>> 0;
    return `hsl(${12 + (hash % 44)},${78 + ((hash >>> 8) % 18)}%,${64 + ((hash >>> 16) % 12)}%)`;
  };
  const label = (index) => {
    const mark = markOf(index);
    return names[nodes[index][0]] + (mark && mark[2] ? " " + mark[2] : "");
  };
  const describe = (index) => {
    const name = names[nodes[index][0]];
    const kind = kinds && kinds[nodes[index][3]][1] ? ", " + kinds[nodes[index][3]][1] : "";
    if (!marks) return `${name}: ${amount(value(index))} (${percent(value(index))})${kind}`;
    if (nodes[index][1] < 0) return `${name}: ${sides[drawn === NEW ? 1 : 0]}`;
    const both = `${percent(nodes[index][OLD], OLD)} → ${percent(nodes[index][NEW], NEW)}`;
    const mark = markOf(index);
    return `${name}: ${both} of all, called from here. ${mark ? mark[1] : "Too little time of its own to be tested"}`;
  };

  function draw() {
    const width = flame.clientWidth;
    const boxes = [];
    // What was called from where we are, each as wide as its share of what is zoomed into; all that is below takes the whole width.
    for (let at = nodes[zoomed][1]; at >= 0; at = nodes[at][1]) boxes.push([at, 0, width, true]);
    const scale = value(zoomed) > 0 ? width / value(zoomed) : 0;
    const open = [[zoomed, 0]];
    while (open.length > 0) {
      const [index, x] = open.pop();
      const wide = value(index) * scale;
      if (wide < NARROWEST) continue;
      boxes.push([index, x, wide, false]);
      let left = x;
      for (const child of children[index]) {
        open.push([child, left]);
        left += value(child) * scale;
      }
    }
    // The root stands on top: of a deep profile one would not find it at the bottom.
    const deepest = boxes.reduce((most, [index]) => Math.max(most, depth[index]), 0);
    const made = boxes.map(([index, x, wide, above]) => {
      const box = document.createElement("button");
      box.type = "button";
      box.textContent = wide > 24 ? label(index) : "";
      box.title = describe(index);
      box.style.cssText = `left:${x}px;width:${Math.max(wide - 1, 1)}px;top:${depth[index] * ROW}px;background:${colour(index)}` + (wide > 24 ? "" : ";padding:0");
      if (above) box.classList.add("above");
      if (wanted && wanted(names[nodes[index][0]])) box.classList.add("found");
      box.addEventListener("click", () => { zoomed = index; draw(); });
      box.addEventListener("mouseenter", () => { told.textContent = describe(index); });
      box.addEventListener("focus", () => { told.textContent = describe(index); });
      return box;
    });
    flame.replaceChildren(...made);
    // The frame around it is part of the height.
    flame.style.height = (deepest + 1) * ROW + 2 + "px";
  }

  function find() {
    const text = search.value;
    if (text === "") {
      wanted = null;
      matched.textContent = "";
    } else {
      let pattern = null;
      try { pattern = new RegExp(text, "i"); } catch { /* A pattern half typed is looked for as it stands. */ }
      wanted = pattern ? (name) => pattern.test(name) : (name) => name.toLowerCase().includes(text.toLowerCase());
      // A match below another match is in it already.
      let sum = 0;
      const inside = nodes.map(() => false);
      nodes.forEach(([name, parent], index) => {
        const under = parent >= 0 && inside[parent];
        const own = wanted(names[name]);
        if (own && !under) sum += value(index);
        inside[index] = under || own;
      });
      matched.textContent = `matched: ${percent(sum)} of ${whole || "the whole profile"}`;
    }
    draw();
  }

  flame.classList.remove("still");
  part("tools").hidden = false;
  search.addEventListener("input", find);
  part("reset").addEventListener("click", () => { zoomed = 0; draw(); });
  const widths = part("widths");
  if (widths) {
    widths.addEventListener("click", () => {
      // What is zoomed into may not be there on the other side.
      drawn = drawn === NEW ? OLD : NEW;
      zoomed = 0;
      widths.textContent = "Widths of " + sides[drawn === NEW ? 0 : 1];
      find();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { zoomed = 0; draw(); }
  });
  addEventListener("resize", draw);
  draw();
});
