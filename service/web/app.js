// Translate as one types: wait for a pause, ask the server, show only the answer to what now stands there.

import { clearAnswer, PartialAnswer, plainMirror, ShownAnswer } from "./answer.js";
import { abilities, ProblemError, translate, useKey } from "./api.js";
import { direction, offerPairs, pairFrom, pairNames, showTurn, turnTo, watchTurn } from "./direction.js";
import { offerDocuments, watchDocuments } from "./documents.js";
import { byId, element, inputById, selectById } from "./dom.js";
import { glossaryTerms, showGlossary, watchGlossary } from "./glossary.js";
import { offerEveryHead } from "./every_head.js";
import { offerHeads } from "./heatmap.js";
import { formatNumber, language, preferredLanguage, rememberLanguage, say, useLanguage, writePage } from "./strings.js";
import { watchWords } from "./words.js";

/** @typedef {import("./api.js").Abilities} Abilities */
/** @typedef {import("./strings.js").Language} Language */

const PAUSE_MS = 300; // after the last key
const CALM_MS = 500; // before "Translating…" appears
/** @type {Record<string, string[]>} */
const EXAMPLES = {
  en: ["Two young men are playing football in the park.", "Where is the train station?"],
  fr: ["Deux jeunes hommes jouent au football dans le parc.", "Où est la gare ?"],
};

const source = /** @type {HTMLTextAreaElement} */ (byId("source"));

/** @type {Abilities} what the server can do; until it has told, the least */
let server = {
  pairs: [direction()],
  limits: { text_characters: Infinity, heads_characters: 0 },
  documents: null,
};
let timer = 0;
let calmTimer = 0;
/** @type {AbortController | null} of the request in flight */
let request = null;
/** @type {ShownAnswer | null} */
let shown = null;
/** @type {() => void} writes the status line again, in another language say */
let repeatStatus = () => {};

function textChanged() {
  plainMirror(source.value);
  shown = null;
  byId("output").classList.add("stale");
  byId("output").removeAttribute("aria-busy");
  byId("examples").hidden = source.value !== "";
  byId("clear").hidden = source.value === "";
  clearTimeout(timer);
  clearTimeout(calmTimer);
  request?.abort(); // an answer to older text is of no use
  request = null;
  if (isWithinLimit()) timer = setTimeout(ask, PAUSE_MS);
}

function isWithinLimit() {
  const limit = server.limits.text_characters;
  const length = [...source.value].length;
  const over = length > limit;
  const values = { n: formatNumber(length), limit: formatNumber(limit) };
  byId("count").textContent = length && Number.isFinite(limit) ? say("text.count", values) : "";
  byId("count").classList.toggle("over", over);
  source.setAttribute("aria-invalid", String(over));
  if (over) tell(() => say("text.too_long", values), "error");
  return !over;
}

async function ask() {
  const text = source.value;
  if (!text.trim()) {
    clearAnswer();
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
    const { translations, model } = await translate(asked, own.signal, (sentence) => {
      partial.add(sentence);
      showPartial();
    });
    if (own !== request) return; // stale
    shown = new ShownAnswer(asked, translations[0], direction());
    shown.show();
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
  const terms = glossaryTerms();
  return {
    text,
    source: direction().source,
    target: direction().target,
    alignment: "soft",
    n_best: nBest,
    ...(beamSize ? { beam_size: Math.max(beamSize, nBest) } : {}),
    ...(terms.length ? { glossary: terms } : {}),
  };
}

/** @param {unknown} error */
function explain(error) {
  if (!(error instanceof ProblemError)) {
    tell(() => say("status.unreachable"), "error");
    return;
  }
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

/** @param {() => string} message in the interface's language whenever it is asked @param {string} kind */
function tell(message, kind = "") {
  clearTimeout(calmTimer);
  repeatStatus = () => {
    byId("status").textContent = message();
    byId("status").className = `status ${kind}`;
  };
  repeatStatus();
}

/** Write the page in a language; what stands on it stays. @param {Language} code */
function speak(code) {
  const pair = direction();
  selectById("language").value = code;
  useLanguage(code);
  const names = pairNames(pair);
  writePage(names);
  for (const [id, side] of /** @type {const} */ ([["source-name", "source"], ["target-name", "target"]])) {
    const name = names[side];
    byId(id).textContent = name.charAt(0).toUpperCase() + name.slice(1);
  }
  for (const id of ["source", "mirror", "glossary-source"]) byId(id).lang = pair.source;
  for (const id of ["output", "alternatives", "glossary-target"]) byId(id).lang = pair.target;
  byId("examples").replaceChildren(
    ...(EXAMPLES[pair.source] ?? []).map((textContent) =>
      element("button", { type: "button", className: "chip", lang: pair.source, textContent }),
    ),
  );
  showTurn();
  offerHeads(pair.attention);
  offerEveryHead(server.limits.heads_characters);
  offerDocuments(server.documents);
  showGlossary();
  shown?.tell();
  isWithinLimit();
  repeatStatus();
}

/** @param {string} text */
function setText(text) {
  source.value = text;
  source.focus();
  textChanged();
}

/** Translate another way, what then stands in the text field. @param {import("./api.js").Pair} pair @param {string} text */
function turn(pair, text) {
  turnTo(pair);
  clearAnswer();
  source.value = text;
  speak(language());
  textChanged();
}

async function learnAbilities() {
  try {
    server = { ...server, ...(await abilities()) };
    offerPairs(server.pairs);
  } catch (error) {
    // Without knowing the limits the page still works: the server says what is too long.
    if (error instanceof ProblemError && (error.status === 401 || error.status === 403)) askForKey();
  }
  speak(preferredLanguage());
}

source.addEventListener("input", textChanged);
byId("clear").addEventListener("click", () => setText(""));
byId("examples").addEventListener("click", (event) => {
  if (event.target instanceof HTMLButtonElement) setText(event.target.textContent ?? "");
});
for (const id of ["n-best", "beam-size"]) byId(id).addEventListener("change", textChanged);
byId("copy").addEventListener("click", async () => {
  if (!shown) return;
  try {
    await navigator.clipboard.writeText(shown.translation.text);
    tell(() => say("status.copied"));
  } catch {
    tell(() => say("status.copy_refused"), "error");
  }
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
watchTurn((pair) => turn(pair, shown?.translation.text ?? source.value)); // what was written is read next
byId("notices").addEventListener("click", (event) => {
  const asked = event.target instanceof HTMLElement ? event.target.dataset.turn : null;
  const pair = asked ? pairFrom(asked) : null;
  if (!pair) return;
  turn(pair, source.value);
  source.focus(); // the button that had the focus is gone
});
watchWords(() => shown?.words ?? null);
watchGlossary(textChanged);
watchDocuments();
speak(preferredLanguage());
await learnAbilities();
if (source.value) textChanged(); // typed before, or kept by the browser over a reload
