// An answer on the page: words that light up with their partners, the heat map, the alternatives.
// Offsets from the server count code points; JavaScript strings count UTF-16 units, hence Array.from.

const byId = (id) => document.getElementById(id);
const MOST_CELLS = 4000; // of a heat map drawn here; the server draws larger ones

export function plainMirror(text) {
  byId("mirror").textContent = text + "\n";
}

export function clearAnswer() {
  for (const id of ["output", "readout", "alternatives", "heat", "notices"]) byId(id).replaceChildren();
  for (const id of ["alternatives-section", "alignment-section", "copy"]) byId(id).hidden = true;
  byId("output").classList.remove("stale");
}

export class Answer {
  constructor(text, translation) {
    this.text = text;
    this.translation = translation;
    this.partners = { source: new Map(), target: new Map() };
    for (const { source, target } of translation.links ?? []) {
      add(this.partners.source, source, target);
      add(this.partners.target, target, source);
    }
  }

  show() {
    const { translation } = this;
    clearAnswer();
    fillWords(byId("mirror"), this.text, translation.source_tokens, "source");
    byId("mirror").append("\n");
    fillWords(byId("output"), translation.text, translation.target_tokens, "target");
    byId("output").querySelector(".word")?.setAttribute("tabindex", "0");
    byId("copy").hidden = false;
    this.showNotices();
    this.showAlternatives();
    this.showAlignment();
  }

  showNotices() {
    const { truncated, repaired } = this.translation;
    const notices = [];
    if (truncated) notices.push("A sentence stopped at the maximum length: its end may be missing.");
    if (repaired) notices.push("A sentence was too long for the model and was translated in parts.");
    byId("notices").replaceChildren(...notices.map((notice) => element("li", { textContent: notice })));
  }

  showAlternatives() {
    const { alternatives } = this.translation;
    byId("alternatives-section").hidden = alternatives.length < 2;
    byId("alternatives").replaceChildren(
      ...alternatives.map(({ text, score }) => {
        const item = element("li", {}, element("span", { textContent: text }));
        const title = "Mean log-probability of its sub-words; nearer to 0 is more probable";
        item.append(element("span", { className: "score", title, textContent: score.toFixed(2) }));
        return item;
      }),
    );
  }

  showAlignment() {
    const { id, sentences } = this.translation;
    const choice = byId("sentence");
    byId("alignment-section").hidden = !sentences.some((sentence) => sentence.attention?.length);
    byId("sentence-choice").hidden = sentences.length < 2;
    choice.replaceChildren(...sentences.map((_, i) => new Option(String(i + 1), String(i))));
    choice.onchange = () => this.showHeat(sentences[Number(choice.value)]);
    byId("downloads").replaceChildren(
      ...["svg", "png", "pharaoh", "json"].map((format) =>
        element("a", {
          href: `translations/${id}/alignment?format=${format}`,
          target: "_blank",
          rel: "noopener",
          textContent: format === "pharaoh" ? "Pharaoh" : format.toUpperCase(),
        }),
      ),
    );
    if (sentences.length) this.showHeat(sentences[0]);
  }

  showHeat({ source_tokens: columns, target_tokens: rows, attention }) {
    const table = byId("heat");
    const words = (side, span) => this.translation[`${side}_tokens`].slice(span.start, span.end);
    const sources = words("source", columns);
    const targets = words("target", rows);
    if (!attention || sources.length * targets.length > MOST_CELLS) {
      const caption = "This sentence is too long to draw here; save it as JSON.";
      table.replaceChildren(element("caption", { textContent: attention ? caption : "" }));
      return;
    }
    const head = element("tr", {}, element("td"));
    sources.forEach((word, j) => {
      const label = element("span", { textContent: word.text });
      head.append(withWord(element("th", { scope: "col" }, label), "source", columns.start + j));
    });
    const body = targets.map((word, i) => {
      const label = element("th", { scope: "row", textContent: word.text });
      const row = element("tr", {}, withWord(label, "target", rows.start + i));
      sources.forEach((other, j) => row.append(heatCell(attention[i][j], word, other)));
      return row;
    });
    table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  }

