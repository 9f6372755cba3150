// Translate as one types: wait for a pause, ask the server, show only the answer to what now stands there.

import { clearAnswer, PartialAnswer, plainMirror, scrollMirror, ShownAnswer } from "./answer.js";
import { abilities, ProblemError, translate, useKey } from "./api.js";
import * as ways from "./direction.js";
import { direction } from "./direction.js";
import { offerDocuments, watchDocuments } from "./documents.js";
import { byId, element, inputById, selectById } from "./dom.js";
import { glossaryTerms, showGlossary, watchGlossary } from "./glossary.js";
import { offerEveryHead } from "./every_head.js";
import { offerHeads } from "./heatmap.js";
import { inLanguage, learnNames, sameLanguage } from "./languages.js";
import { forgetSoon, keepSoon, showPast, watchPast } from "./past.js";
import { linkTo, takeLinked } from "./share.js";
import { chosenMemory, learnMemories, offerMemories, watchMemories } from "./memories.js";
import { offerMemoryFiles, watchMemoryFiles } from "./memory_files.js";
import { watchKeys } from "./shortcuts.js";
import * as speech from "./speech.js";
import { repeatStatus, tell } from "./status.js";
import { recall, remember, tab } from "./storage.js";
import { formatNumber, language, preferredLanguage, rememberLanguage, say, useLanguage, writePage } from "./strings.js";
import { watchChoices } from "./word_choices.js";
import { watchWords } from "./words.js";

/** @typedef {import("./api.js").Abilities} Abilities */
/** @typedef {import("./strings.js").Language} Language */

const PAUSE_MS = 300; // after the last key
const CALM_MS = 500; // before "Translating…" appears
const LONGEST_WAIT_MS = 15_000; // between two tries to reach the server
const TEXT = "passerelle.text";
const TYPOGRAPHY = "passerelle.typography";
/** @type {Record<string, string[]>} */
const EXAMPLES = {
  en: ["Two young men are playing football in the park.", "Where is the train station?"],
  fr: ["Deux jeunes hommes jouent au football dans le parc.", "Où est la gare ?"],
};

const source = /** @type {HTMLTextAreaElement} */ (byId("source"));

/** @type {Abilities} what the server can do; until it has told, the least */
let server = {
  pairs: [direction()],
  languages: [],
  limits: { text_characters: Infinity, heads_characters: 0 },
  documents: null,
  translation_memories: null,
};
let isKnown = false; // what the server can do
let tries = 0; // to reach the server, in vain
let timer = 0;
let calmTimer = 0;
/** @type {AbortController | null} of the request in flight */
let request = null;
/** @type {ShownAnswer | null} */
let shown = null;
/** @type {string[]} how the translation of each sentence of the text begins; empty: as the model decides */
let prefixes = [];

function textChanged() {
  remember(TEXT, source.value, tab);
  plainMirror(source.value);
  shown = null;
  prefixes = [];
  forgetSoon();
  byId("output").classList.add("stale");
  byId("output").removeAttribute("aria-busy");
  byId("examples").hidden = source.value !== "";
  byId("clear").hidden = source.value === "";
  clearTimeout(timer);
  clearTimeout(calmTimer);
  request?.abort(); // an answer to older text is of no use
  request = null;
  if (isWithinLimit()) timer = setTimeout(ask, PAUSE_MS);
  else {
    clearAnswer(); // of an earlier text
    tell(() => "");
  }
}

function isWithinLimit() {
  const limit = server.limits.text_characters;
  const length = [...source.value].length;
  const over = length > limit;
  const values = { n: formatNumber(length), limit: formatNumber(limit) };
  byId("count").textContent = length && Number.isFinite(limit) ? say("text.count", values) : "";
  byId("count").classList.toggle("over", over);
  source.setAttribute("aria-invalid", String(over));
  const problem = over ? say("text.too_long", values) : "";
  if (byId("source-problem").textContent !== problem) byId("source-problem").textContent = problem;
  return !over;
}

