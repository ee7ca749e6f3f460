// Small plots in SVG: points, lines and steps between two axes; bars; trees.

import { el, number, svg } from "./dom.js";

const HIGH = 300;
const [LEFT, RIGHT, TOP, BOTTOM] = [72, 14, 12, 44];

function linearTicks(low, high, most) {
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw) ?? raw;
  const ticks = [];
  for (let place = Math.ceil(low / step); place * step <= high * (1 + 1e-12) && ticks.length < 50; place += 1) {
    ticks.push(place * step);
  }
  return ticks;
}

function logTicks(low, high, most) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const every = Math.max(1, Math.ceil((last - first + 1) / most));
  const ticks = [];
  for (let power = first; power <= last; power += every) ticks.push(10 ** power);
  return ticks.length > 1 ? ticks : linearTicks(low, high, most).filter((tick) => tick > 0);
}

// The scale of an axis: a function from values to places, and its ticks.
function scale(values, from, to, isLog, most) {
  const known = values.filter((value) => Number.isFinite(value) && (!isLog || value > 0));
  let low = known.reduce((least, value) => Math.min(least, value), Infinity);
  let high = known.reduce((largest, value) => Math.max(largest, value), -Infinity);
  if (!known.length) [low, high] = isLog ? [0.1, 1] : [0, 1];
  if (isLog) {
    const room = Math.max(0.06 * Math.log10(high / low), 0.15);
    [low, high] = [low / 10 ** room, high * 10 ** room];
    const share = (value) => Math.log10(Math.max(value, low) / low) / Math.log10(high / low);
    return { at: (value) => from + (to - from) * share(value), ticks: logTicks(low, high, most) };
  }
  const unit = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const room = 0.05 * (high / unit - low / unit) * unit || 0.5 * unit;
  [low, high] = [low - room, high + room];
  const at = (value) => from + (to - from) * ((value / unit - low / unit) / (high / unit - low / unit));
  return { at, ticks: linearTicks(low, high, most) };
}

// Whether positive values span so much that equal steps would hide most of them.
export function isWide(values) {
  const known = values.filter(Number.isFinite).sort((one, other) => one - other);
  const at = (share) => known[Math.floor(share * (known.length - 1))];
  return known.length > 2 && known[0] > 0 && at(0.9) > 30 * at(0.1);
}

// Layers are {kind: points | line | steps, x, y, colour, size}; a point may have a label and be chosen by `pick`, and
// points an error each, `spread`. The layer {kind: band, x, low, high} does not widen the axes, nor does
// {kind: beyond, from, to}, which marks what is outside the data.
export function plot(holder, { label, x, y, layers, pick, chosen }) {
  const isShown = (layer) => (layer.x ?? []).some((value, place) => Number.isFinite(value) && Number.isFinite(layer.y?.[place]));
  if (!layers.some(isShown)) {
    holder.replaceChildren(el("p", { class: "note" }, "Nothing is known yet."));
    return;
  }
  const wide = Math.max(260, holder.clientWidth || 520);
  const all = (axis) => layers.flatMap((layer) => (layer.kind === "band" ? [] : layer[axis] ?? []));
  const across = scale(all("x"), LEFT, wide - RIGHT, x.isLog, Math.max(3, Math.floor(wide / 90)));
  const up = scale(all("y"), HIGH - BOTTOM, TOP, y.isLog, 6);
  const parts = [];
  const box = { left: LEFT, right: wide - RIGHT, top: TOP, bottom: HIGH - BOTTOM };
  for (const layer of layers) if (layer.kind === "beyond") parts.push(...beyond(layer, across, box));
  for (const tick of up.ticks) {
    parts.push(svg("line", { class: "grid", x1: LEFT, x2: wide - RIGHT, y1: up.at(tick), y2: up.at(tick) }));
    parts.push(svg("text", { x: LEFT - 8, y: up.at(tick) + 4, "text-anchor": "end" }, number(tick, 3)));
  }
  for (const tick of across.ticks) {
    parts.push(svg("line", { class: "grid", x1: across.at(tick), x2: across.at(tick), y1: TOP, y2: HIGH - BOTTOM }));
    parts.push(svg("text", { x: across.at(tick), y: HIGH - BOTTOM + 17, "text-anchor": "middle" }, number(tick, 3)));
  }
  const middle = (HIGH - BOTTOM + TOP) / 2;
  parts.push(svg("text", { class: "name", x: (LEFT + wide - RIGHT) / 2, y: HIGH - 6, "text-anchor": "middle" }, x.label));
  const turned = `rotate(-90 14 ${middle})`;
  parts.push(svg("text", { class: "name", x: 14, y: middle, transform: turned, "text-anchor": "middle" }, y.label));
  for (const layer of layers) {
    if (layer.kind === "band") parts.push(...band(layer, across, up, box));
    else if (layer.kind !== "beyond") parts.push(...drawn(layer, across, up, pick, chosen));
  }
  const role = pick ? "group" : "img";
  const picture = svg("svg", { class: "plot", viewBox: `0 0 ${wide} ${HIGH}`, width: wide, height: HIGH, role, "aria-label": label }, parts);
  if (pick) picture.addEventListener("keydown", (event) => move(event, picture));
  const focused = holder.contains(document.activeElement) ? document.activeElement.getAttribute("data-place") : null;
  holder.replaceChildren(picture);
  if (focused !== null) picture.querySelector(`[data-place="${chosen ?? focused}"]`)?.focus();
}

