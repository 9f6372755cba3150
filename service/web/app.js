// Translate as one types: wait for a pause, ask the server, show only the answer to what now stands there.

import { Answer, clearAnswer, plainMirror, watchWords } from "./view.js";

const PAUSE_MS = 300; // after the last key
const CALM_MS = 500; // before "Translating…" appears

const byId = (id) => document.getElementById(id);
const source = byId("source");
const status = byId("status");

let limit = Infinity; // characters in one text
let timer = 0;
let calmTimer = 0;
let request = null; // the AbortController of the request in flight
let shown = null; // the Answer on the page

function textChanged() {
  plainMirror(source.value);
  shown = null;
  byId("output").classList.add("stale");
  byId("examples").hidden = source.value !== "";
  byId("clear").hidden = source.value === "";
  clearTimeout(timer);
  clearTimeout(calmTimer);
  request?.abort(); // an answer to older text is of no use
  request = null;
  if (isWithinLimit()) timer = setTimeout(translate, PAUSE_MS);
}

function isWithinLimit() {
  const length = [...source.value].length;
  const over = length > limit;
  const count = byId("count");
  count.textContent = length ? `${length.toLocaleString("en")} / ${limit.toLocaleString("en")}` : "";
  if (!Number.isFinite(limit)) count.textContent = "";
  count.classList.toggle("over", over);
  source.setAttribute("aria-invalid", String(over));
  if (over) say(`The text is longer than ${limit.toLocaleString("en")} characters; shorten it.`, "error");
  return !over;
}

async function translate() {
  const text = source.value;
  if (!text.trim()) {
    clearAnswer();
    say("");
    return;
  }
  const own = (request = new AbortController());
  calmTimer = setTimeout(() => say("Translating…"), CALM_MS);
  const started = performance.now();
  try {
    const response = await fetch("translate", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question(text)),
      signal: own.signal,
    });
    const body = await response.json();
    if (own !== request || source.value !== text) return; // stale
    if (!response.ok) {
      explain(response, body);
      return;
    }
    shown = new Answer(text, body.translations[0]);
    shown.show();
    say(`Translated in ${((performance.now() - started) / 1000).toFixed(1)} s by ${body.model}`);
  } catch (error) {
    if (own === request) say("The server cannot be reached. Is it running?", "error");
  } finally {
    if (own === request) clearTimeout(calmTimer);
  }
}

function question(text) {
  const nBest = Number(byId("n-best").value);
  const beamSize = Number(byId("beam-size").value);
  const asked = { text, source: "en", target: "fr", alignment: "soft", n_best: nBest };
  return beamSize ? { ...asked, beam_size: Math.max(beamSize, nBest) } : asked;
}

function explain(response, problem) {
  const seconds = Number(response.headers.get("Retry-After"));
  if (seconds > 0) {
    say(`The server is busy; trying again in ${seconds} s.`);
    timer = setTimeout(translate, 1000 * seconds);
  } else {
    say(problem.detail ?? `The server answered ${response.status}.`, "error");
  }
}

function say(message, kind = "") {
  clearTimeout(calmTimer);
  status.textContent = message;
  status.className = `status ${kind}`;
}

async function learnLimits() {
  const response = await fetch("languages");
  if (!response.ok) return;
  const { limits } = await response.json();
  limit = limits.text_characters;
  if (source.value) isWithinLimit();
}

function setText(text) {
  source.value = text;
  source.focus();
  textChanged();
}

source.addEventListener("input", textChanged);
byId("clear").addEventListener("click", () => setText(""));
byId("examples").addEventListener("click", (event) => {
  if (event.target.matches("button")) setText(event.target.textContent);
});
for (const id of ["n-best", "beam-size"]) byId(id).addEventListener("change", textChanged);
byId("copy").addEventListener("click", async () => {
  if (!shown) return;
  try {
    await navigator.clipboard.writeText(shown.translation.text);
    say("Copied");
  } catch {
    say("The browser does not allow copying here; select the text instead.", "error");
  }
});
watchWords(() => shown);
learnLimits().catch(() => {}); // without limits the server says what is too long
if (source.value) textChanged(); // kept by the browser over a reload
