"use strict";
// Draws the flame graph anew for what is zoomed into, and marks what is searched for. Without it the still picture remains.
(() => {
  const { names, nodes, unit } = JSON.parse(document.getElementById("data").textContent);
  const flame = document.getElementById("flame");
  const told = document.getElementById("told");
  const matched = document.getElementById("matched");
  const search = document.getElementById("search");
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
  children.forEach((list) => list.sort((a, b) => (names[nodes[a][0]] < names[nodes[b][0]] ? -1 : 1)));
  const total = nodes[0][2];
  let zoomed = 0;
  let wanted = null;

  const amount = (value) => {
    if (unit === "s") {
      return value >= 1 ? value.toFixed(2) + " s" : (value * 1e3).toFixed(value >= 0.01 ? 1 : 3) + " ms";
    }
    return Math.round(value).toLocaleString("en") + (unit === "B" ? " B" : " samples");
  };
  const percent = (value) => (total > 0 ? (100 * value) / total : 0).toFixed(1) + " %";
  const colour = (index) => {
    if (nodes[index][3]) return "#7fb2e5";
    if (nodes[index][1] < 0) return "#d5d8dc";
    let hash = 0x811c9dc5;
    for (const c of new TextEncoder().encode(names[nodes[index][0]])) hash = Math.imul(hash ^ c, 0x01000193) >>> 0;
    return `hsl(${12 + (hash % 44)},${78 + ((hash >>> 8) % 18)}%,${64 + ((hash >>> 16) % 12)}%)`;
  };
  const describe = (index) => `${names[nodes[index][0]]}: ${amount(nodes[index][2])} (${percent(nodes[index][2])})`;

  function draw() {
    const width = flame.clientWidth;
    const boxes = [];
    // What was called from where we are, each as wide as its share of what is zoomed into; all that is below takes the whole width.
    for (let at = nodes[zoomed][1]; at >= 0; at = nodes[at][1]) boxes.push([at, 0, width, true]);
    const scale = nodes[zoomed][2] > 0 ? width / nodes[zoomed][2] : 0;
    const open = [[zoomed, 0]];
    while (open.length > 0) {
      const [index, x] = open.pop();
      const wide = nodes[index][2] * scale;
      if (wide < NARROWEST) continue;
      boxes.push([index, x, wide, false]);
      let left = x;
      for (const child of children[index]) {
        open.push([child, left]);
        left += nodes[child][2] * scale;
      }
    }
    // The root stands on top: of a deep profile one would not find it at the bottom.
    const deepest = boxes.reduce((most, [index]) => Math.max(most, depth[index]), 0);
    const made = boxes.map(([index, x, wide, above]) => {
      const box = document.createElement("button");
      box.type = "button";
      box.textContent = wide > 24 ? names[nodes[index][0]] : "";
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
    flame.style.height = (deepest + 1) * ROW + "px";
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
      nodes.forEach(([name, parent, value], index) => {
        const under = parent >= 0 && inside[parent];
        const own = wanted(names[name]);
        if (own && !under) sum += value;
        inside[index] = under || own;
      });
      matched.textContent = `matched: ${percent(sum)} of the whole profile`;
    }
    draw();
  }

  flame.classList.remove("still");
  document.querySelector(".tools").hidden = false;
  search.addEventListener("input", find);
  document.getElementById("reset").addEventListener("click", () => { zoomed = 0; draw(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { zoomed = 0; draw(); }
  });
  addEventListener("resize", draw);
  draw();
})();
