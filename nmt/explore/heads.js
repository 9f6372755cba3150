// The attention of every head of a sentence pair: an overview of small maps, a row for each layer, and one of them
// enlarged. The report of `nmt attention` and the page of `nmt serve` both draw with this. No imports: a report
// holds it inline.

/** @typedef {number[][][][]} Heads [layer][head][row][column] */
/** @typedef {{ source: string[], read: string[], written: string[], encoder: Heads, decoder: Heads, cross: Heads }} HeadMaps */
/** @typedef {"encoder" | "decoder" | "cross"} Kind */
/** @typedef {(key: string, values?: Record<string, string | number>) => string} Say */

/** @type {Kind[]} */
const KINDS = ["cross", "encoder", "decoder"];
const MOST_CELLS = 4000; // of the enlarged map; larger ones are drawn without numbers
const DARK = 0.55; // from this share on, digits are written in the light colour

/** English; a page in another language brings its own. */
export const ENGLISH = {
  "heads.kinds": "Kind of attention",
  "heads.cross": "Cross-attention",
  "heads.encoder": "Encoder self-attention",
  "heads.decoder": "Decoder self-attention",
  "heads.rows_cross": "Rows: sub-words being written. Columns: sub-words of the source. In percent.",
  "heads.rows_encoder": "Rows: sub-words of the source. Columns: what each looks at in the source. In percent.",
  "heads.rows_decoder": "Rows: sub-words being written. Columns: what was written before. In percent.",
  "heads.overview": "All heads, a row for each layer. Arrow keys move among them.",
  "heads.head": "Layer {layer}, head {head}",
  "heads.layer": "Layer {layer}",
  "heads.cell": "{row} → {column}: {percent} %",
  "heads.too_large": "Too long for numbers: {rows} rows, {columns} columns.",
};