function drawn(layer, across, up, pick, chosen) {
  const places = layer.x.map((value, place) => [across.at(value), up.at(layer.y[place]), place]);
  const shown = places.filter(([, , place]) => Number.isFinite(layer.x[place]) && Number.isFinite(layer.y[place]));
  if (layer.kind === "points") {
    const reach = (place, sign) => up.at(layer.y[place] + sign * layer.spread[place]);
    const errors = layer.spread ? shown.filter(([, , place]) => Number.isFinite(layer.spread[place])) : [];
    const lines = errors.map(([x, , place]) => svg("line", { class: `error ${layer.colour}`, x1: x, x2: x, y1: reach(place, -1), y2: reach(place, 1) }));
    return [...lines, ...shown.map((point) => dot(layer, point, pick, chosen))];
  }
  if (!shown.length) return [];
  const [first, ...rest] = shown;
  if (!rest.length) return [svg("circle", { class: `dot ${layer.colour}`, cx: first[0], cy: first[1], r: 3 })];
  const step = layer.kind === "steps" ? (point) => `H${point[0]}V${point[1]}` : (point) => `L${point[0]},${point[1]}`;
  return [svg("path", { class: `line ${layer.colour}`, d: `M${first[0]},${first[1]}${rest.map(step).join("")}` })];
}

// What lies outside the data is shaded, on each side.
function beyond({ from, to }, across, box) {
  const inside = (value) => Math.min(box.right, Math.max(box.left, across.at(value)));
  const high = box.bottom - box.top;
  const sides = [[box.left, inside(from)], [inside(to), box.right]].filter(([left, right]) => right - left > 1);
  return sides.flatMap(([left, right]) => [
    svg("rect", { class: "beyond", x: left, y: box.top, width: right - left, height: high }),
    ...(right - left > 76 ? [svg("text", { x: (left + right) / 2, y: box.top + 14, "text-anchor": "middle" }, "beyond data")] : []),
  ]);
}

function band({ x, low, high, colour }, across, up, box) {
  const clipped = (value) => Math.min(box.bottom, Math.max(box.top, up.at(value)));
  const known = x.map((value, place) => [across.at(value), low[place], high[place]]).filter((one) => one.every(Number.isFinite));
  if (known.length < 2) return [];
  const above = known.map(([at, , top]) => `${at},${clipped(top)}`);
  const below = known.reverse().map(([at, bottom]) => `${at},${clipped(bottom)}`);
  return [svg("polygon", { class: `band ${colour}`, points: [...above, ...below].join(" ") })];
}

function dot(layer, [cx, cy, place], pick, chosen) {
  if (!pick || !layer.labels || layer.isFixed) {
    const circle = svg("circle", { class: `dot ${layer.colour}`, cx, cy, r: layer.size ?? 3 });
    if (layer.labels) circle.append(svg("title", {}, layer.labels[place]));
    return circle;
  }
  const isChosen = place === chosen;
  const attributes = {
    class: isChosen ? "pick chosen" : "pick", role: "button", tabindex: isChosen ? 0 : -1, "aria-pressed": isChosen,
    "aria-label": layer.labels[place], "data-place": place, onclick: () => pick(place),
  };
  return svg(
    "g", attributes, svg("title", {}, layer.labels[place]),
    svg("circle", { class: "reach", cx, cy, r: 12 }), svg("circle", { class: "dot", cx, cy, r: isChosen ? 7 : 4.5 }),
  );
}

