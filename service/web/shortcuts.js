// Keys that work anywhere on the page; with Control, or Command on a Mac.

/** @param {Record<string, () => void>} actions by the name of a key; "shift+x" with the shift key */
export function watchKeys(actions) {
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.isComposing) return;
    const action = actions[`${event.shiftKey ? "shift+" : ""}${event.key.toLowerCase()}`];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
