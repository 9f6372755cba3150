// Linked words: point at one, or go to it with the keyboard, and its partners in the other language light up.
// Offsets from the server count code points; JavaScript strings count UTF-16 units, hence Array.from.

import { byId, element } from "./dom.js";
import { inLanguage } from "./languages.js";
import { say } from "./strings.js";

/** @typedef {import("./api.js").Translation} Translation */
/** @typedef {import("./api.js").Token} Token */
/** @typedef {"source" | "target"} Side */

const STOP = ".word, .why, .unit"; // what the arrow keys go to in the translation

/**
 * Fill a container with a text whose tokens are words that can be lit.
 * @param {HTMLElement} container
 * @param {string} text
 * @param {Token[]} tokens
 * @param {Side} side
 */
export function fillWords(container, text, tokens, side) {
  const characters = Array.from(text);
  /** @type {(Node | string)[]} */
  const parts = [];
  let written = 0;
  tokens.forEach(({ start, end }, index) => {
    const word = element("span", { textContent: characters.slice(start, end).join(""), className: "word" });
    if (side === "target") word.tabIndex = -1;
    parts.push(characters.slice(written, start).join(""), asWord(word, side, index));
    written = end;
  });
  container.replaceChildren(...parts, characters.slice(written).join(""));
}

/** The words and marks of a translation are one stop of the tab key; arrows go on from there. @param {HTMLElement} output */
export function makeOneStop(output) {
  const first = stops(output)[0];
  if (first) first.tabIndex = 0;
}

/**
 * Make an element light up with the word of this side and index.
 * @template {HTMLElement} E
 * @param {E} made
 * @param {Side} side
 * @param {number} index
 * @returns {E}
 */
export function asWord(made, side, index) {
  made.dataset.side = side;
  made.dataset.index = String(index);
  return made;
}

export class LinkedWords {
  /** @param {Translation} translation @param {Record<Side, string>} languages */
  constructor(translation, languages) {
    this.tokens = { source: translation.source_tokens, target: translation.target_tokens };
    this.languages = languages;
    /** @type {Record<Side, Map<number, number[]>>} */
    this.partners = { source: new Map(), target: new Map() };
    for (const { source, target } of translation.links) {
      this.partners.source.set(source, [...(this.partners.source.get(source) ?? []), target]);
      this.partners.target.set(target, [...(this.partners.target.get(target) ?? []), source]);
    }
  }

  /** Light up a word and its partners, wherever they stand. @param {Side} side @param {number} index */
  light(side, index) {
    putOut();
    const other = side === "source" ? "target" : "source";
    const partners = [...(this.partners[side].get(index) ?? [])].sort((a, b) => a - b);
    for (const word of elements(side, index)) word.classList.add("active");
    for (const partner of partners) for (const word of elements(other, partner)) word.classList.add("partner");
    byId("readout").replaceChildren(
      this.quoted(side, index),
      ...(partners.length
        ? [" ↔", ...partners.flatMap((partner) => [" ", this.quoted(other, partner)])]
        : [" ", say("word.none")]),
    );
  }

  /** A word in quotation marks, in its language. @param {Side} side @param {number} index */
  quoted(side, index) {
    const quoted = element("span", { textContent: `“${this.tokens[side][index].text}”` });
    return inLanguage(quoted, this.languages[side]);
  }

  /** The source word at a place in the text, or -1. @param {number} caret in code points */
  sourceWordAt(caret) {
    return this.tokens.source.findIndex(({ start, end }) => start <= caret && caret <= end);
  }
}

/** Put all lights out. */
export function putOut() {
  for (const lit of document.querySelectorAll(".active, .partner")) lit.classList.remove("active", "partner");
  byId("readout").replaceChildren();
}

/**
 * Wire pointer, caret and arrow keys to the words of whatever answer stands on the page.
 * @param {() => LinkedWords | null} current
 */
export function watchWords(current) {
  const source = /** @type {HTMLTextAreaElement} */ (byId("source"));
  const output = byId("output");

  /** @param {Element | null | undefined} word */
  const light = (word) => {
    const { side, index } = word instanceof HTMLElement ? word.dataset : {};
    if (side) current()?.light(/** @type {Side} */ (side), Number(index));
    else putOut();
    const why = word?.closest("[data-why]")?.getAttribute("data-why");
    if (why) byId("readout").append(element("span", { className: "reason", textContent: why }));
  };
  /** @param {MouseEvent} event */
  const wordAt = (event) =>
    document
      .elementsFromPoint(event.clientX, event.clientY)
      .find((found) => found instanceof HTMLElement && (found.dataset.side || found.dataset.why));
  for (const place of [source, output, byId("heat")]) {
    place.addEventListener("mousemove", (event) => light(wordAt(event)));
    place.addEventListener("mouseleave", () => light(null));
  }

  const followCaret = () => {
    const words = current();
    if (!words || document.activeElement !== source) return;
    const index = words.sourceWordAt([...source.value.slice(0, source.selectionStart)].length);
    if (index < 0) putOut();
    else words.light("source", index);
  };
  for (const event of ["keyup", "click"]) source.addEventListener(event, followCaret);
  source.addEventListener("blur", () => light(null));

  /** @param {Event} event */
  const wordOf = (event) => (event.target instanceof Element ? event.target.closest(STOP) : null);
  output.addEventListener("focusin", (event) => light(wordOf(event)));
  output.addEventListener("focusout", () => light(null));
  output.addEventListener("click", (event) => /** @type {HTMLElement | null} */ (wordOf(event))?.focus());
  output.addEventListener("keydown", moveFocus);
}

/** Arrow keys, Home and End among the words of the translation. @param {KeyboardEvent} event */
function moveFocus(event) {
  const words = stops(byId("output"));
  const onward = getComputedStyle(byId("output")).direction === "rtl" ? -1 : 1;
  const at = words.findIndex((word) => word === event.target);
  /** @type {Record<string, number>} */
  const moves = {
    ArrowRight: at + onward,
    ArrowDown: at + 1,
    ArrowLeft: at - onward,
    ArrowUp: at - 1,
    Home: 0,
    End: words.length - 1,
  };
  const next = words[moves[event.key]];
  if (at < 0 || !next) return;
  event.preventDefault();
  words[at].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** @param {HTMLElement} output @returns {HTMLElement[]} */
const stops = (output) => [...output.querySelectorAll(/** @type {"button"} */ (STOP))];

/** @param {Side} side @param {number} index */
const elements = (side, index) => document.querySelectorAll(`[data-side="${side}"][data-index="${index}"]`);
