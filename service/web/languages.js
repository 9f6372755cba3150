// What languages are called, and which way they are written. Codes are BCP 47: pt-BR, zh-Hans.

import { language } from "./strings.js";

const RIGHT_TO_LEFT = new Set(["Adlm", "Arab", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa"]); // scripts

/** @type {Map<string, string>} English names, for what the browser has no name for */
let served = new Map();

/** @param {{ code: string, name: string }[]} names as the server has them */
export function learnNames(names) {
  served = new Map(names.map(({ code, name }) => [code, name]));
}

/** What a language is called in the interface's language. @param {string} code */
export function languageName(code) {
  try {
    const name = new Intl.DisplayNames([language()], { type: "language", fallback: "none" }).of(code);
    return name ?? served.get(code) ?? code;
  } catch {
    return served.get(code) ?? code; // no code of BCP 47
  }
}

/** Whether two codes mean one language, whatever region or script. @param {string} one @param {string} other */
export const sameLanguage = (one, other) => one.split("-")[0].toLowerCase() === other.split("-")[0].toLowerCase();

/** Which way a language is written. @param {string} code @returns {"ltr" | "rtl"} */
export function writingDirection(code) {
  try {
    return RIGHT_TO_LEFT.has(new Intl.Locale(code).maximize().script ?? "") ? "rtl" : "ltr";
  } catch {
    return "ltr"; // no code of BCP 47
  }
}

/** An element holds text of a language. @param {HTMLElement} element @param {string} code "" if it is not known */
export function inLanguage(element, code) {
  element.lang = code;
  element.dir = code ? writingDirection(code) : "auto";
  return element;
}
