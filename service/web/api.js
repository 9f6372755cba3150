// The server's routes, as functions. Shapes are those of /openapi.json.

import { recall, remember, tab } from "./storage.js";

/** @typedef {{ start: number, end: number }} Span half open; characters are code points, or tokens */
/** @typedef {Span & { text: string }} Token */
/** @typedef {{ source: number, target: number, score: number }} Link */
/** @typedef {{ kind: string, sentence: number | null }} Flag */
/**
 * @typedef {object} Sentence
 * @property {Span} source
 * @property {Span} target
 * @property {Span} source_tokens
 * @property {Span} target_tokens
 * @property {number[][] | null} attention
 * @property {import("./heads.js").HeadMaps | null} heads with alignment heads
 * @property {number | null} confidence
 * @property {boolean} truncated
 * @property {{ text: string, score: number }[]} alternatives that of the translation first
 */
/**
 * @typedef {object} Translation
 * @property {string} id
 * @property {string} text
 * @property {Sentence[]} sentences
 * @property {Token[]} source_tokens
 * @property {Token[]} target_tokens
 * @property {Link[]} links
 * @property {{ language: string | null, score: number }} detected_source
 * @property {Flag[]} flags
 * @property {{ source: Span, target: Span }[]} terms
 * @property {MemoryUse[]} memory
 * @property {boolean} truncated
 * @property {boolean} repaired
 */
/** @typedef {{ sentence: number, use: "translation" | "repair" | "suggestion", score: number, source: string, target: string }} MemoryUse */
/** @typedef {{ id: string, name: string, source: string, target: string, units: number }} Memory */
/** @typedef {{ text: string, prefix: string, probability: number }} NextWord */
/** @typedef {{ translations: Translation[], source: string, target: string, model: string }} Answer */
/** @typedef {{ sentence_index: number, n_sentences: number, source: Span, text: string }} SentenceEvent */
/**
 * @typedef {object} Question
 * @property {string} text
 * @property {string} source a language, or auto
 * @property {string} [target]
 * @property {"soft" | "heads"} alignment
 * @property {number} n_best
 * @property {number} [beam_size]
 * @property {{ source: string, target: string }[]} [glossary]
 * @property {boolean} [french_typography]
 * @property {{ layer: number, heads: number[] | null }} [attention]
 * @property {string[]} [prefix] how the translation of each sentence begins, "" where the model decides
 * @property {string} [translation_memory]
 */
/** @typedef {{ source: string, target: string, attention: { layers: number, heads: number } | null }} Pair a direction, and what its model has */
/**
 * @typedef {object} Abilities what /languages tells
 * @property {Pair[]} pairs
 * @property {{ code: string, name: string }[]} languages
 * @property {{ text_characters: number, heads_characters: number }} limits
 * @property {{ suffixes: string[], bytes: number } | null} documents what may be uploaded
 * @property {{ suffixes: string[], bytes: number, count: number } | null} translation_memories of which files they are made
 */
/** @typedef {{ id: string, status: "queued" | "translating" | "done" | "error", progress: number | null, detail: string | null }} DocumentJob */

const KEY = "passerelle.key";

/** An answer that is no success: its problem details. */
export class ProblemError extends Error {
  /** @param {number} status @param {string} detail @param {number} retryAfter seconds, 0 if the answer has none */
  constructor(status, detail, retryAfter) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** The key to send from now on, until the tab is closed. @param {string} key */
export const useKey = (key) => remember(KEY, key, tab);

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<Response>} a success
 * @throws {ProblemError}
 */
export async function ask(path, options = {}) {
  const key = recall(KEY, tab);
  const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  const response = await fetch(path, { ...options, headers });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new ProblemError(response.status, problem.detail ?? "", Number(response.headers.get("Retry-After")));
}

/**
 * Translate; sentences are told as they come.
 * @param {Question} question
 * @param {AbortSignal} signal
 * @param {(sentence: SentenceEvent) => void} [onSentence]
 * @returns {Promise<Answer>}
 */
export async function translate(question, signal, onSentence = () => {}) {
  const response = await ask("translate", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(question),
    signal,
  });
  for await (const { name, data } of serverSentEvents(response)) {
    if (name === "sentence") onSentence(data);
    else if (name === "done") return data;
    else throw new ProblemError(data.status, data.detail, 0);
  }
  throw new TypeError("the answer ends before its end"); // as fetch has it when the server goes away
}

/**
 * Server-sent events as they arrive; each has a name and JSON on one line.
 * @param {Response} response
 * @returns {AsyncGenerator<{ name: string, data: any }>}
 */
async function* serverSentEvents(response) {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let unread = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (unread + value).split("\n\n");
    unread = events.pop() ?? "";
    for (const event of events) {
      const name = /^event: (.*)$/m.exec(event)?.[1];
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (name && data) yield { name, data: JSON.parse(data) };
    }
  }
}

/**
 * The words that may follow the beginning of a sentence's translation, likeliest first.
 * @param {{ text: string, source: string, target: string, prefix: string, count: number, french_typography?: boolean }} question
 * @param {AbortSignal} signal
 * @returns {Promise<{ alternatives: NextWord[] }>}
 */
export const alternativesAt = async (question, signal) =>
  (
    await ask("alternatives", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question),
      signal,
    })
  ).json();

/** The translation memories of this key. @returns {Promise<{ memories: Memory[] }>} */
export const memories = async () => (await ask("translation-memories")).json();

/**
 * Make a memory of a file; it has the file's name.
 * @param {File} file
 * @param {{ source: string, target: string }} pair
 * @returns {Promise<Memory & { skipped_languages: number, skipped_unfit: number }>} when all its units are there
 */
export const importMemory = async (file, { source, target }) =>
  (
    await ask(`translation-memories?${new URLSearchParams({ file: file.name, source, target })}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: file,
    })
  ).json();

/** @returns {Promise<Abilities>} */
export const abilities = async () => (await ask("languages")).json();

/**
 * @param {File} file
 * @param {{ source: string, target?: string, translation_memory?: string }} wishes
 * @param {AbortSignal} signal
 * @returns {Promise<DocumentJob>}
 */
export const uploadDocument = async (file, wishes, signal) =>
  (
    await ask(`documents?${new URLSearchParams({ name: file.name, ...wishes })}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: file,
      signal,
    })
  ).json();

/** @param {string} id @param {AbortSignal} signal @returns {Promise<DocumentJob>} */
export const documentJob = async (id, signal) => (await ask(`documents/${id}`, { signal })).json();

/**
 * The translated file, and the name that the server gives it ("" if none).
 * @param {string} id
 * @param {AbortSignal} signal
 */
export async function documentContent(id, signal) {
  const response = await ask(`documents/${id}/content`, { signal });
  const disposition = response.headers.get("Content-Disposition") ?? "";
  const name = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1] ?? "";
  return { blob: await response.blob(), name: decodeURIComponent(name) };
}

/** @param {string} id */
export const deleteDocument = (id) => ask(`documents/${id}`, { method: "DELETE" });
