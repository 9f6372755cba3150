// Read a translation out, with a voice of the browser; without one of its language there is no button.

import { sameLanguage } from "./languages.js";

/** @param {string} language @returns {SpeechSynthesisVoice | undefined} one on this machine, if there is */
function voiceOf(language) {
  const voices = globalThis.speechSynthesis?.getVoices().filter(({ lang }) => sameLanguage(lang, language)) ?? [];
  return voices.find(({ localService }) => localService) ?? voices[0];
}

/** @param {string} language */
export const canSpeak = (language) => voiceOf(language) !== undefined;

/** Begin, or end if something is being read. @param {string} text @param {string} language */
export function speak(text, language) {
  const isSpeaking = speechSynthesis.speaking;
  speechSynthesis.cancel();
  const voice = voiceOf(language);
  if (isSpeaking || !voice) return;
  const said = new SpeechSynthesisUtterance(text);
  said.voice = voice;
  said.lang = voice.lang;
  speechSynthesis.speak(said);
}

/** Voices come late in some browsers. @param {() => void} changed */
export function watchVoices(changed) {
  globalThis.speechSynthesis?.addEventListener?.("voiceschanged", changed);
}
