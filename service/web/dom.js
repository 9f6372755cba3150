// Short ways to find and make elements. Text goes in as text, never as markup.

/** The element of this id, which the page has. @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found;
}

/** @param {string} id */
export const selectById = (id) => /** @type {HTMLSelectElement} */ (byId(id));

/** @param {string} id */
export const inputById = (id) => /** @type {HTMLInputElement} */ (byId(id));

/**
 * A new element.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, unknown>} [properties] of the element object, such as textContent or className
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
