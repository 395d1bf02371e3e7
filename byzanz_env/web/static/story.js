/** A finished game: slider and arrow keys, the log, the score sheet, chances to win and costly moves. */
import { applyChanges, board } from "./board.js";
import { chart } from "./chart.js";
import { announce, h, percent, refill } from "./dom.js";

/**
 * @param {any} story the document of a finished game
 * @param {{analyze?: () => Promise<any>, at?: number, playing?: boolean}} [options]
 */
export function storyPage(story, options = {}) {
  const views = unfold(story);
  const last = views.length - 1;
  let at = Math.max(0, Math.min(last, options.at ?? 0));
  let analysis = story.analysis;
  let timer = 0;
  /** @type {ReturnType<typeof chart> | null} */
  let curve = null;

  const table = h("div", { class: "table" });
  const note = h("p", { class: "note", id: "note" });
  const log = h("ol", { class: "log", tabIndex: 0, "aria-label": "What happened" });
  const judged = h("section", { class: "panel judged", "aria-label": "Analysis" });
  const slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: 0, max: last, value: at, step: 1, id: "slider", "aria-label": "Position in the game", oninput: () => go(Number(slider.value)) }));
  const play = h("button", { type: "button", id: "play", onclick: () => toggle() }, "▶ Play");
  const place = h("output", { class: "place" });
  const pace = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Pace", id: "story-pace" },
    h("option", { value: "1400" }, "slow"), h("option", { value: "600", selected: true }, "normal"), h("option", { value: "150" }, "fast")));

  /** @param {number} n */
  function go(n) {
    at = Math.max(0, Math.min(last, n));
    draw();
  }
  /** @param {number} direction */
  function jump(direction) {
    let next = at + direction;
    while (next > 0 && next < last && !views[next].lines.length) next += direction;
    go(next);
  }
  function toggle() {
    if (timer) {
      clearTimeout(timer);
      timer = 0;
    } else {
      if (at === last) at = 0;
      tick();
    }
    play.textContent = timer ? "❚❚ Pause" : "▶ Play";
  }
  function tick() {
    if (at >= last || (page.isConnected === false && timer)) {
      timer = 0;
      play.textContent = "▶ Play";
      return;
    }
    timer = window.setTimeout(() => {
      jump(1);
      if (timer) tick();
    }, Number(pace.value));
  }
  function draw() {
    const now = views[at];
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", now.lines.join(" ") || `decision ${at}`);
    place.textContent = `${at} / ${last}`;
    const chances = chancesAt(analysis, at);
    refill(table, board(now.view, { names: story.names, agents: story.agents, you: null, chances }));
    note.textContent = now.lines.join(" ");
    const judgement = analysis?.moves.find((/** @type {any} */ move) => move.n === at);
    if (judgement) note.append(judgementText(judgement));
    drawLog();
    curve?.move(at);
  }
  /** @param {any} move */
  function judgementText(move) {
    const same = move.played === move.better;
    const cost = same ? `${analysis.adviser} would do the same.` : `${analysis.adviser} would have: ${move.better}${move.cost > 0 ? `, ${percent(move.cost)} better` : ""}.`;
    return h("span", { class: same ? "advice" : "advice differs" }, ` Next: ${story.names[move.seat]}, ${move.played}. ${cost}`);
  }
  function drawLog() {
    const from = Math.max(0, at - 60);
    const entries = [];
    for (let n = from; n <= at; n += 1) {
      for (const line of views[n].lines) entries.push(h("li", { class: n === at ? "new" : "" }, h("button", { type: "button", class: "plain", tabIndex: -1, onclick: () => go(n) }, line)));
    }
    log.replaceChildren(...entries);
    log.scrollTop = log.scrollHeight;
  }
  function drawAnalysis() {
    if (!analysis) {
      refill(judged, h("h2", {}, "Analysis"),
        options.analyze ? h("button", { type: "button", id: "analyze", onclick: think }, "Judge this game") : h("p", { class: "dim" }, "not in this file"));
      return;
    }
    curve = chart(analysis.curve, story.names, last, go);
    const worst = analysis.worst.map((/** @type {any} */ move) => h("li", {},
      h("button", { type: "button", class: "move", onclick: () => go(move.n) },
        h("b", {}, `−${percent(move.cost)}`), ` ${story.names[move.seat]}: ${move.played}`, h("small", {}, ` better: ${move.better}`))));
    refill(judged, h("div", { class: "verdict" },
      h("div", {}, h("h2", {}, "Chances to win"), h("p", { class: "dim" }, `as each player could see them, judged by ${analysis.adviser}`), curve.element),
      h("div", {}, h("h2", {}, "Moves that cost most"), worst.length ? h("ol", { class: "worst" }, worst) : h("p", {}, "No decision cost anything."))));
    curve.move(at);
  }
  async function think() {
    if (!options.analyze) return;
    refill(judged, h("h2", {}, "Analysis"), h("p", { class: "thinking" }, "Thinking about every decision …"));
    try {
      analysis = await options.analyze();
      announce("The analysis is ready.");
    } catch (problem) {
      refill(judged, h("p", { class: "problem" }, String(/** @type {Error} */ (problem).message)));
      return;
    }
    drawAnalysis();
    draw();
  }
  /** @param {KeyboardEvent} event */
  function keys(event) {
    if (!page.isConnected) {
      document.removeEventListener("keydown", keys);
      return;
    }
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return;
    const steps = /** @type {Record<string, () => void>} */ ({
      ArrowRight: () => jump(1), ArrowLeft: () => jump(-1), Home: () => go(0), End: () => go(last), " ": () => toggle(),
    });
    if (!steps[event.key] || (event.key === " " && target instanceof HTMLButtonElement)) return;
    event.preventDefault();
    steps[event.key]();
  }

  const tools = h("div", { class: "tools" },
    h("button", { type: "button", "aria-label": "To the start", onclick: () => go(0) }, "|◀"),
    h("button", { type: "button", id: "back", "aria-label": "Back", onclick: () => jump(-1) }, "◀"), play,
    h("button", { type: "button", id: "on", "aria-label": "On", onclick: () => jump(1) }, "▶"),
    h("button", { type: "button", "aria-label": "To the end", onclick: () => go(last) }, "▶|"), slider, place, pace);
  const page = h("div", { class: "game story" },
    h("div", { class: "left" }, table, note, tools, judged),
    h("aside", { class: "right" }, scoreSheet(story), h("section", { class: "panel grow", "aria-label": "Log" }, h("h2", {}, "Log"), log), story.file ? download(story) : null));
  document.addEventListener("keydown", keys);
  drawAnalysis();
  draw();
  if (options.playing) toggle();
  return page;
}

