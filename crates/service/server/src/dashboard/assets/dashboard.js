// Reads /data.json and shows it. Texts of the server are only ever set as text, never as markup.
"use strict";

const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

// --- Numbers with units ---

const NONE = "\u2013";

function plain(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toString();
  return Number(value.toPrecision(size < 1 ? 2 : 3)).toString();
}

function scaled(value, unit, step, prefixes) {
  let at = 0;
  let rest = value;
  while (Math.abs(rest) >= step && at < prefixes.length - 1) {
    rest /= step;
    at += 1;
  }
  return `${plain(rest)}\u202f${prefixes[at]}${unit}`.trim();
}

const units = {
  count: (value) => scaled(value, "", 1000, ["", "k", "M", "G", "T"]).replace(/\u202f$/, ""),
  rate: (value) => `${units.count(value)}/s`,
  bytes: (value) => scaled(value, "B", 1024, ["", "Ki", "Mi", "Gi", "Ti"]),
  byteRate: (value) => `${units.bytes(value)}/s`,
  cores: (value) => `${plain(value)}\u202f${value === 1 ? "core" : "cores"}`,
  seconds: (value) => {
    if (value === 0) return "0\u202fs";
    if (value < 1e-3) return `${plain(value * 1e6)}\u202f\u00b5s`;
    if (value < 1) return `${plain(value * 1e3)}\u202fms`;
    return `${plain(value)}\u202fs`;
  },
};

const orNone = (value, unit) => (value === null || value === undefined ? NONE : unit(value));

function timeLeft(seconds) {
  const days = Math.floor(seconds / 86400);
  if (seconds < 0) return "expired";
  if (days >= 730) return `${Math.floor(days / 365)} years`;
  if (days >= 2) return `${days} days`;
  return `${Math.floor(seconds / 3600)} hours`;
}

