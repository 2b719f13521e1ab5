"use strict";
// What the pages of a farm do beyond being read: keys, searching, copying a command, following a log that is still written. Texts become text nodes, never
// markup. Nothing is decided here, and nothing is needed to read a page.
(() => {
  const id = (name) => document.getElementById(name);
  const all = (selector) => [...document.querySelectorAll(selector)];
  all(".scripted").forEach((element) => { element.hidden = false; });

  // ---- rows, by keys

  const rows = () => all("[data-row]").filter((row) => !row.hidden);
  let chosen = null;
  const choose = (row) => {
    if (!row) return;
    if (chosen) chosen.classList.remove("chosen");
    chosen = row;
    row.classList.add("chosen");
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  };
  const step = (by) => {
    const list = rows();
    const at = list.indexOf(chosen);
    choose(list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)]);
  };

  // ---- searching: rows of a table, or lines of a log

  const search = id("search");
  const log = id("log");
  const matched = id("matched");
  let hits = [];
  let hit = -1;
  const searchRows = (wanted) => {
    let shown = 0;
    const body = document.querySelector(".searched") || document.querySelector(".matrix tbody");
    const found = body ? [...body.rows] : [];
    for (const row of found) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      if (!row.hidden) shown += 1;
    }
    matched.textContent = wanted === "" ? "" : `${shown} of ${found.length}`;
  };
  const lines = () => [...log.querySelectorAll(".line")];
  const told = () => {
    const all = `${hits.length} ${hits.length === 1 ? "line" : "lines"}`;
    matched.textContent = sought === "" ? "" : hit < 0 ? all : `${hit + 1} of ${all}`;
  };
  let sought = "";
  const look = (line) => {
    const is = sought !== "" && line.textContent.toLowerCase().includes(sought);
    line.classList.toggle("hit", is);
    if (is) hits.push(line);
  };
  const searchLog = (wanted) => {
    hits = [];
    hit = -1;
    sought = wanted;
    for (const line of lines()) {
      line.classList.remove("here");
      look(line);
    }
    told();
    if (hits.length > 0) go(1);
  };
  const go = (by) => {
    if (hits.length === 0) return;
    if (hit >= 0) hits[hit].classList.remove("here");
    hit = (hit + by + hits.length) % hits.length;
    hits[hit].classList.add("here");
    hits[hit].scrollIntoView({ block: "center" });
    told();
  };
  if (search) {
    let waiting = 0;
    search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => (log ? searchLog : searchRows)(search.value.toLowerCase()), 60);
    });
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && log) go(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") search.blur();
    });
  }
  const only = id("only");
  if (only) {
    only.setAttribute("aria-pressed", "false");
    only.addEventListener("click", () => only.setAttribute("aria-pressed", String(log.classList.toggle("only"))));
  }

  // ---- copying

  all("[data-copy]").forEach((button) => button.addEventListener("click", async () => {
    const of = id(button.dataset.copy);
    const say = (text) => {
      button.textContent = text;
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    };
    try {
      await navigator.clipboard.writeText(of.textContent);
      say("Copied");
    } catch {
      // Without the clipboard it is marked, to be copied by hand.
      getSelection().selectAllChildren(of);
      say("Marked");
    }
  }));

  // ---- a log that is still written

  // Sequences that steer a terminal; the page that is loaded at the end has its colors.
  const ESCAPES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -~]?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;
  const MOST_LINES = 20000;
  if (log && log.dataset.follow) {
    const state = id("told");
    const say = (text) => { if (state) state.textContent = text; };
    let rest = "";
    let number = lines().length;
    const append = (text) => {
      const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
      const parts = (rest + text).split("\n");
      rest = parts.pop();
      const made = document.createDocumentFragment();
      for (const part of parts) {
        number += 1;
        const line = document.createElement("span");
        line.className = "line";
        line.id = `L${number}`;
        const returned = part.replace(/\r$/, "");
        line.textContent = returned.slice(returned.lastIndexOf("\r") + 1).replace(ESCAPES, "");
        look(line);
        made.append(line, "\n");
      }
      log.append(made);
      while (log.childNodes.length > 2 * MOST_LINES) log.firstChild.remove();
      told();
      if (isAtEnd) log.scrollTop = log.scrollHeight;
      document.body.dataset.followed = String(number);
    };
    // What is shown already comes again from the beginning.
    const source = new EventSource(log.dataset.follow);
    source.addEventListener("open", () => {
      log.replaceChildren();
      [rest, number, hits, hit] = ["", 0, [], -1];
      say("Follows the log as it is written.");
    });
    source.addEventListener("log", (event) => append(JSON.parse(event.data).text));
    source.addEventListener("end", () => {
      source.close();
      if (rest !== "") append("\n");
      say("It ended.");
      setTimeout(() => location.reload(), 1000);
    });
    source.addEventListener("error", () => say("The connection broke; it is tried again."));
  }

  // ---- keys

  const keys = id("keys");
  const help = () => (keys.open ? keys.close() : keys.showModal());
  const button = id("keys-button");
  if (button) button.addEventListener("click", help);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest("input, select, textarea")) return;
    const does = {
      j: () => step(1),
      k: () => step(-1),
      n: () => go(1),
      N: () => go(-1),
      g: () => scrollTo(0, 0),
      G: () => scrollTo(0, document.body.scrollHeight),
      "/": () => search && search.focus(),
      "?": help,
      Enter: () => {
        const link = event.target === chosen && chosen && chosen.querySelector("a[href]");
        if (link) link.click();
        return Boolean(link);
      },
    }[event.key];
    if (!does || (keys.open && event.key !== "?")) return;
    if (does() !== false) event.preventDefault();
  });
  document.body.dataset.ready = "1";
})();