/** Every position of the game, from the first one and the changes. @param {any} story */
function unfold(story) {
  const views = [{ view: story.start, lines: story.opening }];
  for (const frame of story.frames) {
    const view = structuredClone(views[views.length - 1].view);
    applyChanges(view, frame.set);
    views.push({ view, lines: frame.lines });
  }
  return views;
}

/** The chances as of a position. @param {any} analysis @param {number} at */
function chancesAt(analysis, at) {
  if (!analysis) return null;
  let found = null;
  for (const point of analysis.curve) {
    if (point.n > at) break;
    found = point.chances;
  }
  return found;
}

/** Points, cards and places. @param {any} story */
export function scoreSheet(story) {
  const result = story.result;
  const seats = story.names.map((/** @type {string} */ _, /** @type {number} */ seat) => seat);
  seats.sort((/** @type {number} */ a, /** @type {number} */ b) => result.points[b] - result.points[a] || result.hand_sizes[b] - result.hand_sizes[a]);
  return h("section", { class: "panel", "aria-label": "Score sheet" },
    h("h2", {}, result.end === "unfinished" ? "Score so far" : "Score sheet"),
    h("table", { class: "scores" },
      h("thead", {}, h("tr", {}, ["", "points", "cards", ""].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, seats.map((/** @type {number} */ seat) => h("tr", { class: result.shares[seat] > 0 ? "winner" : "" },
        h("th", { scope: "row", class: `seat${seat}` }, story.names[seat], " ", h("small", {}, story.agents[seat])),
        h("td", {}, String(result.points[seat])), h("td", {}, String(result.hand_sizes[seat])),
        h("td", {}, result.shares[seat] === 1 ? "wins" : result.shares[seat] > 0 ? "shares the win" : ""))))));
}

/** @param {any} story */
function download(story) {
  return h("p", {}, h("button", {
    type: "button",
    onclick: () => {
      const link = /** @type {HTMLAnchorElement} */ (h("a", { href: URL.createObjectURL(new Blob([story.file], { type: "application/jsonl" })), download: "byzanz.jsonl" }));
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    },
  }, "Save the replay file"));
}