  // Light up a word and its partners, wherever they stand; null puts all lights out.
  light(side, index) {
    for (const lit of document.querySelectorAll(".active, .partner")) lit.classList.remove("active", "partner");
    byId("readout").textContent = "";
    if (side === null) return;
    const other = side === "source" ? "target" : "source";
    const partners = [...(this.partners[side].get(index) ?? [])].sort((a, b) => a - b);
    wordElements(side, index).forEach((word) => word.classList.add("active"));
    partners.forEach((partner) =>
      wordElements(other, partner).forEach((word) => word.classList.add("partner")),
    );
    const text = (of, i) => `“${this.translation[`${of}_tokens`][i].text}”`;
    byId("readout").textContent = partners.length
      ? `${text(side, index)} ↔ ${partners.map((partner) => text(other, partner)).join(" ")}`
      : `${text(side, index)} has no partner`;
  }
}

// Wire pointer, caret and arrow keys to the words of whatever answer stands on the page.
export function watchWords(current) {
  const source = byId("source");
  const output = byId("output");
  const light = (word) => {
    const answer = current();
    if (answer) answer.light(word?.dataset.side ?? null, Number(word?.dataset.index));
  };
  const wordAt = (event) =>
    document.elementsFromPoint(event.clientX, event.clientY).find((found) => found.dataset.side);

  for (const place of [source, output, byId("heat")]) {
    place.addEventListener("mousemove", (event) => light(wordAt(event)));
    place.addEventListener("mouseleave", () => light(null));
  }
  const followCaret = () => {
    const answer = current();
    if (!answer || document.activeElement !== source) return;
    const caret = [...source.value.slice(0, source.selectionStart)].length;
    const tokens = answer.translation.source_tokens;
    const index = tokens.findIndex(({ start, end }) => start <= caret && caret <= end);
    if (index < 0) answer.light(null);
    else answer.light("source", index);
  };
  source.addEventListener("keyup", followCaret);
  source.addEventListener("click", followCaret);
  source.addEventListener("blur", () => light(null));

  output.addEventListener("focusin", (event) => light(event.target.closest(".word")));
  output.addEventListener("focusout", () => light(null));
  output.addEventListener("click", (event) => event.target.closest(".word")?.focus());
  output.addEventListener("keydown", (event) => {
    const words = [...output.querySelectorAll(".word")];
    const at = words.indexOf(event.target);
    const next = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: words.length - 1,
    }[event.key];
    if (at < 0 || !words[next]) return;
    event.preventDefault();
    words[at].tabIndex = -1;
    words[next].tabIndex = 0;
    words[next].focus();
  });
}

function fillWords(container, text, tokens, side) {
  const characters = Array.from(text);
  const parts = [];
  let written = 0;
  tokens.forEach(({ start, end }, index) => {
    const word = element("span", { textContent: characters.slice(start, end).join("") });
    word.className = "word";
    if (side === "target") word.tabIndex = -1;
    parts.push(characters.slice(written, start).join(""), withWord(word, side, index));
    written = end;
  });
  container.replaceChildren(...parts, characters.slice(written).join(""));
}

function heatCell(share, targetWord, sourceWord) {
  const percent = Math.round(100 * share);
  const cell = element("td", {
    textContent: percent >= 5 ? String(percent) : "",
    title: `${sourceWord.text} → ${targetWord.text}: ${percent} %`,
  });
  cell.style.setProperty("--share", share.toFixed(3));
  if (share > 0.55) cell.classList.add("dark");
  return cell;
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function withWord(made, side, index) {
  made.dataset.side = side;
  made.dataset.index = String(index);
  return made;
}

function wordElements(side, index) {
  return document.querySelectorAll(`[data-side="${side}"][data-index="${index}"]`);
}

function add(map, key, value) {
  if (!map.has(key)) map.set(key, new Set());
  map.get(key).add(value);
}
