// Sentences to look at again are marked where they stand in the translation, with the reasons.

import { element } from "./dom.js";
import { languageName } from "./languages.js";
import { formatNumber, isKey, say } from "./strings.js";

/** @typedef {import("./api.js").Translation} Translation */

const UNSURE = 0.3; // a sentence of less confidence is marked

/** What a flag means, in the interface's language. @param {string} kind @param {Translation} translation */
export function explainFlag(kind, { detected_source }) {
  const key = `flag.${kind}`;
  const detected = detected_source.language ? languageName(detected_source.language) : "";
  return isKey(key) ? say(key, { detected }) : say("flag.other", { kind });
}

/** Whether the model is unsure of a sentence. @param {import("./api.js").Sentence} sentence */
export const isUnsure = ({ confidence }) => confidence !== null && confidence < UNSURE;

/** Why to look again at a sentence; nothing if there is no reason. @param {Translation} translation @param {number} index */
function reasons(translation, index) {
  const sentence = translation.sentences[index];
  const kinds = new Set(translation.flags.filter((flag) => flag.sentence === index).map(({ kind }) => kind));
  if (sentence.truncated) kinds.add("truncated");
  const found = [...kinds].map((kind) => explainFlag(kind, translation));
  if (isUnsure(sentence)) {
    found.push(say("sentence.unsure", { percent: formatNumber(Math.round(100 * (sentence.confidence ?? 0))) }));
  }
  return found.join(" ");
}

/** Wrap the sentences of a filled container that have reasons. @param {HTMLElement} output @param {Translation} translation */
export function markSentences(output, translation) {
  translation.sentences.forEach(({ target }, index) => {
    if (!reasons(translation, index)) return;
    const inside = nodesOf(output, translation.text, target);
    const mark = element("button", { type: "button", className: "why", tabIndex: -1 });
    const marked = element("span", { className: "sentence" }, mark);
    marked.dataset.sentence = String(index);
    if (inside.length) inside[0].before(marked);
    else output.append(marked);
    mark.before(...inside);
  });
  nameMarks(output, translation);
}

/** Write the reasons, in the language of the interface. @param {HTMLElement} output @param {Translation} translation */
export function nameMarks(output, translation) {
  for (const marked of /** @type {NodeListOf<HTMLElement>} */ (output.querySelectorAll(".sentence"))) {
    const why = reasons(translation, Number(marked.dataset.sentence));
    marked.dataset.why = marked.title = why;
    marked.querySelector(".why")?.setAttribute("aria-label", say("sentence.look", { why }));
  }
}

/**
 * The children of a container that hold a part of its text.
 * @param {HTMLElement} container
 * @param {string} text of the container
 * @param {import("./api.js").Span} span code points of it
 */
export function nodesOf(container, text, { start, end }) {
  const characters = Array.from(text);
  /** @param {number} n code points @returns {number} UTF-16 units */
  const units = (n) => characters.slice(0, n).join("").length;
  return nodesWithin(container, units(start), units(end));
}

/**
 * The children of a container that hold its text from start to end; text that lies across a border is parted.
 * @param {HTMLElement} container
 * @param {number} start in UTF-16 units
 * @param {number} end
 */
function nodesWithin(container, start, end) {
  const inside = [];
  let at = 0;
  for (let node = container.firstChild; node && at < end; node = node.nextSibling) {
    const border = at < start ? start : end;
    const whole = node.textContent?.length ?? 0;
    if (node instanceof Text && at < border && border < at + whole) node.splitText(border - at);
    const length = node.textContent?.length ?? 0;
    if (length && at >= start) inside.push(node);
    at += length;
  }
  return inside;
}
