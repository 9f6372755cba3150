// The translation memories of the key: one may be chosen for each direction, and what it had stands after its sentence.

import { memories } from "./api.js";
import { directionName } from "./direction.js";
import { byId, element, selectById } from "./dom.js";
import { sameLanguage } from "./languages.js";
import { nodesOf } from "./sentences.js";
import { recall, remember } from "./storage.js";
import { formatNumber, say } from "./strings.js";

/** @typedef {import("./api.js").Memory} Memory */
/** @typedef {import("./api.js").Translation} Translation */

/** @param {{ source: string, target: string }} [pair] */
const place = (pair) => `passerelle.memory.${directionName(pair)}`;

/** @type {Memory[]} */
let known = [];

/** The id of the memory in use; "" where there is none. */
export const chosenMemory = () => selectById("memory").value;

/** Ask the server which there are; a server that does not tell has none. */
export async function learnMemories() {
  try {
    ({ memories: known } = await memories());
  } catch {
    known = [];
  }
}

/** One that has just been made is in use for its direction. @param {Memory} memory @param {{ source: string, target: string }} pair */
export function useMemory(memory, pair) {
  known = [...known, memory];
  remember(place(pair), memory.id);
}

/** Offer those of a direction, in the interface's language. @param {{ source: string, target: string }} pair */
export function offerMemories(pair) {
  const fitting = known.filter(({ source, target }) => sameLanguage(source, pair.source) && sameLanguage(target, pair.target));
  const stored = recall(place());
  const list = selectById("memory");
  byId("memory-choice").hidden = fitting.length === 0;
  list.replaceChildren(
    new Option(say("memory.none"), ""),
    ...fitting.map(({ id, name, units }) => new Option(say("memory.item", { name, n: formatNumber(units) }), id)),
  );
  list.value = fitting.some(({ id }) => id === stored) ? (stored ?? "") : "";
}

/** @param {() => void} changed called when another one is chosen */
export function watchMemories(changed) {
  byId("memory").addEventListener("change", () => {
    remember(place(), chosenMemory());
    changed();
  });
}

/** A mark after each sentence that the memory had something for. @param {HTMLElement} output filled @param {Translation} translation */
export function markUnits(output, translation) {
  translation.memory.forEach(({ sentence, use }, index) => {
    const mark = element("button", { type: "button", className: `unit ${use}`, tabIndex: -1 });
    mark.dataset.unit = String(index);
    const inside = nodesOf(output, translation.text, translation.sentences[sentence].target);
    const last = inside[inside.length - 1];
    if (last) last.after(mark);
    else output.append(mark);
  });
  nameUnits(output, translation);
}

/** Write what the marks say, in the language of the interface. @param {HTMLElement} output @param {Translation} translation */
export function nameUnits(output, translation) {
  for (const mark of /** @type {NodeListOf<HTMLElement>} */ (output.querySelectorAll(".unit"))) {
    const { use, score, source, target } = translation.memory[Number(mark.dataset.unit)];
    const percent = formatNumber(Math.floor(100 * score));
    const why = say(`memory.${use}`, { percent, source, target });
    mark.dataset.score = say("choices.probability", { percent });
    mark.dataset.why = mark.title = why;
    mark.setAttribute("aria-label", why);
  }
}
