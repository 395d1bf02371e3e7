/** Small things every part of the page needs: making elements, speaking to screen readers, the theme. */

/**
 * Make an element. Properties that start with "on" are listeners, "aria-", "data-" and "role" are
 * attributes, `class` is the class name; everything else is set as a property.
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...any} children
 * @returns {HTMLElement}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (/^(aria-|data-|role$|for$|colspan$|scope$)/.test(name)) element.setAttribute(name, String(value));
    else /** @type {any} */ (element)[name] = value;
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/**
 * Make an SVG element.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...any} children
 */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children.flat(Infinity));
  return element;
}

/** @param {string} text @returns {string} */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Say something to screen readers. @param {string} text */
export function announce(text) {
  const live = document.getElementById("live");
  if (live && text) live.textContent = text;
}

/** Replace the content of an element and keep the keyboard where it was. @param {HTMLElement} place @param {...any} children */
export function refill(place, ...children) {
  const active = document.activeElement;
  const key = active && place.contains(active) ? active.getAttribute("data-key") : null;
  place.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (!key) return;
  const again = place.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}

/** @param {number} chance */
export function percent(chance) {
  return `${Math.round(chance * 100)} %`;
}

/** Light and dark: as the system says, until the button is used. */
export function startTheme() {
  const root = document.documentElement;
  const dark = () => root.dataset.theme === "dark" || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  try {
    const kept = localStorage.getItem("byzanz-theme");
    if (kept) root.dataset.theme = kept;
  } catch { /* a page from a file may have no storage */ }
  document.getElementById("theme")?.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try {
      localStorage.setItem("byzanz-theme", root.dataset.theme);
    } catch { /* then it holds for this visit */ }
  });
}
