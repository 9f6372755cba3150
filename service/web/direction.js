// Which way to translate: one of the server's pairs, chosen from two lists or told by the text itself. The choice is
// kept in this browser; a button turns it.

import { byId, selectById } from "./dom.js";
import { languageName, sameLanguage } from "./languages.js";
import { recall, remember } from "./storage.js";
import { say } from "./strings.js";

/** @typedef {import("./api.js").Pair} Pair */

export const AUTO = "auto";
const STORED = "passerelle.direction";

/** @type {Pair[]} */
let pairs = [{ source: "en", target: "fr", attention: null }]; // until the server has told
/** @type {Pair} of automatic choice: the pair of the last answer */
let current = pairs[0];
let source = current.source; // as chosen: a language, or AUTO
let target = current.target; // likewise
/** @type {"" | "direction.detected" | "direction.assumed"} how sure the language of the text is; "" before an answer */
let told = "";

/** The pair in use. */
export const direction = () => current;

/** The name of a pair, as "en-fr". */
export const directionName = (/** @type {{ source: string, target: string }} */ pair = current) => `${pair.source}-${pair.target}`;

/** Whether the text tells its language. */
export const isAutomatic = () => source === AUTO;

/** Whether the pair is that of the text: chosen, or told by an answer. */
export const isSettled = () => !isAutomatic() || told !== "";

/** What to ask the server for. @returns {{ source: string, target?: string }} */
export const wanted = () => ({ source, ...(target === AUTO ? {} : { target }) });

/** Languages that are read. */
export const sources = () => [...new Set(pairs.map((pair) => pair.source))];

/** Whether a translation may be in a language, as things are chosen. @param {string} language */
export const mayWrite = (language) =>
  (target === AUTO ? targets() : [target]).some((code) => sameLanguage(code, language));

/** A target for each pair that fits the chosen source. */
const targets = () => pairs.filter((pair) => isAutomatic() || pair.source === source).map((pair) => pair.target);

/** Offer the server's pairs: what was chosen before, if it is there; else the text tells, where it can. @param {Pair[]} offered */
export function offerPairs(offered) {
  pairs = offered;
  const stored = recall(STORED);
  const known = pairs.find((pair) => directionName(pair) === stored);
  current = known ?? pairs[0];
  ({ source, target } = current);
  if (!known && sources().length > 1) {
    source = AUTO;
    target = AUTO;
    const kept = stored?.startsWith(`${AUTO}-`) ? stored.slice(AUTO.length + 1) : AUTO;
    if (targetChoices().includes(kept)) target = kept;
  }
  told = "";
}

/** The way back; null where there is none. */
const back = () => pairs.find((pair) => pair.source === current.target && pair.target === current.source) ?? null;

/** The pair that reads a language and is not in use, to the same language if it can be. @param {string | null} language */
export function pairFrom(language) {
  const found = pairs.filter((pair) => language && sameLanguage(pair.source, language) && pair !== current);
  return found.find((pair) => pair.target === current.target) ?? found[0] ?? null;
}

/** @param {string | undefined} name as of directionName */
export const pairNamed = (name) => pairs.find((pair) => directionName(pair) === name) ?? null;

/** What a pair is called, in the interface's language. @param {{ source: string, target: string }} pair */
export const pairNames = (pair) => ({ source: languageName(pair.source), target: languageName(pair.target) });

/** Translate this way from now on. @param {Pair} pair */
export function turnTo(pair) {
  current = pair;
  choose(pair.source, pair.target);
}

/** The text in the field is another one: its language is not told yet. */
export function unsettle() {
  told = "";
}

/**
 * An answer tells which pair it is of.
 * @param {{ source: string, target: string }} answer
 * @param {boolean} sure whether the text told its language
 * @returns {boolean} whether that is news
 */
export function settle(answer, sure) {
  const found = pairNamed(directionName(answer));
  if (!isAutomatic() || !found) return false;
  const before = `${told} ${directionName()}`;
  current = found;
  told = sure ? "direction.detected" : "direction.assumed";
  return before !== `${told} ${directionName()}`;
}

/** @param {string} from @param {string} to */
function choose(from, to) {
  source = from;
  target = to;
  told = "";
  remember(STORED, source === AUTO && target === AUTO ? AUTO : `${source}-${target}`);
}

/** Of the list of languages to translate to. Where each language has but one, that of the text decides. */
function targetChoices() {
  const reached = targets();
  if (!isAutomatic()) return reached;
  return reached.length === sources().length ? [AUTO] : [AUTO, ...new Set(reached)];
}

/** Write lists, names and the button, in the interface's language. */
export function showDirection() {
  const names = pairNames(current);
  const detected = told ? say(told, { language: names.source }) : say("direction.detect");
  const written = told ? names.target : say("direction.automatic");
  const read = [...(sources().length > 1 ? [AUTO] : []), ...sources()];
  showChoice("source", read, source, (code) => (code === AUTO ? detected : languageName(code)));
  showChoice("target", targetChoices(), target, (code) => (code === AUTO ? written : languageName(code)));
  if (isAutomatic() && !told) byId("source-name").textContent = say("direction.text");
  showTurn();
}

/**
 * A list, or the name alone where there is nothing to choose.
 * @param {"source" | "target"} side
 * @param {string[]} codes
 * @param {string} chosen
 * @param {(code: string) => string} name
 */
function showChoice(side, codes, chosen, name) {
  const list = selectById(`${side}-language`);
  const options = codes.map((code) => new Option(capital(name(code)), code, false, code === chosen));
  list.replaceChildren(...options);
  list.hidden = codes.length < 2;
  byId(`${side}-name`).textContent = capital(name(chosen));
  byId(`${side}-name`).classList.toggle("visually-hidden", !list.hidden);
}

/** @param {string} name */
const capital = (name) => name.charAt(0).toUpperCase() + name.slice(1);

function showTurn() {
  const pair = back();
  const button = byId("swap");
  button.hidden = pair === null;
  if (pair) button.setAttribute("aria-label", say("direction.swap", { pair: say("direction.pair", pairNames(pair)) }));
  button.title = button.getAttribute("aria-label") ?? "";
}

/**
 * Wire the button and the lists.
 * @param {(pair: Pair) => void} turn
 * @param {() => void} changed another choice from the lists
 */
export function watchDirection(turn, changed) {
  byId("swap").addEventListener("click", () => {
    const pair = back();
    if (pair) turn(pair);
  });
  selectById("source-language").addEventListener("change", () => {
    const chosen = selectById("source-language").value;
    if (chosen === AUTO) choose(AUTO, AUTO);
    else {
      const from = pairs.filter((pair) => pair.source === chosen);
      turnTo(from.find((pair) => pair.target === current.target) ?? from[0]);
    }
    changed();
  });
  selectById("target-language").addEventListener("change", () => {
    const chosen = selectById("target-language").value;
    const pair = pairs.find((one) => one.source === source && one.target === chosen);
    if (pair) turnTo(pair);
    else choose(AUTO, chosen);
    changed();
  });
}
