/** The curve of winning chances: one line per player over the decisions of a game. */
import { h, s } from "./dom.js";

const WIDTH = 640;
const HEIGHT = 170;
const LEFT = 30;
const BOTTOM = 18;

/**
 * @param {{n: number, chances: number[]}[]} curve
 * @param {string[]} names
 * @param {number} length
 * @param {(n: number) => void} go
 */
export function chart(curve, names, length, go) {
  const x = (/** @type {number} */ n) => LEFT + (n / Math.max(1, length)) * (WIDTH - LEFT - 4);
  const y = (/** @type {number} */ chance) => 4 + (1 - chance) * (HEIGHT - BOTTOM - 4);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((chance) => [
    s("line", { class: "grid", x1: LEFT, x2: WIDTH - 4, y1: y(chance), y2: y(chance) }),
    s("text", { x: LEFT - 4, y: y(chance) + 4, "text-anchor": "end" }, `${chance * 100}`),
  ]);
  const lines = names.map((_, seat) => {
    const points = curve.map((point) => `${x(point.n).toFixed(1)},${y(point.chances[seat]).toFixed(1)}`);
    return s("polyline", { class: `line seat${seat}`, points: points.join(" ") });
  });
  const cursor = s("line", { class: "cursor", x1: LEFT, x2: LEFT, y1: 4, y2: HEIGHT - BOTTOM });
  const picture = s("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": summary(curve, names) }, grid, lines, cursor);
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const at = ((/** @type {MouseEvent} */ (event).clientX - box.left) / box.width) * WIDTH;
    go(Math.max(0, Math.min(length, Math.round(((at - LEFT) / (WIDTH - LEFT - 4)) * length))));
  });
  const key = h("p", { class: "key" }, names.map((name, seat) => h("span", { class: `seat${seat}` }, name)));
  return {
    element: h("div", {}, picture, key),
    /** @param {number} n */
    move(n) {
      cursor.setAttribute("x1", String(x(n)));
      cursor.setAttribute("x2", String(x(n)));
    },
  };
}

/** @param {{n: number, chances: number[]}[]} curve @param {string[]} names */
function summary(curve, names) {
  if (!curve.length) return "chances to win";
  const last = curve[curve.length - 1].chances;
  return "Chances to win at the last decision: " + names.map((name, seat) => `${name} ${Math.round(last[seat] * 100)} %`).join(", ");
}