async function ask() {
  const text = source.value;
  if (!text.trim()) {
    clearAnswer();
    ways.unsettle();
    dress();
    tell(() => "");
    return;
  }
  const own = (request = new AbortController());
  byId("output").setAttribute("aria-busy", "true");
  const started = performance.now();
  try {
    const asked = question(text);
    const partial = new PartialAnswer(text);
    const showPartial = () => {
      if (own !== request || performance.now() - started < CALM_MS) return; // soon all of it may be there
      partial.show();
      tell(() => (partial.n ? say("status.sentences", { n: partial.n, total: partial.total }) : say("status.translating")));
    };
    calmTimer = setTimeout(showPartial, CALM_MS);
    const { translations, model, ...pair } = await translate(asked, own.signal, (sentence) => {
      partial.add(sentence);
      showPartial();
    });
    if (own !== request) return; // stale
    tries = 0;
    if (ways.settle(pair, !translations[0].flags.some(({ kind }) => kind === "unknown_source_language"))) {
      speak(language());
      if (JSON.stringify(question(text)) !== JSON.stringify(asked)) return ask(); // this way has a glossary of its own
    }
    shown = new ShownAnswer({ ...asked, ...pair }, translations[0], direction());
    shown.show();
    keepSoon({ text, translation: shown.translation.text, source: direction().source, target: direction().target });
    const seconds = (performance.now() - started) / 1000;
    const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
    tell(() => say("status.done", { seconds: formatNumber(seconds, digits), model }));
  } catch (error) {
    if (own === request) explain(error);
  } finally {
    if (own === request) {
      clearTimeout(calmTimer);
      byId("output").removeAttribute("aria-busy");
    }
  }
}

/** @param {string} text @returns {import("./api.js").Question} */
function question(text) {
  const nBest = Number(selectById("n-best").value);
  const beamSize = Number(selectById("beam-size").value);
  const memory = ways.isSettled() ? chosenMemory() : "";
  const terms = ways.isSettled() ? glossaryTerms() : []; // else they may be of the other direction
  return {
    text,
    ...ways.wanted(),
    alignment: "soft",
    n_best: nBest,
    ...(beamSize ? { beam_size: Math.max(beamSize, nBest) } : {}),
    ...(terms.length ? { glossary: terms } : {}),
    ...(memory ? { translation_memory: memory } : {}),
    ...(prefixes.length ? { prefix: prefixes } : {}),
    ...(writesFrench() && inputById("typography").checked ? { french_typography: true } : {}),
  };
}

const writesFrench = () => ways.isSettled() && sameLanguage(direction().target, "fr");

/** Copy the translation. */
async function copy() {
  if (shown) await toClipboard(shown.translation.text, "status.copied");
}

/** @param {string} text @param {"status.copied" | "status.linked"} done what to say then */
async function toClipboard(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    tell(() => say(done));
  } catch {
    tell(() => say("status.copy_refused"), "error");
  }
}

/** Try again, after ever longer waits, until the server is back. */
function tryAgain() {
  tell(() => say("status.away"), "error");
  clearTimeout(timer);
  timer = setTimeout(reach, Math.min(1000 * 2 ** tries, LONGEST_WAIT_MS));
  tries += 1;
}

async function reach() {
  if (isKnown || (await learnAbilities())) await ask();
}

/** @param {unknown} error @returns {boolean} whether no server answered, or only what stands before it */
const isAway = (error) => !(error instanceof ProblemError) || error.status === 502;

/** @param {unknown} error */
function explain(error) {
  if (!(error instanceof ProblemError) || isAway(error)) {
    tryAgain();
    return;
  }
  tries = 0;
  const { status, retryAfter, message } = error;
  if (status === 401 || status === 403) askForKey();
  if (retryAfter > 0) {
    tell(() => say("status.busy", { seconds: retryAfter }));
    timer = setTimeout(ask, 1000 * retryAfter);
  } else {
    tell(() => message || say("status.failed", { status }), "error");
  }
}

function askForKey() {
  byId("key-form").hidden = false;
  inputById("key").focus();
}

/** Write the page in a language; what stands on it stays. @param {Language} code */
function speak(code) {
  selectById("language").value = code;
  useLanguage(code);
  writePage(ways.pairNames(direction()));
  dress();
  offerHeads(direction().attention);
  offerEveryHead(server.limits.heads_characters);
  offerDocuments(server.documents);
  showGlossary();
  offerMemories(direction());
  offerMemoryFiles(server.translation_memories);
  showPast();
  shown?.tell();
  isWithinLimit();
  repeatStatus();
}

/** Languages, examples and options of the pair in use. */
function dress() {
  const pair = direction();
  const isOpen = ways.isAutomatic();
  ways.showDirection();
  if (isOpen) source.placeholder = say("text.placeholder_any");
  for (const id of ["source", "mirror"]) inLanguage(byId(id), isOpen ? "" : pair.source);
  inLanguage(byId("glossary-source"), pair.source);
  for (const id of ["output", "alternatives", "glossary-target"]) inLanguage(byId(id), pair.target);
  byId("typography-choice").hidden = !ways.mayWrite("fr");
  const examples = isOpen
    ? ways.sources().map((code) => ({ lang: code, texts: EXAMPLES[code]?.slice(0, 1) ?? [] }))
    : [{ lang: pair.source, texts: EXAMPLES[pair.source] ?? [] }];
  byId("examples").replaceChildren(
    ...examples.flatMap(({ lang, texts }) =>
      texts.map((textContent) => element("button", { type: "button", className: "chip", lang, textContent })),
    ),
  );
}

