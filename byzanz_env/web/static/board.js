/** The table: everybody's side, the bundle and the market. Draws a view of the game, knows no rules. */
import { back, card, cardNames, medallion, typeOf, TYPES } from "./art.js";
import { h } from "./dom.js";

/**
 * @typedef {{hand: number[] | null, known: number[], unknown: number, hand_size: number, points: number,
 *   bidder_card: number, bid: number[], bid_total: number, in_auction: boolean}} Seat
 * @typedef {{phase: string, to_act: number | null, round: number, rounds: number, auction: number, on_offer: number,
 *   high_bid: number, pile: number, bundle: number[], market: number[], gone: number, laid: number[], seats: Seat[]}} View
 * @typedef {{names: string[], agents: string[], you: number | null, chances?: number[] | null,
 *   bundleCard?: (kind: number, at: number) => any, marketGroup?: (type: number, at: number) => any}} Options
 */

/** Set values deep inside a view: each change is [key, ..., value]. @param {any} view @param {any[][]} changes */
export function applyChanges(view, changes) {
  for (const change of changes) {
    let place = view;
    for (const key of change.slice(0, -2)) place = place[key];
    place[change[change.length - 2]] = change[change.length - 1];
  }
}

/** @param {View} view @param {Options} options */
export function board(view, options) {
  const seats = view.seats.map((_, seat) => seat);
  const first = options.you ?? 0;
  const others = seats.map((_, i) => (first + i) % seats.length).filter((seat) => seat !== options.you);
  return h("div", { class: "board" },
    h("div", { class: `others n${others.length}` }, others.map((seat) => side(view, seat, options))),
    h("div", { class: "centre" }, offer(view, options), market(view, options)));
}

/** @param {View} view @param {number} seat @param {Options} options */
export function side(view, seat, options) {
  const who = view.seats[seat];
  const active = view.to_act === seat;
  const leads = who.bid_total > 0 && who.bid_total === view.high_bid;
  const state = view.phase !== "bid" ? "" : who.bidder_card ? "" : !who.in_auction ? "passed" : leads ? "leads" : "";
  const shown = who.hand ?? who.known;
  return h("section", { class: `side${active ? " active" : ""}${state === "passed" ? " passed" : ""}`, "aria-label": options.names[seat], "data-seat": seat },
    h("header", {},
      h("h3", {}, options.names[seat], options.you === seat ? null : h("small", {}, options.agents[seat])),
      h("span", { class: "points", title: "points" }, String(who.points)),
      who.bidder_card ? medallion(who.bidder_card) : h("span", { class: "state" }, state)),
    options.chances ? chanceBar(options.chances[seat]) : null,
    h("div", { class: "row hand-row", "aria-label": handLabel(who) },
      shown.map((kind) => card(kind, { small: true })),
      who.hand ? null : Array.from({ length: who.unknown }, back),
      who.hand_size === 0 ? h("span", { class: "dim" }, "no cards") : null),
    who.bid.length
      ? h("div", { class: "row bid", "aria-label": `bid of ${who.bid_total}: ${cardNames(who.bid)}` },
          h("span", { class: "total" }, String(who.bid_total)), who.bid.map((kind) => card(kind, { small: true })))
      : null);
}

/** @param {Seat} who */
function handLabel(who) {
  if (who.hand) return `hand: ${cardNames(who.hand)}`;
  const unknown = who.unknown ? `, ${who.unknown} unknown` : "";
  return `${who.hand_size} cards in hand: ${cardNames(who.known)}${unknown}`;
}

/** @param {number} chance */
function chanceBar(chance) {
  const bar = h("span", { class: "fill" });
  bar.style.width = `${Math.round(chance * 100)}%`;
  return h("div", { class: "chance", role: "img", "aria-label": `chance to win ${Math.round(chance * 100)} %`, title: `chance to win ${Math.round(chance * 100)} %` }, bar,
    h("small", {}, `${Math.round(chance * 100)} %`));
}

/** @param {View} view @param {Options} options */
function offer(view, options) {
  const title = view.on_offer ? `On offer` : "No auction now";
  return h("section", { class: "zone offer", "aria-label": "bundle on offer" },
    h("header", {}, h("h3", {}, title), h("span", { class: "dim" }, view.high_bid ? `highest bid ${view.high_bid}` : view.phase === "bid" ? "no bid yet" : "")),
    h("div", { class: "row" },
      view.on_offer ? medallion(view.on_offer, `bidder card ${view.on_offer}`) : null,
      view.bundle.map((kind, at) => (options.bundleCard ? options.bundleCard(kind, at) : card(kind))),
      view.bundle.length || view.on_offer ? null : h("p", { class: "dim" }, restText(view))));
}

/** @param {View} view */
function restText(view) {
  if (view.phase === "pick") return "The market is open: from the lowest bidder card to the highest.";
  if (view.phase === "trim") return "A hand is too full: down to seven cards by selling or discarding.";
  if (view.phase === "final") return "Everybody sells once more.";
  if (view.phase === "over") return "The game is over.";
  return "";
}

/** @param {View} view @param {Options} options */
function market(view, options) {
  const groups = TYPES.map((_, type) => view.market.filter((kind) => typeOf(kind) === type));
  let at = 0;
  return h("section", { class: "zone market", "aria-label": "market" },
    h("header", {}, h("h3", {}, "Market"), h("span", { class: "dim" }, `round ${view.round + 1} of ${view.rounds} · ${view.pile} in the pile`)),
    h("div", { class: "row groups" },
      groups.map((kinds, type) => {
        if (!kinds.length) return null;
        const inside = kinds.map((kind) => card(kind, { small: true }));
        const made = options.marketGroup?.(type, at);
        at += 1;
        if (!made) return h("div", { class: `group type-${TYPES[type]}`, "aria-label": cardNames(kinds) }, inside);
        made.append(...inside);
        return made;
      }),
      view.market.length ? null : h("p", { class: "dim" }, "nothing yet")));
}
