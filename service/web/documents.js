// Documents: dropped or chosen, uploaded, watched while they are translated, downloaded.

import { deleteDocument, documentContent, documentJob, ProblemError, uploadDocument } from "./api.js";
import { wanted } from "./direction.js";
import { byId, element, inputById } from "./dom.js";
import { chosenMemory } from "./memories.js";
import { formatMegabytes, say } from "./strings.js";

/** @typedef {import("./api.js").DocumentJob} DocumentJob */
/** @typedef {NonNullable<import("./api.js").Abilities["documents"]>} Rules */

const ASK_AGAIN_MS = 400;

/** @type {Upload[]} */
let uploads = [];
/** @type {Rules | null} */
let rules = null;

/** Offer uploads, of what the server takes; not at all where it takes none. @param {Rules | null} taken */
export function offerDocuments(taken) {
  rules = taken;
  byId("documents-section").hidden = !taken;
  if (!taken) return;
  inputById("files").accept = taken.suffixes.join(",");
  const formats = taken.suffixes.map((suffix) => suffix.slice(1)).join(", ");
  byId("documents-explanation").textContent = say("documents.explanation", { formats });
  for (const upload of uploads) upload.show();
}

/** Wire the file field and the whole page as a place to drop files on. */
export function watchDocuments() {
  const files = inputById("files");
  byId("choose-files").addEventListener("click", () => files.click());
  files.addEventListener("change", () => {
    take(files.files);
    files.value = ""; // the same file may be chosen again
  });
  const section = byId("documents-section");
  /** @param {DragEvent} event */
  const carriesFiles = (event) => rules !== null && event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    section.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) section.classList.remove("dropping"); // out of the window
  });
  addEventListener("drop", (event) => {
    section.classList.remove("dropping");
    if (!carriesFiles(event)) return;
    event.preventDefault();
    take(event.dataTransfer?.files ?? null);
    section.scrollIntoView({ block: "nearest" });
  });
}

/** @param {FileList | null} files */
function take(files) {
  for (const file of files ?? []) {
    const upload = new Upload(file);
    uploads.push(upload);
    byId("documents-list").append(upload.item);
    upload.run();
  }
  byId("documents-list").hidden = uploads.length === 0;
}

/** One document and its line in the list. */
class Upload {
  /** @param {File} file */
  constructor(file) {
    this.file = file;
    const memory = chosenMemory();
    this.wishes = { ...wanted(), ...(memory ? { translation_memory: memory } : {}) };
    this.stopping = new AbortController();
    /** @type {DocumentJob | null} null: not there yet */
    this.job = null;
    this.problem = "";
    this.bar = element("progress", { max: 1 });
    this.state = element("span", { className: "document-state" });
    this.state.setAttribute("role", "status");
    this.download = element("button", { type: "button", className: "chip" });
    this.download.addEventListener("click", () => this.save());
    this.remove = element("button", { type: "button", className: "quiet", textContent: "×" });
    this.remove.addEventListener("click", () => this.discard());
    this.name = element("span", { className: "document-name", textContent: file.name });
    this.item = element("li", {}, this.name, this.bar, this.state, this.download, this.remove);
    this.show();
  }

  /** Upload, and ask after it until it is done. */
  async run() {
    try {
      this.check();
      this.job = await uploadDocument(this.file, this.wishes, this.stopping.signal);
      while (this.job.status === "queued" || this.job.status === "translating") {
        this.show();
        await new Promise((resume) => setTimeout(resume, ASK_AGAIN_MS));
        this.job = await documentJob(this.job.id, this.stopping.signal);
      }
      this.problem = this.job.detail ?? "";
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      this.fail(error);
    }
    this.show();
  }

  /** What the server would refuse need not be sent. */
  check() {
    if (!rules) return;
    const { suffixes, bytes } = rules;
    const name = this.file.name.toLowerCase();
    if (!suffixes.some((suffix) => name.endsWith(suffix))) throw new Error(say("documents.format"));
    if (this.file.size > bytes) throw new Error(say("documents.too_large", { limit: formatMegabytes(bytes) }));
  }

  /** @param {unknown} error */
  fail(error) {
    const isNetwork = error instanceof TypeError;
    this.problem = isNetwork ? say("status.unreachable") : error instanceof Error ? error.message : "";
    if (error instanceof ProblemError && !this.problem) this.problem = say("status.failed", { status: error.status });
    this.job = { id: this.job?.id ?? "", status: "error", progress: 0, detail: this.problem };
  }

  /** The line, in the language of the interface. */
  show() {
    const { name } = this.file;
    const status = this.job?.status ?? "uploading";
    const percent = Math.floor(100 * (this.job?.progress ?? 0));
    this.item.dataset.status = status;
    this.state.textContent = say(`documents.${status}`, { percent, reason: this.problem });
    this.bar.hidden = status === "done" || status === "error";
    if (status === "translating") this.bar.value = this.job?.progress ?? 0;
    else this.bar.removeAttribute("value");
    this.bar.setAttribute("aria-label", say("documents.progress", { name }));
    this.download.hidden = status !== "done";
    this.download.textContent = say("documents.download", { name: "" }).trim();
    this.download.setAttribute("aria-label", say("documents.download", { name }));
    this.remove.setAttribute("aria-label", say("documents.remove", { name }));
  }

  /** Hand the translated file to the browser's downloads. */
  async save() {
    if (!this.job) return;
    try {
      const { blob, name } = await documentContent(this.job.id, this.stopping.signal);
      const link = element("a", { href: URL.createObjectURL(blob), download: name || this.file.name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    } catch (error) {
      this.fail(error);
      this.show();
    }
  }

  /** Forget it, here and on the server. */
  discard() {
    this.stopping.abort();
    if (this.job?.id) deleteDocument(this.job.id).catch(() => {}); // it expires there by itself
    uploads = uploads.filter((other) => other !== this);
    this.item.remove();
    byId("documents-list").hidden = uploads.length === 0;
    byId("choose-files").focus(); // the button that had the focus is gone
  }
}