/** @param {string} text */
function setText(text) {
  source.value = text;
  source.focus();
  textChanged();
}

/**
 * Translate another way what then stands in the text field.
 * @param {import("./api.js").Pair | null} pair null: the one that was just chosen
 * @param {string} text
 */
function turn(pair, text) {
  if (pair) ways.turnTo(pair);
  clearAnswer();
  source.value = text;
  speak(language());
  textChanged();
}

/** Ask the server what it can do. @returns {Promise<boolean>} whether it told */
async function learnAbilities() {
  try {
    const [told] = await Promise.all([abilities(), learnMemories()]);
    server = { ...server, ...told };
    isKnown = true;
    learnNames(server.languages);
    ways.offerPairs(server.pairs);
  } catch (error) {
    // Without knowing the limits the page still works: the server says what is too long.
    if (isAway(error)) tryAgain();
    else if (error instanceof ProblemError && (error.status === 401 || error.status === 403)) askForKey();
  }
  speak(preferredLanguage());
  return isKnown;
}

source.addEventListener("input", textChanged);
source.addEventListener("scroll", scrollMirror);
byId("clear").addEventListener("click", () => setText(""));
byId("examples").addEventListener("click", (event) => {
  if (event.target instanceof HTMLButtonElement) setText(event.target.textContent ?? "");
});
inputById("typography").checked = recall(TYPOGRAPHY) === "yes";
inputById("typography").addEventListener("change", () => remember(TYPOGRAPHY, inputById("typography").checked ? "yes" : "no"));
for (const id of ["n-best", "beam-size", "typography"]) byId(id).addEventListener("change", textChanged);
byId("copy").addEventListener("click", () => copy());
byId("share").addEventListener("click", async () => {
  if (!shown) return;
  const link = linkTo(shown.text, shown.languages);
  if (link === null) tell(() => say("status.link_too_long"), "error");
  else await toClipboard(link, "status.linked");
});
byId("listen").addEventListener("click", () => {
  if (shown) speech.speak(shown.translation.text, shown.languages.target);
});
speech.watchVoices(() => {
  byId("listen").hidden = !shown || !speech.canSpeak(shown.languages.target);
});
watchKeys({
  enter: () => {
    clearTimeout(timer);
    if (isWithinLimit()) ask();
  },
  "shift+x": () => byId("swap").click(),
  "shift+y": () => copy(),
  "shift+l": () => source.focus(),
});
watchPast(({ text, source: read, target }) => {
  const pair = ways.pairNamed(`${read}-${target}`);
  turn(pair, text);
  source.focus();
});
selectById("language").addEventListener("change", () => {
  const chosen = /** @type {Language} */ (selectById("language").value);
  rememberLanguage(chosen);
  speak(chosen);
});
byId("key-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  useKey(inputById("key").value);
  byId("key-form").hidden = true;
  await learnAbilities();
  textChanged();
});
ways.watchDirection(
  (pair) => turn(pair, shown?.translation.text ?? source.value), // what was written is read next
  () => turn(null, source.value),
);
byId("notices").addEventListener("mousedown", (event) => {
  event.preventDefault(); // a word that lost the focus before the click would move what is below it
});
byId("notices").addEventListener("click", (event) => {
  if (event.target instanceof HTMLElement && "undo" in event.target.dataset) {
    byId("output").focus(); // the button that has the focus will be gone
    prefixes = [];
    ask();
    return;
  }
  const pair = event.target instanceof HTMLElement ? ways.pairNamed(event.target.dataset.turn) : null;
  if (!pair) return;
  turn(pair, source.value);
  source.focus(); // the button that had the focus is gone
});
watchWords(() => shown?.words ?? null);
watchChoices(() => shown, async (sentence, prefix) => {
  if (!shown) return;
  const { sentences } = shown.translation;
  prefixes = sentences.map((_, i) => (i === sentence ? prefix : (prefixes[i] ?? "")));
  byId("output").classList.add("stale");
  await ask();
});
watchGlossary(textChanged);
watchMemories(textChanged);
watchMemoryFiles(() => {
  offerMemories(direction());
  textChanged();
});
watchDocuments();
addEventListener("online", () => {
  if (tries) reach();
});
speak(preferredLanguage());
const linked = takeLinked();
source.value ||= linked?.text ?? recall(TEXT, tab) ?? ""; // what was typed before the page was ready goes first
await learnAbilities();
const linkedPair = linked ? ways.pairNamed(linked.name) : null;
if (linkedPair) turn(linkedPair, source.value);
else if (source.value) textChanged();
navigator.serviceWorker?.register("worker.js").catch(() => {}); // without it the page needs a network
