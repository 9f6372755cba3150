// The n best translations of one sentence, by the score that stands beside them.

import { byId, element, selectById } from "./dom.js";
import { formatNumber, language, say } from "./strings.js";

/** @typedef {import("./api.js").Translation} Translation */

const SHOWN_CHARACTERS = 40; // of a sentence in the list to choose from

/** Offer the sentences, and show the alternatives of the one chosen. @param {Translation} translation @param {string} text its source */
export function showAlternatives({ sentences }, text) {
  const characters = Array.from(text);
  const list = selectById("alternatives-sentence");
  byId("alternatives-section").hidden = !sentences.some(({ alternatives }) => alternatives.length > 1);
  byId("alternatives-choice").hidden = sentences.length < 2;
  list.replaceChildren(
    ...sentences.map(({ source }, i) => {
      const words = characters.slice(source.start, source.end);
      const rest = words.length > SHOWN_CHARACTERS ? "…" : "";
      return new Option(`${formatNumber(i + 1)}. ${words.slice(0, SHOWN_CHARACTERS).join("")}${rest}`, String(i));
    }),
  );
  const draw = () => fill(sentences[Number(list.value)]?.alternatives ?? []);
  list.onchange = draw;
  draw();
}

/** @param {{ text: string, score: number }[]} alternatives that of the translation first */
function fill(alternatives) {
  const used = alternatives[0];
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  byId("alternatives").replaceChildren(
    ...[...alternatives]
      .sort((a, b) => b.score - a.score)
      .map((alternative) =>
        element(
          "li",
          {},
          element("span", { textContent: alternative.text }),
          element("span", { className: "score", dir: "ltr", textContent: formatNumber(alternative.score, digits) }),
          ...(alternative === used ? [element("span", { className: "used", lang: language(), dir: "auto", textContent: say("alternatives.used") })] : []),
        ),
      ),
  );
}