// Arrows go from one point to the next, as in a list; Enter and the space bar choose.
function move(event, picture) {
  const points = [...picture.querySelectorAll(".pick")];
  const place = points.indexOf(event.target);
  if (place < 0) return;
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  if (event.key in steps) {
    const next = points[Math.min(points.length - 1, Math.max(0, place + steps[event.key]))];
    next.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  } else if (event.key === "Enter" || event.key === " ") {
    event.target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  } else return;
  event.preventDefault();
}

// A small line of shares from 0 to 1.
export function spark(values, label) {
  const step = 110 / Math.max(1, values.length - 1);
  const points = values.map((value, place) => `${5 + step * place},${26 - 24 * value}`).join(" ");
  const [x, y] = [5 + step * (values.length - 1), 26 - 24 * values[values.length - 1]];
  return svg("svg", { class: "spark", viewBox: "0 0 120 28", role: "img", "aria-label": label },
    svg("line", { class: "grid", x1: 5, x2: 115, y1: 26, y2: 26 }), svg("line", { class: "grid", x1: 5, x2: 115, y1: 2, y2: 2 }),
    svg("polyline", { class: "line blue", points }), svg("circle", { class: "dot blue", cx: x, cy: y, r: 3 }));
}

export function bars({ counts, low, high }, label) {
  const most = Math.max(...counts, 1);
  const rects = counts.map((size, place) =>
    svg("rect", { x: place * 5, y: 28 - (28 * size) / most, width: 4.4, height: (28 * size) / most }));
  const name = `${label}: from ${number(low)} to ${number(high)}`;
  return svg("svg", { class: "bars", viewBox: "0 0 120 28", role: "img", "aria-label": name }, svg("title", {}, name), rects);
}

const LEAST_SCALE = 0.75;

// A formula as a tree: leaves in order, each as wide as its label, each node above the middle of those below it. A tree
// that would become too small to read is scrolled.
export function tree(holder, root) {
  const [nodes, lines] = [[], []];
  const half = (label) => 6 + 3.7 * label.length;
  const below = (node) => node.below.reduce((sum, child) => sum + width(child), 0);
  const width = (node) => Math.max(2 * half(node.label) + 10, below(node));
  const place = (node, left, depth) => {
    let from = left + (width(node) - below(node)) / 2;
    const children = node.below.map((child) => {
      const own = place(child, from, depth + 1);
      from += width(child);
      return own;
    });
    const x = children.length ? (children[0].x + children[children.length - 1].x) / 2 : left + width(node) / 2;
    const own = { x, y: 24 + 48 * depth, label: node.label, kind: node.kind };
    for (const child of children) lines.push([own, child]);
    nodes.push(own);
    return own;
  };
  place(root, 10, 0);
  const [wide, high] = [width(root) + 20, 24 + Math.max(...nodes.map((node) => node.y))];
  const parts = lines.map(([one, other]) => svg("line", { class: "grid strong", x1: one.x, y1: one.y, x2: other.x, y2: other.y }));
  for (const { x, y, label, kind } of nodes) {
    parts.push(svg("rect", { class: `node ${kind}`, x: x - half(label), y: y - 12, width: 2 * half(label), height: 24, rx: 8 }));
    parts.push(svg("text", { class: "name", x, y: y + 4, "text-anchor": "middle" }, label));
  }
  const room = holder.clientWidth || wide;
  const scaled = Math.max(LEAST_SCALE, Math.min(1, room / wide));
  const size = { width: Math.floor(scaled * wide), height: Math.floor(scaled * high) };
  holder.replaceChildren(svg("svg", { class: "tree", viewBox: `0 0 ${wide} ${high}`, ...size, role: "img", "aria-label": "The formula as a tree" }, parts));
  const scrolls = size.width > room ? { tabindex: 0, role: "group", "aria-label": "The formula as a tree, to scroll" } : {};
  for (const name of ["tabindex", "role", "aria-label"]) {
    if (name in scrolls) holder.setAttribute(name, scrolls[name]);
    else holder.removeAttribute(name);
  }
}

export function figure(caption, ...more) {
  const holder = el("div", { class: "holder" });
  return { holder, whole: el("figure", {}, el("figcaption", {}, caption, ...more), holder) };
}
