/** The page: new game, watch, replay, ladder, opponents, rules. */
import { ask } from "./api.js";
import { card } from "./art.js";
import { announce, h, refill, startTheme } from "./dom.js";
import { PACES, playPage } from "./play.js";
import { storyPage } from "./story.js";

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
/** @type {any} */
let offered = null;
/** @type {string | null} */
let running = null;

/** @param {string} name @param {...any} content */
function show(name, ...content) {
  for (const button of document.querySelectorAll("[data-page]")) button.toggleAttribute("data-current", button.getAttribute("data-page") === name);
  document.querySelector('[data-page="game"]')?.toggleAttribute("hidden", !running || name === "play");
  main.dataset.shows = name;
  refill(main, ...content);
}

/** @param {any} problem */
function fail(problem) {
  show("problem", h("p", { class: "panel problem" }, String(problem.message ?? problem)));
  announce(String(problem.message ?? problem));
}

/** Choices of opponents for a table. @param {boolean} watching */
function setupPage(watching) {
  const number = /** @type {HTMLSelectElement} */ (h("select", { id: "players", onchange: () => seats() }, [3, 4, 5, 6].map((n) => h("option", { value: n, selected: n === 4 }, `${n} players`))));
  const place = /** @type {HTMLSelectElement} */ (h("select", { id: "seat" }));
  const pace = /** @type {HTMLSelectElement} */ (h("select", { id: "start-pace" }, Object.keys(PACES).map((name) => h("option", { value: name, selected: name === "normal" }, name))));
  const forced = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id: "forced", checked: true }));
  const seed = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "seed", inputMode: "numeric", placeholder: "by chance", size: 12 }));
  const list = h("div", { class: "seats" });
  const problem = h("p", { class: "problem", role: "alert" });
  const kept = /** @type {string[]} */ ([]);

  function seats() {
    const n = Number(number.value);
    for (const [at, select] of [...list.querySelectorAll("select")].entries()) kept[at] = /** @type {HTMLSelectElement} */ (select).value;
    refill(list, Array.from({ length: watching ? n : n - 1 }, (_, at) => h("label", {}, `${watching ? "Seat" : "Opponent"} ${at + 1} `,
      h("select", { class: "opponent" }, offered.agents[n].map((/** @type {string} */ name) => h("option", { value: name, selected: name === (offered.agents[n].includes(kept[at]) ? kept[at] : offered.defaults[n]) }, name))))));
    refill(place, Array.from({ length: n }, (_, at) => h("option", { value: at }, at === 0 ? "first (you start)" : `number ${at + 1}`)));
  }
  async function start() {
    const text = seed.value.trim();
    if (text && !/^\d{1,15}$/.test(text)) {
      problem.textContent = "A seed is a number of at most 15 digits.";
      return;
    }
    const table = { players: Number(number.value), opponents: [...list.querySelectorAll("select")].map((select) => /** @type {HTMLSelectElement} */ (select).value), seed: text ? Number(text) : null };
    problem.textContent = "";
    try {
      if (watching) {
        announce("The game is being played.");
        refill(list, h("p", { class: "thinking" }, "They play …"));
        openStory(await ask("watch", table), true);
      } else await startGame({ ...table, seat: Number(place.value), forced: forced.checked }, /** @type {any} */ (pace.value));
    } catch (error) {
      seats();
      problem.textContent = String(/** @type {Error} */ (error).message);
    }
  }
  seats();
  show(watching ? "watch" : "setup", h("section", { class: "panel setup" },
    h("div", { class: "row fan", "aria-hidden": "true" }, [2, 5, 11, 13, 16, 22, 24].map((kind) => card(kind))),
    h("h2", {}, watching ? "Watch opponents play" : "A new game"),
    h("p", { class: "dim" }, watching ? "All hands are face up; you can go back and forth." : "Win bundles of goods in auctions, take your pick of the market, and sell sets of three."),
    h("form", { onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); start(); } },
      h("div", { class: "fields" }, h("label", {}, "Table ", number), watching ? null : h("label", {}, "You sit ", place), watching ? null : h("label", {}, "Pace of the others ", pace),
        h("label", {}, "Seed ", seed)),
      list, watching ? null : h("label", { class: "check" }, forced, " play moves without a choice for me"), problem,
      h("button", { type: "submit", class: "main", id: "start" }, watching ? "Watch" : "Deal the cards"))));
}

/** @param {any} table @param {keyof typeof PACES} pace */
async function startGame(table, pace) {
  if (running) ask("leave", { game: running }).catch(() => undefined);
  const state = await ask("new", table);
  showGame(state, pace);
}

/** @param {any} state @param {keyof typeof PACES} pace */
function showGame(state, pace) {
  running = state.game;
  history.replaceState(null, "", `#game=${state.game}`);
  show("play", playPage(state, { pace, finished: finish }));
  main.focus({ preventScroll: true });
}

/** A page that is loaded again goes on with its game, if that is still there. */
async function resume() {
  const game = /^#game=([0-9a-f]{32})$/.exec(location.hash)?.[1];
  if (!game) return false;
  try {
    showGame({ ...(await ask("state", { game })), game, frames: [] }, "normal");
    return true;
  } catch {
    history.replaceState(null, "", location.pathname + location.search);
    return false;
  }
}

