/** Cards and medallions, drawn from the symbols in art.svg. */
import { capital, h, s } from "./dom.js";

export const TYPES = ["cloth", "spice", "wine", "wood", "grain", "olive", "merchant"];
export const MERCHANT = 24;

/** @param {number} kind @returns {number} */
export function typeOf(kind) {
  return Math.floor(kind / 4);
}

/** @param {number} kind @returns {number} */
export function valueOf(kind) {
  return kind === MERCHANT ? 0 : (kind % 4) + 1;
}

/** @param {number} kind @returns {string} */
export function cardName(kind) {
  return kind === MERCHANT ? "merchant" : `${TYPES[typeOf(kind)]} ${valueOf(kind)}`;
}

/** @param {number[]} kinds @returns {string} */
export function cardNames(kinds) {
  return kinds.length ? kinds.map(cardName).join(", ") : "nothing";
}

/** @param {string} name */
export function icon(name) {
  return s("svg", { class: "icon", "aria-hidden": "true", viewBox: "0 0 48 48" }, s("use", { href: `#art-${name}` }));
}

/**
 * A card: a button when `options.press` is given, else a picture.
 * @param {number} kind
 * @param {{press?: () => void, pressed?: boolean, glow?: boolean, why?: string, key?: string, number?: number, small?: boolean, label?: string}} [options]
 */
export function card(kind, options = {}) {
  const type = TYPES[typeOf(kind)];
  const classes = ["card", `type-${type}`];
  if (options.small) classes.push("small");
  if (options.glow) classes.push("glow");
  const face = [
    h("span", { class: "value", "aria-hidden": "true" }, kind === MERCHANT ? "★" : String(valueOf(kind))),
    icon(type),
    options.small ? null : h("span", { class: "name", "aria-hidden": "true" }, capital(type)),
  ];
  if (!options.press) {
    return h("span", { class: classes.join(" "), role: "img", "aria-label": cardName(kind), title: cardName(kind) }, face);
  }
  if (options.number) face.push(h("kbd", { "aria-hidden": "true" }, String(options.number)));
  return h("button", {
    class: classes.join(" "), type: "button", onclick: options.press,
    "aria-pressed": options.pressed === undefined ? undefined : String(options.pressed),
    "aria-disabled": options.why ? "true" : undefined,
    "aria-label": (options.label ?? cardName(kind)) + (options.why ? `, ${options.why}` : ""),
    title: options.why ?? options.label ?? cardName(kind), "data-key": options.key, "data-kind": kind,
  }, face);
}

/** A card seen from behind. */
export function back() {
  return h("span", { class: "card small back", role: "img", "aria-label": "unknown card", title: "unknown card" }, icon("back"));
}

/** The medallion of a bidder card. @param {number} number @param {string} [label] */
export function medallion(number, label) {
  return h("span", { class: "medallion", role: "img", "aria-label": label ?? `bidder card ${number}`, title: label ?? `bidder card ${number}` },
    icon("dome"), h("b", { "aria-hidden": "true" }, String(number)));
}
