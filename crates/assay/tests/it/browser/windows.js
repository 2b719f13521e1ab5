// Shows the page in the template in frames of four widths, and writes what is wrong with it to the body.
const body = document.body.dataset;
Object.assign(body, { overflow: 0, worst: "", cut: "", faint: "" });
const page = document.querySelector("template").content.textContent;
const channel = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const luminance = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
const numbers = (color) => color.match(/[\d.]+/g).map(Number);
const isOpaque = ([, , , alpha]) => alpha === undefined || alpha > 0.99;
function background(element, view) {
  for (let at = element; at; at = at.parentElement) {
    const color = numbers(view.getComputedStyle(at).backgroundColor);
    if (isOpaque(color)) return color;
  }
  return [255, 255, 255];
}
function isFaint(element, view) {
  const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!hasText || element.closest("svg") || !element.getClientRects().length) return false;
  const style = view.getComputedStyle(element);
  const pair = [luminance(numbers(style.color)), luminance(background(element, view))].sort((a, b) => b - a);
  const size = parseFloat(style.fontSize);
  const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  return !style.color.startsWith("color(") && (pair[0] + 0.05) / (pair[1] + 0.05) < (isLarge ? 3 : 4.5);
}
function isCut(element, view) {
  const style = view.getComputedStyle(element);
  const scrolls = element.closest(".flame, .bar, .score, svg");
  return style.overflowX === "hidden" && !scrolls && element.scrollWidth > element.clientWidth + 1;
}
for (const width of [360, 400, 768, 1280]) {
  const frame = document.createElement("iframe");
  frame.style = `border:0;height:800px;width:${width}px`;
  frame.srcdoc = page;
  frame.onload = () => {
    const inside = frame.contentDocument;
    const view = frame.contentWindow;
    const root = inside.documentElement;
    inside.querySelectorAll("details").forEach((folded) => { folded.open = true; });
    body.overflow = Number(body.overflow) + root.scrollWidth - root.clientWidth;
    body.figures = inside.querySelectorAll("figure svg text").length;
    inside.querySelectorAll("main *").forEach((element) => {
      const name = `${width}: ${element.tagName}.${element.className} ${element.textContent.slice(0, 30)}`;
      const isFree = !element.closest(".scroll") && !element.closest("svg") && !element.closest("pre");
      if (isFree && element.getBoundingClientRect().right > root.clientWidth + 0.5) body.worst = name;
      if (isCut(element, view)) body.cut = name;
      if (isFaint(element, view)) body.faint = name;
    });
  };
  document.body.append(frame);
}
