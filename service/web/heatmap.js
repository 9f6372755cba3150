// The attention of one sentence as a table: source words across, target words down, darker for more.

import { ProblemError, translate } from "./api.js";
import { byId, element, selectById } from "./dom.js";
import { formatNumber, say } from "./strings.js";
import { asWord } from "./words.js";

/** @typedef {import("./api.js").Question} Question */
/** @typedef {import("./api.js").Translation} Translation */
/** @typedef {import("./api.js").Sentence} Sentence */
/** @typedef {import("./words.js").Side} Side */

const MOST_CELLS = 4000; // drawn here; the server draws larger ones
const DARK = 0.55; // from this share on, digits are written in the light colour

/** The heat maps of one answer. */
export class HeatMap {
  /** @param {Question} question @param {Translation} translation */
  constructor(question, translation) {
    this.question = question;
    this.translation = translation;
    /** @type {Map<string, Translation>} by layer and head, once asked for */
    this.seen = new Map();
    /** @type {AbortController | null} */
    this.asking = null;
  }

  show() {
    const { sentences, id } = this.translation;
    byId("alignment-section").hidden = !sentences.some((sentence) => sentence.attention?.length);
    byId("sentence-choice").hidden = sentences.length < 2;
    selectById("sentence").replaceChildren(
      ...sentences.map((_, i) => new Option(formatNumber(i + 1), String(i))),
    );
    for (const name of ["sentence", "layer", "head"]) selectById(name).onchange = () => this.draw();
    byId("downloads").replaceChildren(...["svg", "png", "pharaoh", "json"].map((format) => download(id, format)));
    if (sentences.length) this.draw();
  }

  /** Draw the chosen sentence, as the chosen layer and head see it. */
  async draw() {
    this.asking?.abort();
    const own = (this.asking = new AbortController());
    const index = Number(selectById("sentence").value);
    selectById("head").disabled = selectById("layer").value === "";
    byId("heat-problem").textContent = "";
    try {
      const { sentences } = await this.read(selectById("layer").value, selectById("head").value, own.signal);
      if (!own.signal.aborted) this.fill(this.translation.sentences[index], sentences[index].attention);
    } catch (error) {
      if (own.signal.aborted) return;
      const reason = error instanceof ProblemError ? error.message : say("status.unreachable");
      byId("heat-problem").textContent = say("heat.failed", { reason });
    }
  }

  /**
   * The same translation with its attention read elsewhere: search finds the same again.
   * @param {string} layer "" for where the links are from
   * @param {string} head "" for all
   * @param {AbortSignal} signal
   */
  async read(layer, head, signal) {
    if (layer === "") return this.translation;
    const known = this.seen.get(`${layer} ${head}`);
    if (known) return known;
    const attention = { layer: Number(layer), heads: head === "" ? null : [Number(head)] };
    const { translations } = await translate({ ...this.question, attention }, signal);
    this.seen.set(`${layer} ${head}`, translations[0]);
    return translations[0];
  }

  /** @param {Sentence} sentence @param {number[][] | null} matrix */
  fill({ source_tokens: columns, target_tokens: rows }, matrix) {
    const table = byId("heat");
    const sources = this.translation.source_tokens.slice(columns.start, columns.end);
    const targets = this.translation.target_tokens.slice(rows.start, rows.end);
    if (!matrix || sources.length * targets.length > MOST_CELLS) {
      const textContent = matrix ? say("heat.too_large") : "";
      table.replaceChildren(element("caption", { textContent }));
      return;
    }
    const head = element("tr", {}, element("td"));
    sources.forEach((word, j) => {
      const label = element("th", { scope: "col" }, element("span", { textContent: word.text }));
      head.append(asWord(label, "source", columns.start + j));
    });
    const body = targets.map((word, i) => {
      const label = element("th", { scope: "row", textContent: word.text });
      const row = element("tr", {}, asWord(label, "target", rows.start + i));
      sources.forEach((other, j) => row.append(cell(matrix[i][j], other.text, word.text)));
      return row;
    });
    table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  }
}

/** Offer the layers and heads that the model has. @param {{ layers: number, heads: number } | null} model */
export function offerHeads(model) {
  byId("heads-choice").hidden = !model;
  for (const [id, n, first] of /** @type {const} */ ([
    ["layer", model?.layers ?? 0, "heat.links"],
    ["head", model?.heads ?? 0, "heat.mean"],
  ])) {
    const chosen = selectById(id).value;
    const numbers = Array.from({ length: n }, (_, i) => new Option(formatNumber(i + 1), String(i)));
    selectById(id).replaceChildren(new Option(say(first), ""), ...numbers);
    selectById(id).value = chosen;
  }
  selectById("head").disabled = selectById("layer").value === "";
}

/** @param {number} share @param {string} source @param {string} target */
function cell(share, source, target) {
  const percent = Math.round(100 * share);
  const made = element("td", {
    textContent: percent >= 5 ? formatNumber(percent) : "",
    title: say("heat.cell", { source, target, percent }),
  });
  made.style.setProperty("--share", share.toFixed(3));
  made.classList.toggle("dark", share > DARK);
  return made;
}

/** @param {string} id @param {string} format */
const download = (id, format) =>
  element("a", {
    href: `translations/${id}/alignment?format=${format}`,
    target: "_blank",
    rel: "noopener",
    textContent: format === "pharaoh" ? "Pharaoh" : format.toUpperCase(),
  });

