// What the page remembers in this browser. A browser that forbids it remembers nothing; the page works all the same.

/** Kept until the tab is closed. */
export const tab = () => sessionStorage;

/** @param {string} key @param {() => Storage} place @returns {string | null} */
export function recall(key, place = () => localStorage) {
  try {
    return place().getItem(key);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string} value @param {() => Storage} place */
export function remember(key, value, place = () => localStorage) {
  try {
    place().removeItem(key); // should there be no room for the new value, the old one is no better
    place().setItem(key, value);
  } catch {
    // nothing is remembered
  }
}
