// What was translated before: kept in this browser only, and only if one asks for it.

import { byId, element, inputById } from "./dom.js";
import { inLanguage } from "./languages.js";
import { recall, remember } from "./storage.js";
import { say } from "./strings.js";

/** @typedef {{ text: string, translation: string, source: string, target: string }} Entry */

const KEY = "passerelle.history";
const WANTED = "passerelle.history.wanted";
const MOST = 50;
const LONGEST = 1000; // characters of a text that is kept
const SHOWN = 80; // of one in the list
const SETTLED_MS = 2000; // without another key: the text is no beginning of another

let timer = 0;

/** @returns {Entry[]} the newest first */
function entries() {
  try {
    const found = JSON.parse(recall(KEY) ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

const isWanted = () => recall(WANTED) === "yes";

/** Keep a translation, unless another text comes soon. @param {Entry} entry */
export function keepSoon(entry) {
  forgetSoon();
  if (isWanted() && entry.text.length <= LONGEST) timer = setTimeout(() => keep(entry), SETTLED_MS);
}

/** The text has changed. */
export const forgetSoon = () => clearTimeout(timer);

/** @param {Entry} entry */
function keep(entry) {
  const others = entries().filter(({ text, source, target }) => text !== entry.text || source !== entry.source || target !== entry.target);
  remember(KEY, JSON.stringify([entry, ...others].slice(0, MOST)));
  showPast();
}

/** Write the list, in the language of the interface. */
export function showPast() {
  inputById("past-wanted").checked = isWanted();
  const kept = entries();
  byId("past-list").hidden = kept.length === 0;
  byId("past-clear").hidden = kept.length === 0;
  byId("past-list").replaceChildren(
    ...kept.map(({ text, translation, source, target }, index) => {
      const open = element(
        "button",
        { type: "button", className: "past" },
        inLanguage(element("span", { textContent: shortened(text) }), source),
        inLanguage(element("span", { className: "past-translation", textContent: shortened(translation) }), target),
      );
      open.dataset.index = String(index);
      return element("li", {}, open);
    }),
  );
}

/** @param {string} text */
const shortened = (text) => {
  const characters = Array.from(text);
  return characters.length > SHOWN ? `${characters.slice(0, SHOWN).join("")}…` : text;
};

/** @param {(entry: Entry) => void} open called with the entry that was chosen */
export function watchPast(open) {
  byId("past-list").addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    const entry = button && entries()[Number(button.dataset.index)];
    if (entry) open(entry);
  });
  byId("past-wanted").addEventListener("change", () => {
    remember(WANTED, inputById("past-wanted").checked ? "yes" : "no");
    if (!isWanted()) clear();
  });
  byId("past-clear").addEventListener("click", () => {
    clear();
    byId("past-wanted").focus(); // the button that had the focus is gone
    byId("past-status").textContent = say("past.cleared");
  });
}

function clear() {
  forgetSoon();
  remember(KEY, "[]");
  showPast();
}
