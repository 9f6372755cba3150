// The reader's own glossary: pairs of a term and its translation, kept in this browser and sent with each text.
// Each direction has its own.

import { directionName } from "./direction.js";
import { byId, element, inputById } from "./dom.js";
import { recall, remember } from "./storage.js";
import { say } from "./strings.js";

/** @typedef {{ source: string, target: string }} Term */

const FIRST = "en-fr"; // whose terms are kept without the name of a direction

const place = () => "passerelle.glossary" + (directionName() === FIRST ? "" : `.${directionName()}`);

/** @type {Term[]} */
let terms = [];
let changed = () => {};

/** The pairs to send. */
export const glossaryTerms = () => terms;

/** Wire the glossary's form. @param {() => void} whenChanged */
export function watchGlossary(whenChanged) {
  changed = whenChanged;
  byId("glossary-form").addEventListener("submit", (event) => {
    event.preventDefault();
    add();
  });
}

/** Draw the list of the direction in use, in the language of the interface. */
export function showGlossary() {
  terms = parse(recall(place()));
  byId("glossary-list").replaceChildren(...terms.map(item));
  byId("glossary-list").hidden = terms.length === 0;
}

function add() {
  const source = inputById("glossary-source");
  const target = inputById("glossary-target");
  const term = { source: source.value.trim(), target: target.value.trim() };
  if (!term.source || !term.target) {
    tell(say("glossary.incomplete"));
    (term.source ? target : source).focus();
    return;
  }
  terms = [...terms.filter((other) => other.source !== term.source), term];
  source.value = target.value = "";
  save(say("glossary.added", { term: term.source }));
  source.focus();
}

/** @param {Term} term */
function item(term) {
  const remove = element("button", { type: "button", className: "quiet", textContent: "×" });
  remove.setAttribute("aria-label", say("glossary.remove", { term: term.source }));
  remove.addEventListener("click", () => {
    terms = terms.filter((other) => other !== term);
    save(say("glossary.removed", { term: term.source }));
    inputById("glossary-source").focus(); // the button that had the focus is gone
  });
  return element("li", {}, element("span", { textContent: `${term.source} → ${term.target}` }), remove);
}

/** @param {string} message */
function save(message) {
  remember(place(), JSON.stringify(terms));
  showGlossary();
  tell(message);
  changed();
}

/** @param {string} message */
function tell(message) {
  byId("glossary-status").textContent = message;
}

/** What was stored; anything else than pairs of strings is no glossary. @param {string | null} stored @returns {Term[]} */
function parse(stored) {
  try {
    /** @type {unknown} */
    const found = JSON.parse(stored ?? "[]");
    return Array.isArray(found) ? found.filter(isTerm) : [];
  } catch {
    return [];
  }
}

/** @param {any} value @returns {value is Term} */
const isTerm = (value) => typeof value?.source === "string" && typeof value?.target === "string";
