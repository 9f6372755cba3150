// Which way to translate: one of the server's pairs. The choice is kept in this browser; a button turns it.

import { byId } from "./dom.js";
import { recall, remember } from "./storage.js";
import { languageName, say } from "./strings.js";

/** @typedef {import("./api.js").Pair} Pair */

const STORED = "passerelle.direction";

/** @type {Pair[]} */
let pairs = [{ source: "en", target: "fr", attention: null }]; // until the server has told
/** @type {Pair} */
let current = pairs[0];

/** @param {Pair} pair */
const nameOf = ({ source, target }) => `${source}-${target}`;

/** The pair in use. */
export const direction = () => current;

/** Its name, as "en-fr". */
export const directionName = () => nameOf(current);

/** Offer the server's pairs: the one chosen before, if it is there, or else the first. @param {Pair[]} offered */
export function offerPairs(offered) {
  pairs = offered;
  const stored = recall(STORED);
  current = pairs.find((pair) => nameOf(pair) === stored) ?? pairs[0];
}

/** The pair that the button goes to: the way back, or the next of several; null where there is one pair only. */
function other() {
  const back = pairs.find(({ source, target }) => source === current.target && target === current.source);
  const next = pairs[(pairs.indexOf(current) + 1) % pairs.length];
  const found = back ?? next;
  return found === current ? null : found;
}

/** The pair that reads a language and is not in use, if any. @param {string | null} source */
export const pairFrom = (source) => pairs.find((pair) => pair.source === source && pair !== current) ?? null;

/** What a pair is called, in the interface's language. @param {Pair} pair */
export const pairNames = ({ source, target }) => ({ source: languageName(source), target: languageName(target) });

/** Translate this way from now on. @param {Pair} pair */
export function turnTo(pair) {
  current = pair;
  remember(STORED, nameOf(pair));
}

/** Name the button, in the interface's language; hide it where there is nothing to turn to. */
export function showTurn() {
  const pair = other();
  const button = byId("swap");
  button.hidden = pair === null;
  if (pair) button.setAttribute("aria-label", say("direction.swap", { pair: say("direction.pair", pairNames(pair)) }));
  button.title = button.getAttribute("aria-label") ?? "";
}

/** Wire the button. @param {(pair: Pair) => void} turn */
export function watchTurn(turn) {
  byId("swap").addEventListener("click", () => {
    const pair = other();
    if (pair) turn(pair);
  });
}
