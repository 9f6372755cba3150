// The attention of every head: asked for when the reader opens it, drawn by heads.js.

import { ProblemError, translate } from "./api.js";
import { byId, selectById } from "./dom.js";
import { HeadsExplorer } from "./heads.js";
import { formatNumber, say } from "./strings.js";

/** @typedef {import("./api.js").Question} Question */
/** @typedef {import("./api.js").Translation} Translation */

const button = byId("heads-open");
const explorer = new HeadsExplorer(byId("heads"), /** @type {import("./heads.js").Say} */ (say));
let limit = 0; // characters of a text whose heads may be asked for
let open = false; // and stays so from one answer to the next
/** @type {EveryHead | null} the one on the page */
let current = null;

/** @param {number} characters that a text may have */
export function offerEveryHead(characters) {
  limit = characters;
}

/** The heads of one answer. */
export class EveryHead {
  /** @param {Question} question @param {Translation} translation */
  constructor(question, translation) {
    this.question = question;
    this.translation = translation;
    /** @type {Promise<Translation> | null} */
    this.asked = null;
  }

  show() {
    current = this;
    byId("heads-section").hidden = !limit || !this.translation.sentences.some((sentence) => sentence.attention?.length);
    this.draw();
  }

  /** Draw the chosen sentence, if the reader wants to see it. */
  async draw() {
    button.setAttribute("aria-expanded", String(open));
    button.textContent = say(open ? "heads.close" : "heads.open");
    byId("heads").hidden = !open;
    byId("heads-problem").textContent = "";
    explorer.show(null);
    if (!open || byId("heads-section").hidden) return;
    if ([...this.question.text].length > limit) {
      byId("heads-problem").textContent = say("heads.too_long", { limit: formatNumber(limit) });
      return;
    }
    byId("heads").setAttribute("aria-busy", "true");
    try {
      const { sentences } = await this.ask();
      if (this !== current || !open) return;
      const { heads } = sentences[Number(selectById("sentence").value)];
      explorer.show(heads);
      byId("heads-problem").textContent = heads ? "" : say("heads.none");
    } catch (error) {
      this.asked = null;
      if (this !== current) return;
      const reason = error instanceof ProblemError ? error.message : say("status.unreachable");
      byId("heads-problem").textContent = say("heat.failed", { reason });
    } finally {
      if (this === current) byId("heads").removeAttribute("aria-busy");
    }
  }

  /** The same translation with all heads, asked for once: search finds the same again. */
  ask() {
    const question = /** @type {Question} */ ({ ...this.question, alignment: "heads" });
    this.asked ??= translate(question, new AbortController().signal).then(({ translations }) => translations[0]);
    return this.asked;
  }
}

button.addEventListener("click", () => {
  open = !open;
  current?.draw();
});
selectById("sentence").addEventListener("change", () => current?.draw());
