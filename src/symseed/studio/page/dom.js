// Elements of the page, and questions to the server. Texts from outside only ever become text nodes.

const SVG = "http://www.w3.org/2000/svg";
const MATHML = "http://www.w3.org/1998/Math/MathML";
const MATH_TAGS = new Set([
  "math", "mrow", "mi", "mo", "mn", "mtext", "ms", "mfrac", "msup", "msub", "msubsup", "msqrt", "mroot", "mspace",
  "mstyle", "mpadded", "mfenced", "munder", "mover", "munderover", "mtable", "mtr", "mtd",
]);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("aria-") && typeof value === "boolean") element.setAttribute(name, String(value));
    else if (value === null || value === undefined || value === false) continue;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "checked" || name === "value" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

// A formula as the server gives it: [tag, attributes, parts], where a part is an element or a text.
export function math(element) {
  const [tag, attributes, parts] = element;
  if (!MATH_TAGS.has(tag)) return document.createTextNode("");
  const children = parts.map((part) => (typeof part === "string" ? part : math(part)));
  return filled(document.createElementNS(MATHML, tag), attributes, children);
}

export function number(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const rounded = Number(value.toPrecision(digits));
  const text = size >= 1e-4 && size < 1e6 ? (size < 1e4 ? String(rounded) : rounded.toLocaleString("en")) : value.toExponential(digits - 1);
  return text.replace("-", "−").replace(/\.?0+e/, "e").replace("e+", "e");
}

export function percent(share) {
  if (share === null) return "";
  const rounded = Math.round(100 * share);
  return rounded < 1 && share > 0 ? "<1 %" : rounded > 99 && share < 1 ? ">99 %" : `${rounded} %`;
}

export function count(value) {
  return Math.round(value).toLocaleString("en");
}

export function r2(value) {
  if (value === null) return "–";
  return value > 0.9999 && value < 1 ? `1 − ${number(1 - value, 2)}` : number(value, 5);
}

export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (part) => String(part).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

// A time as short as it can be: of today the hour, else the day.
export function when(text) {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return "";
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday ? time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" }) : time.toLocaleDateString("en-CA");
}

export function say(text) {
  document.getElementById("said").textContent = text;
}

async function answer(response) {
  if (response.ok) return response.json();
  throw new Error((await response.text()).slice(0, 2000) || `The server answered ${response.status}.`);
}

// A report holds what the server would answer, and nothing can be sent from it.
const held = document.getElementById("frozen");
export const FROZEN = held ? JSON.parse(held.textContent) : null;

export async function ask(path) {
  if (!FROZEN) return answer(await fetch(path));
  if (path in FROZEN) return FROZEN[path];
  throw new Error("The report does not hold this.");
}

export async function send(path, body) {
  const isFile = body instanceof Blob;
  const type = isFile ? "application/octet-stream" : "application/json";
  const options = { method: "POST", headers: { "content-type": type }, body: isFile ? body : JSON.stringify(body) };
  return answer(await fetch(path, options));
}

// Does something that may be refused; the sentence is said, and null returned.
export async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    say(error instanceof TypeError ? "The server does not answer. Start it again, and open its link." : error.message);
    return null;
  }
}
