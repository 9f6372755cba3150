// An answer on the page: the linked words, what there is to say about it, the alternatives, the heat maps.

import { showAlternatives } from "./alternatives.js";
import { directionName, pairFrom, pairNames } from "./direction.js";
import { byId, element } from "./dom.js";
import { EveryHead } from "./every_head.js";
import { HeatMap } from "./heatmap.js";
import { markUnits, nameUnits } from "./memories.js";
import { canSpeak } from "./speech.js";
import { explainFlag, isUnsure, markSentences, nameMarks } from "./sentences.js";
import { say } from "./strings.js";
import { closeChoices } from "./word_choices.js";
import { fillWords, LinkedWords, makeOneStop, putOut } from "./words.js";

/** @typedef {import("./api.js").Translation} Translation */

/** The text alone under the text field: no words to light up while it is being written. @param {string} text */
export function plainMirror(text) {
  byId("mirror").textContent = text + "\n";
  scrollMirror();
}

/** What lies under the text field is where the field has been scrolled to. */
export function scrollMirror() {
  byId("mirror").scrollTop = byId("source").scrollTop;
}

/** Leave nothing of an earlier answer. */
export function clearAnswer() {
  putOut();
  closeChoices();
  for (const id of ["output", "alternatives", "heat", "notices"]) byId(id).replaceChildren();
  for (const id of ["alternatives-section", "alignment-section", "heads-section", "copy", "share", "listen"]) byId(id).hidden = true;
  byId("output").classList.remove("stale");
}

export class ShownAnswer {
  /**
   * @param {import("./api.js").Question} question
   * @param {Translation} translation
   * @param {{ source: string, target: string }} languages
   */
  constructor(question, translation, languages) {
    this.question = question;
    this.text = question.text;
    this.translation = translation;
    this.languages = languages;
    this.words = new LinkedWords(translation, languages);
    this.heatMap = new HeatMap(question, translation);
    this.everyHead = new EveryHead(question, translation);
  }

  show() {
    const { translation } = this;
    clearAnswer();
    fillWords(byId("mirror"), this.text, translation.source_tokens, "source");
    byId("mirror").append("\n");
    scrollMirror();
    fillWords(byId("output"), translation.text, translation.target_tokens, "target");
    markTerms(byId("output"), translation);
    markSentences(byId("output"), translation);
    markUnits(byId("output"), translation);
    makeOneStop(byId("output"));
    for (const id of ["copy", "share"]) byId(id).hidden = false;
    byId("listen").hidden = !canSpeak(this.languages.target);
    this.tell();
  }

  /** All that is in the language of the interface, or depends on it. */
  tell() {
    byId("notices").replaceChildren(
      ...notices(this.translation),
      ...offer(this.translation),
      ...undo(this.question),
    );
    nameMarks(byId("output"), this.translation);
    nameUnits(byId("output"), this.translation);
    showAlternatives(this.translation, this.text);
    this.heatMap.show();
    this.everyHead.show();
  }
}

/** Underline the words that the glossary asked for. @param {HTMLElement} output @param {Translation} translation */
function markTerms(output, { terms, target_tokens }) {
  const words = output.querySelectorAll(".word");
  for (const { target } of terms) {
    target_tokens.forEach(({ start, end }, i) => {
      if (start < target.end && end > target.start) words[i].classList.add("term");
    });
  }
}

/** The sentences of a text that have come so far. */
export class PartialAnswer {
  /** @param {string} text */
  constructor(text) {
    this.characters = Array.from(text);
    this.read = 0;
    this.written = "";
    this.n = 0;
    this.total = 0;
  }

  /** @param {import("./api.js").SentenceEvent} sentence the next */
  add({ source, text, n_sentences }) {
    const between = this.characters.slice(this.read, source.start).join("");
    this.written += between + text;
    this.read = source.end;
    this.n += 1;
    this.total = n_sentences;
  }

  show() {
    if (!this.n) return;
    clearAnswer();
    byId("output").textContent = this.written;
  }
}

/** A button to the direction that reads the text's language, where that is another. @param {Translation} translation */
function offer({ flags, detected_source }) {
  const pair = flags.some(({ kind }) => kind === "wrong_source_language") && pairFrom(detected_source.language);
  if (!pair) return [];
  const textContent = say("direction.offer", { pair: say("direction.pair", pairNames(pair)) });
  const button = element("button", { type: "button", className: "chip", textContent });
  button.dataset.turn = directionName(pair);
  return [element("li", {}, button)];
}

/** What was chosen of the translation, with a button to take it back. @param {import("./api.js").Question} question */
function undo({ prefix = [] }) {
  if (!prefix.some(Boolean)) return [];
  const button = element("button", { type: "button", className: "chip", textContent: say("choices.undo") });
  button.dataset.undo = "";
  return [element("li", {}, say("choices.forced"), " ", button)];
}

/** What there is to say about a translation, each thing once; where it is, the marks show. @param {Translation} translation */
function notices(translation) {
  const { truncated, repaired, flags, sentences } = translation;
  const kinds = new Set(flags.map((flag) => flag.kind));
  if (kinds.has("wrong_source_language")) kinds.delete("wrong_language"); // which then says nothing more
  if (truncated) kinds.add("truncated");
  if (repaired) kinds.add("repaired");
  const told = [...kinds].map((kind) => explainFlag(kind, translation));
  if (sentences.some(isUnsure)) told.push(say("sentence.unsure_somewhere"));
  return told.map((textContent) => element("li", { textContent }));
}
