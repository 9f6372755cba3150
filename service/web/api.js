// The server's routes, as functions. Shapes are those of /openapi.json.

import { recall, remember } from "./storage.js";

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
 */
/**
 * @typedef {object} Translation
 * @property {string} id
 * @property {string} text
 * @property {Sentence[]} sentences
 * @property {Token[]} source_tokens
 * @property {Token[]} target_tokens
 * @property {Link[]} links
 * @property {{ text: string, score: number }[]} alternatives
 * @property {{ language: string | null, score: number }} detected_source
 * @property {Flag[]} flags
 * @property {boolean} truncated
 * @property {boolean} repaired
 */
/** @typedef {{ translations: Translation[], model: string }} Answer */
/**
 * @typedef {object} Abilities what /languages tells
 * @property {{ source: string, target: string }[]} pairs
 * @property {{ text_characters: number }} limits
 * @property {{ layers: number, heads: number } | null} attention of the model, if it has any
 * @property {boolean} glossary whether a request may carry one
 * @property {{ suffixes: string[], bytes: number } | null} documents what may be uploaded
 */
/** @typedef {{ id: string, status: "queued" | "translating" | "done" | "error", progress: number, detail: string | null }} DocumentJob */

const KEY = "passerelle.key";
const tab = () => sessionStorage;

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
 * @param {string} path
 * @param {object} body
 * @param {AbortSignal} [signal]
 */
const post = (path, body, signal) =>
  ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });

/**
 * @param {object} question
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export const translate = async (question, signal) => (await post("translate", question, signal)).json();

/** @returns {Promise<Abilities>} */
export const abilities = async () => (await ask("languages")).json();

/**
 * The attention of a sentence and its translation, a row for each word of the translation.
 * @param {{ source: string, target: string, layer: number, head: number | null }} question
 * @param {AbortSignal} signal
 * @returns {Promise<number[][]>}
 */
export const attention = async (question, signal) =>
  (await (await post("attention", question, signal)).json()).attention;

/**
 * @param {File} file
 * @param {AbortSignal} signal
 * @returns {Promise<DocumentJob>}
 */
export const uploadDocument = async (file, signal) =>
  (
    await ask(`documents?name=${encodeURIComponent(file.name)}`, {
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
