/**
 * Elements, made and watched. Every `on` returns its undoing. No markup is ever parsed from text,
 * so nothing that a player typed can become an element.
 */

/** @typedef {Node | string | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

/**
 * An element with attributes and children: `el("p", {class: "hint"}, "text")`. True sets an empty
 * attribute; false, null and undefined set none.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...present(children));
  return element;
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {string | number | boolean | null | undefined} value
 */
export function setAttribute(element, name, value) {
  if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value === true ? "" : value)) {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function present(children) {
  return /** @type {(Node | string)[]} */ (children.filter((child) => child || child === ""));
}

/**
 * Replaces the children of an element.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
}

/**
 * Sets an element's text where it differs: an unchanged live region is not read again.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Listens; returns the way to stop.
 * @param {EventTarget} target
 * @param {string} type
 * @param {(event: any) => void} listener
 * @param {AddEventListenerOptions} [options]
 * @returns {() => void}
 */
export function on(target, type, listener, options) {
  target.addEventListener(type, listener, options);
  return () => target.removeEventListener(type, listener, options);
}

/**
 * One undoing out of many, in reverse.
 * @param {(() => void)[]} undoings
 * @returns {() => void}
 */
export function all(undoings) {
  return () => {
    for (const undo of undoings.splice(0).reverse()) undo();
  };
}

/** @typedef {"flag"|"mine"|"clock"|"sun"|"moon"|"link"|"share"|"check"|"cross"|"eye"|"crown"|"plus"|"minus"|"fit"|"leave"|"again"|"shield"} Icon */

/**
 * An icon in the colour of the text; what it means must be said beside it or on its button.
 * @param {Icon} name
 */
export function icon(name) {
  return el("span", { class: `icon icon-${name}`, "aria-hidden": "true" });
}

/**
 * A button with its listener, which lives as long as the button.
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @param {() => void} press
 */
export function button(attributes, children, press) {
  const element = el("button", { type: "button", ...attributes }, ...children);
  element.addEventListener("click", press);
  return element;
}