/** @param {string} game */
async function finish(game) {
  try {
    const story = await ask("finish", { game });
    running = null;
    show("story", storyPage(story, { at: story.frames.length, analyze: () => ask("analyze", { game }) }));
  } catch (problem) {
    fail(problem);
  }
}

/** @param {any} story @param {boolean} [playing] */
function openStory(story, playing = false) {
  show("story", storyPage(story, { playing, analyze: () => ask("analyze", { text: story.file }) }));
}

function openPage() {
  const problem = h("p", { class: "problem", role: "alert" });
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "file", id: "file", accept: ".jsonl", onchange: async () => {
    const file = input.files?.[0];
    if (!file) return;
    problem.textContent = "";
    try {
      if (file.size > 240_000) throw new Error("This file is too large for a replay.");
      openStory(await ask("open", { text: await file.text() }));
    } catch (error) {
      problem.textContent = String(/** @type {Error} */ (error).message);
    }
  } }));
  show("open", h("section", { class: "panel setup" }, h("h2", {}, "Open a replay"),
    h("p", { class: "dim" }, "Replay files come from byzanz play, byzanz watch, the arena, or the end of a game on this page. The file is checked decision by decision."),
    h("label", {}, "File ", input), problem));
}

async function ladderPage() {
  const ladder = await ask("ladder");
  show("ladder", h("section", { class: "panel wide" }, h("h2", {}, "Ladder"), h("p", { class: "dim" }, ladder.note),
    ladder.tables.map((/** @type {any} */ table) => [h("h3", {}, table.title), h("div", { class: "scroll" }, h("table", { class: "ladder" },
      h("thead", {}, h("tr", {}, table.columns.map((/** @type {string} */ title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, table.rows.map((/** @type {string[]} */ row) => h("tr", {}, row.map((cell, at) => h(at ? "td" : "th", at ? {} : { scope: "row" }, cell)))))))])));
}

async function modelsPage() {
  const models = await ask("models");
  show("models", h("section", { class: "panel wide" }, h("h2", {}, "Opponents"),
    models.cards.map((/** @type {any} */ model) => h("article", { class: "model" }, h("h3", {}, model.name), model.paragraphs.map((/** @type {any} */ part) => paragraph(part))))));
}

/** @param {{kind: string, text?: string, items?: string[], rows?: string[][]}} part */
function paragraph(part) {
  if (part.kind === "heading") return h("h4", {}, part.text);
  if (part.kind === "list") return h("ul", {}, part.items?.map((item) => h("li", {}, item)));
  if (part.kind === "code") return h("pre", {}, part.text);
  if (part.kind === "table") return h("div", { class: "scroll" }, h("table", { class: "ladder" }, h("tbody", {}, part.rows?.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))));
  return h("p", {}, part.text);
}

function rulesPage() {
  const lines = [
    ["The goal", "Collect goods and sell them in sets of three. The best card of each set is your profit; the most profit wins."],
    ["The cards", "Six types of goods with values 1 to 4, and merchants: jokers in sales, of no use in bids."],
    ["Auctions", "A round has one auction per player, for as many cards as the bidder card says. Bid with cards from your hand: only the total counts, and it must beat the highest bid. Or pass and take your bid back. Everybody wins exactly one auction a round."],
    ["Winning", "Your bid and one card of the bundle go to the market; the rest of the bundle is yours. When all pass, the first to pass gets the whole bundle for nothing."],
    ["The market", "After the auctions, from the lowest bidder card to the highest, each player takes all cards of one type. Merchants count as a type."],
    ["Selling", "Whenever you decide something: three cards of one type, where merchants may stand in for one or two. Three merchants bring 5."],
    ["Hand limit", "Whenever you take cards and hold more than seven, sell or discard at once."],
    ["The end", "After the last market everyone may sell once more. A tie goes to the one with more cards in hand."],
    ["Keys", "1 to 9 choose cards, Enter bids or sells, P passes, S sells, D discards, H asks for a hint, Esc clears. In a replay: arrows, Home, End, space."],
  ];
  show("rules", h("section", { class: "panel wide" }, h("h2", {}, "Byzanz in short"), h("dl", {}, lines.map(([title, text]) => [h("dt", {}, title), h("dd", {}, text)]))));
}

const pages = /** @type {Record<string, () => any>} */ ({ game: resume, setup: () => setupPage(false), watch: () => setupPage(true), open: openPage, ladder: ladderPage, models: modelsPage, rules: rulesPage });

/** @param {string} name */
async function visit(name) {
  main.dataset.shows = name;
  offered ??= await ask("setup");
  await pages[name]();
}

async function begin() {
  startTheme();
  for (const button of document.querySelectorAll("[data-page]")) {
    button.addEventListener("click", () => visit(button.getAttribute("data-page") ?? "setup").catch(fail));
  }
  offered ??= await ask("setup");
  if (await resume()) return;
  const story = offered.replay ? await ask("preloaded") : null;
  if (main.dataset.shows) return; // somebody was quicker than the server
  if (story) openStory(story);
  else setupPage(false);
}

begin().catch(fail);
