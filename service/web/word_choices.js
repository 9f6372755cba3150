// Other words for one of the translation: a click or Enter on it opens a list; what is chosen there begins the
// sentence anew.

import { alternativesAt, ProblemError } from "./api.js";
import { byId, element } from "./dom.js";
import { inLanguage } from "./languages.js";
import { tell } from "./status.js";
import { formatNumber, say } from "./strings.js";

/** @typedef {import("./answer.js").ShownAnswer} ShownAnswer */
/** @typedef {import("./api.js").NextWord} NextWord */
/** @typedef {(sentence: number, prefix: string) => Promise<void>} Choose */

const COUNT = 6; // words in the list
const GAP = 6; // pixels between the word and the list

/** @type {HTMLElement | null} the word that the list is of */
let opened = null;
/** @type {AbortController | null} */
let asking = null;

/** Close the list. @param {boolean} back whether the word gets the focus */
export function closeChoices(back = false) {
  asking?.abort();
  asking = null;
  const word = opened;
  opened = null;
  word?.classList.remove("choosing");
  byId("choices").hidden = true;
  byId("choices").replaceChildren();
  byId("choices-status").textContent = "";
  if (back) word?.focus();
}

/**
 * Wire the words of whatever answer stands on the page.
 * @param {() => ShownAnswer | null} current
 * @param {Choose} choose called with a sentence and how its translation is to begin
 */
export function watchChoices(current, choose) {
  const output = byId("output");
  const list = byId("choices");

  /** @param {Event} event @returns {HTMLElement | null} */
  const wordOf = (event) => (event.target instanceof Element ? event.target.closest(".word") : null);
  /** @param {HTMLElement | null} word */
  const toggle = (word) => {
    const again = word === opened;
    closeChoices(again);
    const answer = current();
    if (word && answer && !again) open(word, answer);
  };
  /** @param {HTMLElement} option */
  const take = async (option) => {
    const [sentence, prefix] = [Number(option.dataset.sentence), option.dataset.prefix ?? ""];
    const n = Array.from(prefix).length;
    closeChoices();
    output.focus(); // the word that had the focus will be gone
    await choose(sentence, prefix);
    if (document.activeElement === output) focusWord(current(), sentence, n);
  };

  output.addEventListener("click", (event) => {
    if (getSelection()?.isCollapsed ?? true) toggle(wordOf(event));
  });
  output.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      const word = wordOf(event);
      if (!word) return;
      event.preventDefault();
      toggle(word);
    } else if (event.key === "Escape") closeChoices();
  });
  list.addEventListener("click", (event) => {
    const option = event.target instanceof Element ? event.target.closest("button") : null;
    if (option) take(option);
  });
  list.addEventListener("keydown", moveOrClose);
  list.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !list.contains(relatedTarget)) closeChoices();
  });
  document.addEventListener("pointerdown", ({ target }) => {
    if (target instanceof Node && !list.contains(target) && !output.contains(target)) closeChoices();
  });
  addEventListener("resize", () => closeChoices());
}

/** @param {HTMLElement} word @param {ShownAnswer} answer */
async function open(word, answer) {
  const { translation, languages, question } = answer;
  const index = Number(word.dataset.index);
  const token = translation.target_tokens[index];
  const sentence = translation.sentences.findIndex(({ target_tokens: own }) => own.start <= index && index < own.end);
  if (sentence < 0) return;
  const { source, target } = translation.sentences[sentence];
  const own = (asking = new AbortController());
  opened = word;
  word.classList.add("choosing");
  byId("choices-status").textContent = say("choices.loading");
  const asked = {
    text: Array.from(answer.text).slice(source.start, source.end).join(""),
    source: languages.source,
    target: languages.target,
    prefix: Array.from(translation.text).slice(target.start, token.start).join(""),
    count: COUNT,
    ...(question.french_typography ? { french_typography: true } : {}),
  };
  try {
    const { alternatives } = await alternativesAt(asked, own.signal);
    if (own.signal.aborted) return;
    if (alternatives.length) fill(word, token.text, alternatives, sentence, languages.target);
    else nothing();
  } catch (error) {
    if (own.signal.aborted) return;
    if (error instanceof ProblemError && error.status === 422) nothing();
    else {
      closeChoices();
      tell(() => (error instanceof ProblemError && error.message) || say("status.unreachable"), "error");
    }
  }
}

function nothing() {
  closeChoices();
  tell(() => say("choices.none"));
}

/** @param {HTMLElement} word @param {string} text of it @param {NextWord[]} alternatives @param {number} sentence @param {string} target */
function fill(word, text, alternatives, sentence, target) {
  const list = byId("choices");
  const options = alternatives.map((alternative) => {
    const percent = alternative.probability < 0.01 ? "< 1" : formatNumber(Math.round(100 * alternative.probability));
    const option = element(
      "button",
      { type: "button", tabIndex: -1 },
      inLanguage(element("span", { textContent: alternative.text }), target),
      element("span", { className: "score", textContent: say("choices.probability", { percent }) }),
    );
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", String(alternative.text === text));
    option.dataset.sentence = String(sentence);
    option.dataset.prefix = alternative.prefix;
    return option;
  });
  list.setAttribute("aria-label", say("choices.name", { word: text }));
  list.replaceChildren(...options);
  list.hidden = false;
  place(list, word);
  byId("choices-status").textContent = say("choices.ready", { n: options.length });
  if (document.activeElement === word) focusOption(options, Math.max(0, options.findIndex((option) => option.ariaSelected === "true")));
}

/** Under the word, or over it where there is no room; within the window. @param {HTMLElement} list @param {HTMLElement} word */
function place(list, word) {
  const at = word.getClientRects()[0] ?? word.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const left = Math.max(GAP, Math.min(at.left, document.documentElement.clientWidth - width - GAP));
  const below = at.bottom + GAP;
  const above = at.top - GAP - height;
  const top = below + height > innerHeight && above > 0 ? above : below;
  list.style.setProperty("left", `${left + scrollX}px`);
  list.style.setProperty("top", `${top + scrollY}px`);
}

/** @param {HTMLElement[]} options @param {number} at */
function focusOption(options, at) {
  for (const option of options) option.tabIndex = -1;
  options[at].tabIndex = 0;
  options[at].focus({ preventScroll: false });
}

/** Arrow keys, Home and End in the list; Escape and Tab leave it. @param {KeyboardEvent} event */
function moveOrClose(event) {
  const options = /** @type {HTMLElement[]} */ ([...byId("choices").children]);
  const at = options.findIndex((option) => option === event.target);
  if (event.key === "Escape" || event.key === "Tab") {
    if (event.key === "Escape") event.preventDefault();
    closeChoices(true); // Tab goes on from the word
    return;
  }
  /** @type {Record<string, number>} */
  const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: options.length - 1 };
  const next = moves[event.key];
  if (next === undefined) return;
  event.preventDefault();
  if (options[next]) focusOption(options, next);
}

/** The focus to the last word of a beginning. @param {ShownAnswer | null} answer @param {number} sentence @param {number} n characters of the beginning */
function focusWord(answer, sentence, n) {
  if (!answer) return;
  const end = answer.translation.sentences[sentence].target.start + n;
  const index = answer.translation.target_tokens.findIndex((token) => token.end === end);
  const words = /** @type {NodeListOf<HTMLElement>} */ (byId("output").querySelectorAll(".word"));
  for (const word of words) word.tabIndex = -1;
  const word = words[Math.max(0, index)];
  if (!word) return;
  word.tabIndex = 0;
  word.focus();
}