export class HeadsExplorer {
  /**
   * @param {HTMLElement} root emptied, then filled
   * @param {Say} say
   */
  constructor(root, say) {
    this.root = root;
    this.say = say;
    /** @type {HeadMaps | null} */
    this.maps = null;
    /** @type {Kind} */
    this.kind = "cross";
    this.layer = 0;
    this.head = 0;
    const redraw = () => this.maps && this.paint();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /** @param {HeadMaps | null} maps null: leave nothing */
  show(maps) {
    this.maps = maps;
    this.root.replaceChildren();
    if (!maps) return;
    if (!maps[this.kind].length) this.kind = KINDS.find((kind) => maps[kind].length) ?? "cross";
    this.root.append(this.kinds(), make("p", { className: "heads-rows" }), this.overview(), make("figure"));
    this.fill();
  }

  /** All that depends on the kind. */
  fill() {
    const { maps, root, say } = this;
    if (!maps) return;
    const layers = maps[this.kind];
    this.layer = Math.min(this.layer, layers.length - 1);
    this.head = Math.min(this.head, layers[this.layer].length - 1);
    for (const button of root.querySelectorAll(".heads-kinds button")) {
      button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.kind === this.kind));
    }
    part(root, ".heads-rows").textContent = say(`heads.rows_${this.kind}`);
    part(root, ".heads-overview").replaceChildren(
      ...layers.map((heads, layer) =>
        make(
          "div",
          { className: "heads-layer" },
          make("span", { className: "heads-name", textContent: say("heads.layer", { layer: layer + 1 }) }),
          ...heads.map((_, head) => this.miniature(layer, head)),
        ),
      ),
    );
    this.enlarge(this.layer, this.head);
  }

  kinds() {
    const group = make("div", { className: "heads-kinds" });
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", this.say("heads.kinds"));
    for (const kind of KINDS) {
      const button = make("button", { type: "button", textContent: this.say(`heads.${kind}`) });
      button.dataset.kind = kind;
      button.disabled = !this.maps?.[kind].length;
      button.onclick = () => {
        this.kind = kind;
        this.fill();
      };
      group.append(button);
    }
    return group;
  }

  overview() {
    const box = make("div", { className: "heads-overview" });
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", this.say("heads.overview"));
    box.addEventListener("keydown", (event) => this.move(event));
    return box;
  }

  /** @param {number} layer @param {number} head */
  miniature(layer, head) {
    const button = make("button", { type: "button" }, make("canvas"));
    button.setAttribute("aria-label", this.say("heads.head", { layer: layer + 1, head: head + 1 }));
    button.title = this.say("heads.head", { layer: layer + 1, head: head + 1 });
    Object.assign(button.dataset, { layer, head });
    button.onclick = () => this.enlarge(layer, head);
    return button;
  }

  /** Arrow keys, Home and End among the small maps. @param {KeyboardEvent} event */
  move(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return; // the browser's own, such as one page back
    const layers = this.maps?.[this.kind] ?? [];
    /** @type {Record<string, [number, number]>} */
    const moves = {
      ArrowRight: [this.layer, this.head + 1],
      ArrowLeft: [this.layer, this.head - 1],
      ArrowDown: [this.layer + 1, this.head],
      ArrowUp: [this.layer - 1, this.head],
      Home: [this.layer, 0],
      End: [this.layer, layers[this.layer].length - 1],
    };
    const [layer, head] = moves[event.key] ?? [-1, -1];
    if (!layers[layer]?.[head]) return;
    event.preventDefault();
    this.enlarge(layer, head);
    this.button(layer, head).focus();
  }

  /** @param {number} layer @param {number} head @returns {HTMLButtonElement} */
  button(layer, head) {
    return part(this.root, `button[data-layer="${layer}"][data-head="${head}"]`);
  }

  /** @param {number} layer @param {number} head */
  enlarge(layer, head) {
    this.layer = layer;
    this.head = head;
    for (const button of this.root.querySelectorAll(".heads-overview button")) {
      const own = button === this.button(layer, head);
      button.setAttribute("aria-pressed", String(own));
      /** @type {HTMLElement} */ (button).tabIndex = own ? 0 : -1; // one stop of the tab key, then arrows
    }
    const name = `${this.say(`heads.${this.kind}`)}: ${this.say("heads.head", { layer: layer + 1, head: head + 1 })}`;
    const caption = make("figcaption", { textContent: name });
    caption.setAttribute("role", "status");
    const scroll = make("div", { className: "heads-scroll", tabIndex: 0 }, this.table(name));
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", name);
    part(this.root, "figure").replaceChildren(caption, scroll);
    this.paint();
  }

  /** What the rows and columns of the present kind stand for. */
  labels() {
    const { source, read, written } = /** @type {HeadMaps} */ (this.maps);
    return {
      cross: { rows: written, columns: source },
      encoder: { rows: source, columns: source },
      decoder: { rows: written, columns: read },
    }[this.kind];
  }

  /** @param {string} name */
  table(name) {
    const { rows, columns } = this.labels();
    const weights = /** @type {HeadMaps} */ (this.maps)[this.kind][this.layer][this.head];
    if (rows.length * columns.length > MOST_CELLS) {
      const text = this.say("heads.too_large", { rows: rows.length, columns: columns.length });
      return make("div", {}, make("p", { textContent: text }), make("canvas", { className: "heads-large" }));
    }
    const head = make("tr", {}, make("td"));
    for (const column of columns) {
      head.append(make("th", { scope: "col" }, make("span", { textContent: column })));
    }
    const body = rows.map((row, i) => {
      const line = make("tr", {}, make("th", { scope: "row", textContent: row }));
      columns.forEach((column, j) => line.append(this.cell(weights[i][j], row, column)));
      return line;
    });
    const table = make("table", { className: "heads-map" }, make("thead", {}, head), make("tbody", {}, ...body));
    table.setAttribute("aria-label", name);
    return table;
  }

  /** @param {number} share @param {string} row @param {string} column */
  cell(share, row, column) {
    const percent = Math.round(100 * share);
    const made = make("td", {
      textContent: percent >= 5 ? String(percent) : "",
      title: this.say("heads.cell", { row, column, percent }),
    });
    made.style.setProperty("--share", share.toFixed(3));
    made.classList.toggle("dark", share > DARK);
    return made;
  }

  /** Draw the small maps, a pixel for each cell, in the colours of the moment. */
  paint() {
    const maps = /** @type {HeadMaps} */ (this.maps);
    const colour = getComputedStyle(part(this.root, ".heads-overview")).color;
    for (const button of this.root.querySelectorAll(".heads-overview button")) {
      const { layer, head } = /** @type {HTMLElement} */ (button).dataset;
      draw(part(button, "canvas"), maps[this.kind][Number(layer)][Number(head)], colour);
    }
    const large = this.root.querySelector(".heads-large");
    if (large) draw(/** @type {HTMLCanvasElement} */ (large), maps[this.kind][this.layer][this.head], colour);
  }
}

/** @param {HTMLCanvasElement} canvas @param {number[][]} weights @param {string} colour */
function draw(canvas, weights, colour) {
  canvas.width = weights[0].length;
  canvas.height = weights.length;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.fillStyle = colour;
  weights.forEach((row, i) =>
    row.forEach((share, j) => {
      context.globalAlpha = Math.min(1, Math.sqrt(share)); // a small map shows where there is something at all
      context.fillRect(j, i, 1, 1);
    }),
  );
}

/**
 * The element of `root` that fits, which is there.
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {any}
 */
function part(root, selector) {
  return root.querySelector(selector);
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, unknown>} [properties]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
function make(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