// --- Elements ---

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function shape(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// --- Tiles ---

function tile(name, value, isAlert) {
  return element("div", isAlert ? { class: "alert" } : {}, element("dt", {}, name), element("dd", {}, value));
}

function showTiles(data) {
  const { rates, clients } = data;
  const tiles = [
    tile("Operations", units.rate(rates.operations_per_s)),
    tile("Latency, median", orNone(rates.p50_s, units.seconds)),
    tile("Latency, 99 %", orNone(rates.p99_s, units.seconds)),
    tile("Refusals", units.rate(rates.refusals_per_s), rates.refusals_per_s > 0),
    tile("Clients", units.count(clients.listed.length + clients.more)),
    tile("Processor", units.cores(rates.cores)),
    tile("Memory", units.bytes(rates.resident_bytes)),
    tile("Traffic", units.byteRate(rates.received_bytes_per_s + rates.sent_bytes_per_s)),
  ];
  if (rates.audit_lost > 0) tiles.push(tile("Lost audit entries", units.count(rates.audit_lost), true));
  byId("tiles").replaceChildren(...tiles);
}

// --- Tables ---

// A column: title, the cell's content (a text, a node or null), and the class of its cells.
function showTable(id, columns, rows, empty, note) {
  const table = byId(id);
  const caption = table.querySelector("caption");
  const title = caption.dataset.title || caption.textContent;
  caption.dataset.title = title;
  caption.replaceChildren(title);
  if (note) caption.append(" ", element("small", {}, note));
  if (rows.length === 0) {
    table.replaceChildren(caption, element("tbody", {}, element("tr", {}, element("td", { class: "none" }, empty))));
    return;
  }
  const kind = (column) => (column.kind ? { class: column.kind } : {});
  const head = columns.map((column) => element("th", { scope: "col", ...kind(column) }, column.title));
  const body = rows.map((row) => {
    const cells = columns.map((column, at) => {
      const content = column.cell(row);
      const cell = element(at === 0 ? "th" : "td", at === 0 ? { scope: "row", ...kind(column) } : kind(column));
      cell.append(content === null || content === undefined ? NONE : content);
      return cell;
    });
    return element("tr", {}, ...cells);
  });
  table.replaceChildren(caption, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

const text = (title, cell) => ({ title, cell });
const word = (title, cell) => ({ title, cell, kind: "word" });
const number = (title, cell) => ({ title, cell, kind: "number" });

function showTables(data) {
  showTable("operations", [
    word("Operation", (row) => row.operation),
    number("Rate", (row) => units.rate(row.per_s)),
    number("Done", (row) => units.count(row.done)),
    number("Not done", (row) => units.count(row.not_done)),
  ], data.operations, "No operation yet.");
  showTable("shapes", [
    word("Shape", (row) => row.shape),
    number("Rate", (row) => units.rate(row.per_s)),
    number("Median", (row) => orNone(row.p50_s, units.seconds)),
    number("99 %", (row) => orNone(row.p99_s, units.seconds)),
    number("Waiting", (row) => units.count(row.waiting)),
  ], data.shapes, "No answer yet.");
  showTable("batches", [
    word("Engine", (row) => row.engine),
    word("Shape", (row) => row.shape),
    number("Batches", (row) => units.rate(row.batches_per_s)),
    number("Mean size", (row) => orNone(row.mean, units.count)),
    number("Median time", (row) => orNone(row.run_p50_s, units.seconds)),
    text("Sizes", (row) => sizeBars(row.sizes)),
  ], data.batches, "No batch yet.");
  showTable("engines", [
    word("Engine", (row) => row.engine),
    word("State", engineState),
    number("Shapes", (row) => (row.absent ? null : units.count(row.passed))),
    text("Notes", engineNotes),
  ], data.engines || [], "The self tests are running.");
  const { keys, clients } = data;
  showTable("keys", [
    text("Key", (row) => row.key),
    number("Rate", (row) => units.rate(row.per_s)),
    number("Operations", (row) => units.count(row.operations)),
  ], keys.used, "No key.", `${keys.asymmetric} asymmetric, ${keys.symmetric} symmetric${more(keys.more)}`);
  showTable("clients", [
    text("Client", (row) => row.client),
    number("Connections", (row) => units.count(row.connections)),
    number("Holds", (row) => units.bytes(row.held_bytes)),
  ], clients.listed, "No client is connected.", more(clients.more).replace(/^, /, ""));
  showTable("refusals", [
    word("Reason", (row) => row.reason.toLowerCase().replaceAll("_", " ")),
    number("Rate", (row) => units.rate(row.per_s)),
    number("Total", (row) => units.count(row.total)),
  ], data.refusals, "No refusal since the start.");
  showTable("certificates", [
    text("Subject", (row) => row.subject),
    word("Setting", (row) => row.setting),
    number("Left", (row) => {
      const left = row.seconds_left;
      const name = left < 0 ? "bad-text" : left < 14 * 86400 ? "warn-text" : "";
      return element("span", { class: name }, timeLeft(left));
    }),
  ], data.certificates, "No certificate is in use.");
}

function more(hidden) {
  return hidden > 0 ? `, ${hidden} more` : "";
}

function engineState(row) {
  if (row.absent) return element("span", {}, "absent");
  if (row.quarantined.length > 0) return element("span", { class: "bad-text" }, "quarantine");
  if (row.failed.length > 0) return element("span", { class: "warn-text" }, "partly in use");
  return element("span", { class: "good-text" }, "in use");
}

function engineNotes(row) {
  if (row.absent) return row.absent;
  const quarantined = row.quarantined.map(([name, reason]) => `${name === "*" ? "all shapes" : name}: ${reason}`);
  const notes = [...quarantined, ...row.failed.map((failure) => `self test failed: ${failure}`)];
  if (row.leaves.length > 0) notes.push(row.leaves.join(", "));
  return notes.length > 0 ? notes.join("; ") : null;
}

// The sizes of batches as bars: one for each power of two, the share of batches as height.
function sizeBars(sizes) {
  const most = Math.max(...sizes.map(([, batches]) => batches));
  const largest = sizes[sizes.length - 1][0];
  const description = sizes.map(([bound, batches]) => `up to ${units.count(bound)}: ${units.count(batches)}`).join("; ");
  const drawn = shape("svg", { viewBox: "0 0 100 20", role: "img", "aria-label": description });
  drawn.append(shape("title", {}, description));
  const slots = Math.max(Math.log2(largest) + 1, 8);
  for (const [bound, batches] of sizes) {
    const height = Math.max((batches / most) * 19, 1);
    const width = 100 / slots;
    drawn.append(shape("rect", {
      class: "bar", x: Math.log2(bound) * width, y: 20 - height, width: Math.max(width - 1, 1), height,
    }));
  }
  return drawn;
}

// --- Charts ---

const CHART = { height: 190, left: 58, right: 10, top: 10, bottom: 24 };
const MIN_WIDTH = 260;
const HOUR_S = 3600;

// Round figures for the vertical axis: at most five steps of 1, 2 or 5 times a power of ten.
function axisSteps(max) {
  const rough = max / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
  const steps = [];
  for (let at = 0; at < Math.ceil(max / step - 1e-9) + 1; at += 1) steps.push(at * step);
  return steps;
}

class Chart {
  // The axis shows figures without the unit if the title names it.
  constructor(id, title, unit, series, axis = unit) {
    Object.assign(this, { title, unit, series, axis, marked: null, history: null, width: 560 });
    const figure = byId(id);
    this.output = element("output", {});
    const legend = element("span", { class: "legend" });
    if (series.length > 1) {
      const names = ["first", "second"];
      series.forEach(({ name }, at) => legend.append(element("span", { class: names[at] }, element("i"), name)));
    }
    this.drawn = shape("svg", { role: "img", tabindex: "0" });
    figure.append(element("figcaption", {}, element("strong", {}, title), legend, this.output), this.drawn);
    this.drawn.addEventListener("keydown", (event) => this.onKey(event));
    this.drawn.addEventListener("pointermove", (event) => this.onPointer(event));
    for (const leave of ["pointerleave", "blur"]) this.drawn.addEventListener(leave, () => this.mark(null));
    // Drawn in pixels of the page, so that texts have the same size in a narrow window.
    new ResizeObserver(([{ contentRect }]) => {
      this.width = Math.max(Math.round(contentRect.width), MIN_WIDTH);
      if (this.history) this.draw();
    }).observe(figure);
  }

  show(history) {
    this.history = history;
    this.draw();
  }

  samples() {
    return this.history ? this.history[this.series[0].column].length : 0;
  }

  // The seconds before now of a sample.
  age(at) {
    return (this.samples() - 1 - at) * this.history.step_s;
  }

  x(at) {
    const { left, right } = CHART;
    return left + (this.width - left - right) * (1 - this.age(at) / HOUR_S);
  }

  onKey(event) {
    const last = this.samples() - 1;
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || last < 0) return;
    event.preventDefault();
    const from = this.marked === null ? last + (event.key === "ArrowLeft" ? 1 : 0) : this.marked;
    this.mark(Math.min(Math.max(from + steps[event.key], 0), last));
  }

  onPointer(event) {
    if (this.samples() === 0) return;
    const bounds = this.drawn.getBoundingClientRect();
    const { left, right } = CHART;
    const x = ((event.clientX - bounds.left) / bounds.width) * this.width;
    const age = (1 - (x - left) / (this.width - left - right)) * HOUR_S;
    const at = this.samples() - 1 - Math.round(age / this.history.step_s);
    this.mark(at >= 0 && at < this.samples() ? at : null);
  }

  mark(at) {
    if (at === this.marked) return;
    this.marked = at;
    if (this.history) this.draw();
  }

  valueText(at) {
    const values = this.series.map(({ name, column }) => {
      const value = orNone(this.history[column][at], this.unit);
      return this.series.length > 1 ? `${name} ${value}` : value;
    });
    return values.join(", ");
  }

  draw() {
    const { height, left, right, top, bottom } = CHART;
    const width = this.width;
    const count = this.samples();
    const columns = this.series.map(({ column }) => this.history[column]);
    const max = Math.max(0, ...columns.flat().filter((value) => value !== null));
    const steps = axisSteps(max > 0 ? max : 1);
    const highest = steps[steps.length - 1];
    const y = (value) => top + (height - top - bottom) * (1 - value / highest);
    const parts = [];
    for (const step of steps) {
      parts.push(shape("line", { class: "grid", x1: left, x2: width - right, y1: y(step), y2: y(step) }));
      parts.push(shape("text", { x: left - 6, y: y(step) + 4, "text-anchor": "end" }, this.axis(step)));
    }
    for (const minutes of width < 520 ? [60, 30, 0] : [60, 45, 30, 15, 0]) {
      const x = left + (width - left - right) * (1 - minutes / 60);
      const anchor = minutes === 60 ? "start" : minutes === 0 ? "end" : "middle";
      parts.push(shape("line", { class: "axis", x1: x, x2: x, y1: y(0), y2: y(0) + 4 }));
      const name = minutes === 0 ? "now" : `${minutes} min ago`;
      parts.push(shape("text", { x, y: height - 6, "text-anchor": anchor }, name));
    }
    parts.push(shape("line", { class: "axis", x1: left, x2: width - right, y1: y(0), y2: y(0) }));
    if (count === 0) {
      const where = { class: "empty", x: left + (width - left - right) / 2, y: (height - bottom) / 2 };
      parts.push(shape("text", where, "The first sample comes after ten seconds."));
    }
    columns.forEach((column, at) => parts.push(...this.curve(column, ["first", "second"][at], y, at === 0)));
    if (this.marked !== null && this.marked < count) {
      const x = this.x(this.marked);
      parts.push(shape("line", { class: "marker", x1: x, x2: x, y1: top, y2: y(0) }));
      columns.forEach((column, at) => {
        const value = column[this.marked];
        const name = `dot ${["first", "second"][at]}`;
        if (value !== null) parts.push(shape("circle", { class: name, cx: x, cy: y(value), r: 3.5 }));
      });
    }
    const latest = count > 0 ? this.valueText(count - 1) : "no sample yet";
    this.drawn.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawn.setAttribute("aria-label", `${this.title}, last hour. Now: ${latest}.`);
    this.drawn.replaceChildren(...parts);
    this.output.textContent = this.readout();
  }

  readout() {
    if (this.marked === null || this.marked >= this.samples()) return "";
    const age = this.age(this.marked);
    const when = age < 60 ? `${age} s ago` : `${Math.floor(age / 60)} min ${age % 60} s ago`;
    return `${age === 0 ? "now" : when}: ${this.valueText(this.marked)}`;
  }

  // A curve with gaps where there is no value.
  curve(column, name, y, hasArea) {
    const parts = [];
    let run = [];
    const end = () => {
      if (run.length === 0) return;
      const path = run.map(([x, value], at) => `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${value.toFixed(1)}`).join("");
      if (hasArea && run.length > 1) {
        const base = y(0).toFixed(1);
        const area = `${path}L${run[run.length - 1][0].toFixed(1)} ${base}L${run[0][0].toFixed(1)} ${base}Z`;
        parts.push(shape("path", { class: "area", d: area }));
      }
      // A value without neighbours would be an invisible line.
      if (run.length === 1) parts.push(shape("circle", { class: `dot ${name}`, cx: run[0][0], cy: run[0][1], r: 1.5 }));
      else parts.push(shape("path", { class: `curve ${name}`, d: path }));
      run = [];
    };
    column.forEach((value, at) => {
      if (value === null) end();
      else run.push([this.x(at), y(value)]);
    });
    end();
    return parts;
  }
}

const charts = [];

function makeCharts() {
  charts.push(
    new Chart("chart-operations", "Operations", units.rate, [{ name: "operations", column: "operations_per_s" }]),
    new Chart("chart-latency", "Latency of requests", units.seconds, [
      { name: "median", column: "p50_s" },
      { name: "99 %", column: "p99_s" },
    ]),
    new Chart("chart-refusals", "Refusals", units.rate, [{ name: "refusals", column: "refusals_per_s" }]),
    new Chart("chart-cores", "Processor, in cores", units.cores, [{ name: "cores", column: "cores" }], plain),
  );
}

// --- State and polling ---

// The text changes only if the state does, so that a screen reader is not interrupted every two seconds.
function showState(label, kind) {
  const state = byId("state");
  if (state.textContent !== label) state.textContent = label;
  state.className = `pill ${kind}`;
}

function show(data) {
  byId("version").textContent = data.version;
  byId("updated").textContent = `Data of ${new Date(data.time_ms).toLocaleTimeString()}`;
  const isQuarantined = (data.engines || []).some((engine) => engine.quarantined.length > 0);
  if (data.refusal) showState(`Refuses requests: ${data.refusal}`, "bad");
  else if (isQuarantined) showState("Serves, with an engine in quarantine", "");
  else showState("Serves", "good");
  showTiles(data);
  showTables(data);
  charts.forEach((chart) => chart.show(data.history));
}

let timer = null;

async function poll() {
  clearTimeout(timer);
  let wait = 2000;
  try {
    const response = await fetch("/data.json", { signal: AbortSignal.timeout(5000) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const data = await response.json();
    wait = data.tick_s * 1000;
    show(data);
  } catch (error) {
    console.warn(error);
    showState("The server does not answer", "bad");
  }
  // A hidden page reads nothing. It begins again when it is shown.
  if (!document.hidden) timer = setTimeout(poll, wait);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(timer);
  else poll();
});

makeCharts();
poll();
