// A link that carries a text: it is in the fragment, which no browser sends to a server.

/** @typedef {import("./api.js").Pair} Pair */

const LONGEST_CHARACTERS = 4000; // of a link; longer ones are cut by some programs

/** @param {string} text @param {{ source: string, target: string }} pair @returns {string | null} null: too long for a link */
export function linkTo(text, { source, target }) {
  const link = new URL(location.href);
  link.hash = new URLSearchParams({ source, target, text }).toString();
  return link.href.length > LONGEST_CHARACTERS ? null : link.href;
}

/** What the address carries, if anything; the address then loses it. @returns {{ text: string, name: string } | null} */
export function takeLinked() {
  const carried = new URLSearchParams(location.hash.slice(1));
  const text = carried.get("text");
  if (!text) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return { text, name: `${carried.get("source")}-${carried.get("target")}` };
}
