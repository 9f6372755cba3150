// The status line under the translation.

import { byId } from "./dom.js";

/** @type {() => string} */
let current = () => "";
let kindOfCurrent = "";

/** @param {() => string} message in the interface's language whenever it is asked @param {string} kind */
export function tell(message, kind = "") {
  current = message;
  kindOfCurrent = kind;
  repeatStatus();
}

/** Write the line again, in another language say. The same again is not read out twice. */
export function repeatStatus() {
  const line = byId("status");
  const text = current();
  if (line.textContent !== text) line.textContent = text;
  line.className = `status ${kindOfCurrent}`;
}
