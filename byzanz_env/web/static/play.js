/** A running game: your hand, what you may do with it, the others' moves at their pace, hints. */
import { ask, Refused } from "./api.js";
import { card, cardName, cardNames, MERCHANT, TYPES, valueOf } from "./art.js";
import { applyChanges, board, side } from "./board.js";
import { announce, capital, h, percent, refill } from "./dom.js";

export const PACES = { slow: 1100, normal: 550, fast: 120, "at once": 0 };
const ASK = /** @type {Record<string, string>} */ ({
  give: "You won. Choose the card of the bundle that goes to the market; you keep the rest.",
  pick: "Choose the type that you take from the market.",
  trim: "You hold more than seven cards: choose three to sell, or one to discard.",
  final: "Last chance: choose three cards to sell, or stop.",
});

/** @param {any} state the answer to /api/new @param {{pace: keyof typeof PACES, finished: (game: string) => void}} options */
export function playPage(state, options) {
  const view = state.view;
  const names = state.names;
  let legal = state.legal;
  let turn = state.turn;
  let over = state.over;
  let busy = true;
  /** @type {Set<number>} places in the hand */
  let chosen = new Set();
  let pace = options.pace;
  let message = "";
  /** @type {any} */
  let hint = null;

  const table = h("div", { class: "table" });
  const mine = h("div", { class: "mine" });
  const log = h("ol", { class: "log", tabIndex: 0, "aria-label": "What happened" });
  const advice = h("div", { class: "advice-box" });
  const speed = /** @type {HTMLSelectElement} */ (h("select", { id: "pace", onchange: () => (pace = /** @type {any} */ (speed.value)) },
    Object.keys(PACES).map((name) => h("option", { value: name, selected: name === pace }, name))));
  const page = h("div", { class: "game play" },
    h("div", { class: "left" }, table, mine),
    h("aside", { class: "right" },
      h("section", { class: "panel", "aria-label": "Hint" }, h("div", { class: "panel-head" }, h("button", { type: "button", id: "hint", onclick: () => askHint() }, "Hint ", h("kbd", {}, "H")),
        h("label", {}, "Pace ", speed)), advice),
      h("section", { class: "panel grow", "aria-label": "Log" }, h("h2", {}, "Log"), log)));

  /** @param {string} verb */
  const can = (verb) => legal.filter((/** @type {any} */ action) => action.verb === verb);
  const hand = () => view.seats[state.you].hand;
  const chosenKinds = () => [...chosen].sort((a, b) => a - b).map((at) => hand()[at]);
  const same = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a.length === b.length && [...a].sort().join() === [...b].sort().join();
  const sale = () => can("sell").find((/** @type {any} */ action) => same(action.cards, chosenKinds()));
  const bidTotal = () => view.seats[state.you].bid_total + chosenKinds().reduce((sum, kind) => sum + valueOf(kind), 0);

  function draw() {
    const glowing = busy ? [] : legal;
    refill(table, board(view, {
      names, agents: state.agents, you: state.you, chances: hint?.chances,
      bundleCard: glowing.some((/** @type {any} */ a) => a.verb === "give") ? (kind, at) => giveCard(kind, at) : undefined,
      marketGroup: glowing.some((/** @type {any} */ a) => a.verb === "take") ? (type, at) => marketGroup(type, at) : undefined,
    }));
    refill(mine, own());
    drawHint();
    page.dataset.state = over ? "over" : busy ? "busy" : "yours";
    page.dataset.turn = String(turn);
  }
  function own() {
    const who = view.seats[state.you];
    const head = side({ ...view, seats: view.seats.map((/** @type {any} */ seat, /** @type {number} */ at) => (at === state.you ? { ...seat, hand: [] , hand_size: seat.hand_size || -1} : seat)) }, state.you, { names, agents: state.agents, you: state.you, chances: hint?.chances });
    head.querySelector(".hand-row")?.remove();
    head.append(h("div", { class: "row hand", role: "group", "aria-label": "Your hand" }, who.hand.map((/** @type {number} */ kind, /** @type {number} */ at) => handCard(kind, at))));
    head.append(h("p", { class: `ask${message ? " problem" : ""}`, id: "ask" }, message || question()), actions());
    return head;
  }
  /** @param {number} kind @param {number} at */
  function handCard(kind, at) {
    const usable = !busy && (can("lay").length || can("sell").length || can("discard").length);
    const why = whyNot(kind);
    const held = card(kind, {
      press: () => toggle(at), pressed: chosen.has(at), glow: Boolean(usable && !why), why: busy ? undefined : why,
      key: `hand-${at}`, number: at < 9 ? at + 1 : undefined,
    });
    return held;
  }
  /** Why a card of the hand is of no use now; undefined when it is. @param {number} kind */
  function whyNot(kind) {
    if (can("discard").length || can("sell").some((/** @type {any} */ action) => action.cards.includes(kind))) return undefined;
    if (view.phase === "bid") {
      if (kind === MERCHANT) return "merchants cannot be bid";
      return can("lay").length ? undefined : `all your cards together do not beat ${view.high_bid}`;
    }
    if (view.phase === "give" || view.phase === "pick") return "there is no set of three to sell with this card";
    return "no set of three with this card";
  }
  /** @param {number} kind @param {number} at */
  function giveCard(kind, at) {
    const action = can("give").find((/** @type {any} */ one) => one.cards[0] === kind);
    return card(kind, { press: () => send({ action: action.index }), glow: true, key: `give-${at}`, number: at + 1, label: `give ${cardName(kind)} to the market` });
  }
  /** @param {number} type @param {number} at */
  function marketGroup(type, at) {
    const action = can("take").find((/** @type {any} */ one) => one.good === type);
    if (!action) return null;
    return h("button", { type: "button", class: `group glow type-${TYPES[type]}`, "data-key": `take-${type}`, "aria-label": `${action.text}: ${cardNames(view.market.filter((/** @type {number} */ kind) => Math.floor(kind / 4) === type))}`, onclick: () => send({ action: action.index }) },
      h("kbd", { "aria-hidden": "true" }, String(at + 1)));
  }
  function question() {
    if (over) return "The game is over.";
    if (busy || !legal.length) return view.to_act === null ? "" : `${names[view.to_act]} is thinking …`;
    if (view.phase !== "bid") return ASK[view.phase] ?? "";
    if (!chosen.size) return can("lay").length ? `Choose cards worth more than ${view.high_bid - view.seats[state.you].bid_total} to bid, or pass.` : "You cannot beat the highest bid: pass, or sell first.";
    const total = bidTotal();
    if (chosenKinds().includes(MERCHANT)) return sale() ? `This set brings ${sale().profit}.` : "Merchants cannot be bid; with two or one more of a type they make a set to sell.";
    if (total > view.high_bid) return `That makes a bid of ${total}.${sale() ? ` Or sell the three for ${sale().profit}.` : ""}`;
    return `That makes ${total}; the highest bid is ${view.high_bid}. Add ${view.high_bid - total + 1} more.`;
  }
  function actions() {
    if (busy || over || !legal.length) return h("div", { class: "actions" }, over ? h("button", { type: "button", class: "main", onclick: () => options.finished(state.game) }, "Score sheet and replay") : null);
    const kinds = chosenKinds();
    const set = sale();
    const bids = view.phase === "bid";
    const ready = bids && kinds.length > 0 && !kinds.includes(MERCHANT) && bidTotal() > view.high_bid && can("lay").length > 0;
    const discard = kinds.length === 1 ? can("discard").find((/** @type {any} */ one) => one.cards[0] === kinds[0]) : null;
    return h("div", { class: "actions" },
      bids ? tool("bid", ready ? `Bid ${bidTotal()}` : "Bid", "Enter", ready, () => send({ raise: kinds }), () => (kinds.length ? question() : "Choose the cards that you add to your bid first.")) : null,
      can("pass").length ? tool("pass", bids ? "Pass" : "Stop selling", "P", true, () => send({ action: 0 }), () => "") : null,
      can("discard").length ? tool("discard", "Discard", "D", Boolean(discard), () => send({ action: discard.index }), () => "Choose exactly one card to discard.") : null,
      can("sell").length ? tool("sell", set ? `Sell for ${set.profit}` : "Sell", "S", Boolean(set), () => send({ action: set.index }), () => "Choose three cards of one type; merchants stand in for missing ones.") : null,
      kinds.length ? tool("clear", "Clear", "Esc", true, () => { chosen = new Set(); message = ""; draw(); }, () => "") : null,
      can("sell").length ? h("div", { class: "sets", role: "group", "aria-label": "Sets you can sell" }, bestSets().slice(0, 12).map((/** @type {any} */ action) =>
        h("button", { type: "button", class: "chip", "data-key": `set-${action.index}`, title: "choose these three cards", onclick: () => choose(action.cards) }, `${action.text.replace("sell ", "")} → ${action.profit}`))) : null);
  }
  /** Sets by profit, those with fewer merchants first. */
  function bestSets() {
    const merchants = (/** @type {any} */ action) => action.cards.filter((/** @type {number} */ kind) => kind === MERCHANT).length;
    return can("sell").sort((/** @type {any} */ a, /** @type {any} */ b) => b.profit - a.profit || merchants(a) - merchants(b));
  }
  /** @param {string} id @param {string} label @param {string} key @param {boolean} ready @param {() => void} work @param {() => string} why */
  function tool(id, label, key, ready, work, why) {
    return h("button", {
      type: "button", id: `do-${id}`, class: ready ? (id === "bid" || id === "sell" ? "main" : "") : "off", "aria-disabled": ready ? undefined : "true", "data-key": `do-${id}`,
      onclick: () => (ready ? work() : complain(why())),
    }, label, " ", h("kbd", { "aria-hidden": "true" }, key));
  }
  /** @param {string} text */
  function complain(text) {
    message = text;
    announce(text);
    draw();
  }
  /** @param {number[]} kinds */
  function choose(kinds) {
    chosen = new Set();
    for (const kind of kinds) {
      const at = hand().findIndex((/** @type {number} */ held, /** @type {number} */ place) => held === kind && !chosen.has(place));
      if (at >= 0) chosen.add(at);
    }
    message = "";
    draw();
  }
  /** @param {number} at */
  function toggle(at) {
    if (busy || at >= hand().length) return;
    const why = whyNot(hand()[at]);
    if (why && !chosen.has(at)) return complain(`${capital(cardName(hand()[at]))}: ${why}.`);
    if (chosen.has(at)) chosen.delete(at);
    else chosen.add(at);
    message = "";
    draw();
    announce(question());
  }
  /** @param {any} move */
  async function send(move) {
    if (busy) return;
    busy = true;
    chosen = new Set();
    message = "";
    hint = null;
    draw();
    try {
      await show(await ask("act", { game: state.game, turn, ...move }));
    } catch (problem) {
      if (problem instanceof Refused && problem.status === 409) return catchUp();
      busy = false;
      complain(capital(String(/** @type {Error} */ (problem).message)));
    }
  }
  async function catchUp() {
    const now = await ask("state", { game: state.game });
    Object.assign(view, now.view);
    log.replaceChildren();
    tell(now.log);
    await show({ ...now, frames: [] });
  }
  /** @param {any} answer */
  async function show(answer) {
    for (const frame of answer.frames) {
      if (!page.isConnected) return;
      applyChanges(view, frame.set);
      tell(frame.lines);
      if (frame.lines.length && frame.seat !== state.you && PACES[pace] > 0) {
        draw();
        await new Promise((resolve) => setTimeout(resolve, PACES[pace]));
      }
    }
    legal = answer.legal;
    turn = answer.turn;
    over = answer.over;
    busy = false;
    draw();
    announce(question());
    if (over) page.dispatchEvent(new CustomEvent("over"));
  }
  /** @param {string[]} lines */
  function tell(lines) {
    for (const line of lines) log.append(h("li", { class: line.startsWith("You") ? "you" : /^(Round|The )/.test(line) ? "head" : "" }, line));
    log.scrollTop = log.scrollHeight;
    announce(lines.join(" "));
  }
  async function askHint() {
    if (busy || over || !legal.length) return;
    refill(advice, h("p", { class: "thinking" }, "Thinking …"));
    try {
      hint = await ask("hint", { game: state.game });
    } catch (problem) {
      refill(advice, h("p", { class: "problem" }, String(/** @type {Error} */ (problem).message)));
      return;
    }
    draw();
    announce(`${hint.adviser} would ${hint.choices[0].text}`);
  }
  function drawHint() {
    if (!hint) {
      refill(advice, h("p", { class: "dim" }, "Ask what the strongest opponent would do, and how the chances stand."));
      return;
    }
    refill(advice, h("p", {}, `${hint.adviser} would:`),
      h("ol", { class: "choices" }, hint.choices.map((/** @type {any} */ one) => h("li", {}, h("button", { type: "button", class: "chip", onclick: () => follow(one) }, one.text), one.probability === null ? null : h("span", { class: "dim" }, ` ${percent(one.probability)}`)))),
      h("p", { class: "dim" }, "Chances to win: ", names.map((/** @type {string} */ name, /** @type {number} */ seat) => `${name} ${percent(hint.chances[seat])}`).join(" · ")));
  }
  /** Put a hint's cards into the choice, for the player to confirm. @param {any} one */
  function follow(one) {
    if (one.path.length > 1) choose(one.path.slice(0, -1).map((/** @type {number} */ action) => action - 2));
    else {
      const action = legal.find((/** @type {any} */ held) => held.index === one.path[0]);
      if (action && (action.verb === "sell" || action.verb === "discard")) choose(action.cards);
      else point(action);
    }
  }
  /** Show where a hint can be carried out. @param {any} action */
  function point(action) {
    const place = { pass: "#do-pass", give: `.offer button[data-kind="${action?.cards[0]}"]`, take: `[data-key="take-${action?.good}"]` }[/** @type {"pass"} */ (action?.verb)];
    const button = place ? page.querySelector(place) : null;
    if (!(button instanceof HTMLElement)) return;
    button.classList.add("hinted");
    button.focus();
  }
  /** @param {KeyboardEvent} event */
  function keys(event) {
    if (!page.isConnected) {
      document.removeEventListener("keydown", keys);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement) return;
    const number = Number(event.key);
    if (number >= 1 && number <= 9) numberKey(number - 1);
    else if (event.key === "Enter" && event.target instanceof HTMLButtonElement) return;
    else if (event.key === "Enter" && over) options.finished(state.game);
    else if (event.key === "Enter") press(page.querySelector("#do-bid.main") ?? page.querySelector("#do-sell.main") ?? page.querySelector("#do-discard:not(.off)"));
    else if (event.key === "Escape") press(page.querySelector("#do-clear"));
    else if (event.key.length === 1) press(page.querySelector({ p: "#do-pass", s: "#do-sell", d: "#do-discard", h: "#hint" }[event.key.toLowerCase()] ?? "none"));
    else return;
    event.preventDefault();
  }
  /** @param {number} at */
  function numberKey(at) {
    const shown = can("give").length ? table.querySelector(`[data-key="give-${at}"]`) : can("take").length ? table.querySelectorAll("button.group")[at] : null;
    if (shown) press(shown);
    else toggle(at);
  }
  /** @param {Element | null | undefined} button */
  function press(button) {
    if (button instanceof HTMLButtonElement) button.click();
  }

  document.addEventListener("keydown", keys);
  tell(state.log);
  draw();
  queueMicrotask(() => show(state)); // when the page is in its place
  return page;
}
