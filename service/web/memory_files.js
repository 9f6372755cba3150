// A file becomes a translation memory of the direction in use: chosen, checked, uploaded.

import { importMemory, ProblemError } from "./api.js";
import { direction, directionName, pairNames } from "./direction.js";
import { byId, inputById } from "./dom.js";
import { useMemory } from "./memories.js";
import { formatMegabytes, formatNumber, say } from "./strings.js";

/** @typedef {NonNullable<import("./api.js").Abilities["translation_memories"]>} Rules */

/** @type {Rules | null} */
let rules = null;
let isBusy = false;
/** @type {() => string} what became of the last file, in the interface's language whenever it is asked */
let told = () => "";

/** Offer it, with the formats and the size that the server takes; not at all where a key may have none. @param {Rules | null} taken */
export function offerMemoryFiles(taken) {
  rules = taken;
  byId("memories-section").hidden = !taken?.count;
  if (!taken) return;
  inputById("memory-file").accept = taken.suffixes.join(",");
  byId("memories-explanation").textContent = say("memories.explanation", {
    formats: formats(taken),
    limit: formatMegabytes(taken.bytes),
  });
  show();
}

/** @param {() => void} added called when a memory is there */
export function watchMemoryFiles(added) {
  const field = inputById("memory-file");
  byId("choose-memory").addEventListener("click", () => {
    if (!isBusy) field.click();
  });
  field.addEventListener("change", async () => {
    const file = field.files?.[0];
    if (!file || isBusy) return;
    await take(file, added);
    field.value = ""; // the same file may be chosen again
  });
}

/** @param {File} file @param {() => void} added */
async function take(file, added) {
  const pair = direction();
  const { name } = file;
  try {
    check(file);
    isBusy = true;
    tell(() => say("memories.adding", { name }));
    const made = await importMemory(file, pair);
    const skipped = made.skipped_languages + made.skipped_unfit;
    useMemory(made, pair);
    tell(() => {
      const isInUse = directionName(pair) === directionName();
      const values = { name, n: formatNumber(made.units), ...pairNames(pair) };
      const left = skipped ? ` ${say("memories.skipped", { n: formatNumber(skipped) })}` : "";
      return say(isInUse ? "memories.added" : "memories.added_for", values) + left;
    });
    added();
  } catch (error) {
    tell(() => reason(error), "error");
  } finally {
    isBusy = false;
    show();
  }
}

/** What the server would refuse need not be sent. @param {File} file */
function check({ name, size }) {
  if (!rules) return;
  if (!rules.suffixes.some((suffix) => name.toLowerCase().endsWith(suffix))) {
    throw new Error(say("memories.format", { name, formats: formats(rules) }));
  }
  if (size > rules.bytes) throw new Error(say("memories.too_large", { name, limit: formatMegabytes(rules.bytes) }));
}

/** @param {unknown} error */
function reason(error) {
  if (error instanceof TypeError) return say("status.unreachable");
  if (error instanceof ProblemError && !error.message) return say("status.failed", { status: error.status });
  return error instanceof Error ? error.message : "";
}

/** @param {Rules} rules */
const formats = ({ suffixes }) => suffixes.join(", ");

/** @param {() => string} message @param {string} kind */
function tell(message, kind = "") {
  told = message;
  byId("memory-status").className = `explanation ${kind}`;
  show();
}

function show() {
  byId("memory-progress").hidden = !isBusy;
  byId("choose-memory").setAttribute("aria-disabled", String(isBusy));
  const text = told();
  if (byId("memory-status").textContent !== text) byId("memory-status").textContent = text;
}
