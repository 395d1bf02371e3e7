"""The page in a real browser: whole games by mouse and by keyboard, hints, replays, widths, themes."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from byzanz_env.replay import parse
from byzanz_env.web.page import self_contained
from tests.web.conftest import PATIENCE, House
from tests.web.doors import table

pytestmark = pytest.mark.xdist_group("browser")
expect.set_options(timeout=PATIENCE)
YOURS = ".game[data-state=yours]"
OVER = ".game[data-state=over]"
HAND = ".hand button.card"


def start_game(page: Page, players: int = 3, seed: str = "7") -> None:
    page.wait_for_selector("#start")
    page.select_option("#players", str(players))
    page.select_option("#seat", "1")
    page.select_option("#start-pace", "at once")
    page.fill("#seed", seed)
    page.click("#start")
    page.wait_for_selector(f"{YOURS}, {OVER}")


def next_turn(page: Page, turn: str) -> None:
    """Wait until the move that was just made has been answered."""
    page.wait_for_selector(f'{OVER}, {YOURS}:not([data-turn="{turn}"])')


def turn_of(page: Page) -> str:
    return page.get_attribute(".game", "data-turn") or ""


def is_over(page: Page) -> bool:
    return page.get_attribute(".game", "data-state") == "over"


def test_a_whole_game_by_mouse(open_page) -> None:
    page = open_page()
    start_game(page)
    bids = 0
    while not is_over(page):
        turn = turn_of(page)
        if page.locator(".offer button.card").count():
            page.locator(".offer button.card").first.click()
        elif page.locator("button.group").count():
            page.locator("button.group").first.click()
        elif page.locator(".sets .chip").count():
            page.locator(".sets .chip").first.click()
            page.click("#do-sell.main")
        elif page.locator("#do-discard").count():
            page.locator(HAND).first.click()
            page.click("#do-discard")
        elif bids < 3 and page.locator(f'{HAND}:not([aria-disabled]):not([data-kind="24"])').count():
            bids += 1
            for place in range(page.locator(HAND).count()):
                card = page.locator(HAND).nth(place)
                if card.get_attribute("aria-disabled") is None and card.get_attribute("data-kind") != "24":
                    card.click()
            page.click("#do-bid.main")
        else:
            page.click("#do-pass")
        next_turn(page, turn)
    expect(page.locator(".log li").last).to_contain_text("The game is over")
    page.click("text=Score sheet and replay")
    expect(page.locator(".scores tbody tr")).to_have_count(3)
    expect(page.locator("#slider")).to_be_visible()
    assert bids > 0


def test_a_whole_game_by_keyboard_only(open_page) -> None:
    page = open_page()
    page.wait_for_selector("#start")
    page.focus("#start-pace")
    page.keyboard.type("at")  # choosing in a list by typing
    page.focus("#players")
    page.keyboard.press("ArrowUp")
    page.focus("#seed")
    page.keyboard.type("12")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{YOURS}, {OVER}")
    assert page.locator(".side").count() == 3
    while not is_over(page):
        turn = turn_of(page)
        if page.locator(".offer button.card, button.group").count():
            page.keyboard.press("1")
        elif page.locator("#do-discard").count():
            page.keyboard.press("1")
            page.keyboard.press("d")
        else:
            page.keyboard.press("p")
        next_turn(page, turn)
    page.keyboard.press("Enter")
    page.wait_for_selector("#slider")
    page.keyboard.press("Home")
    expect(page.locator(".place")).to_have_text("0 / " + (page.get_attribute("#slider", "max") or ""))


def test_a_raise(open_page, house: House) -> None:
    page = open_page("/#game=" + table(house.server, "cloth2 wine1 wood4 merchant"))
    page.wait_for_selector(YOURS)
    merchant = page.locator(f'{HAND}[data-kind="24"]')
    assert merchant.get_attribute("aria-disabled") == "true"
    merchant.click(force=True)  # it is there to say why it cannot be used
    expect(page.locator("#ask")).to_have_text("Merchant: merchants cannot be bid.")
    page.click("#do-bid", force=True)
    expect(page.locator("#ask")).to_contain_text("Choose the cards that you add")
    page.locator(f'{HAND}[data-kind="1"]').click()
    page.locator(f'{HAND}[data-kind="8"]').click()
    expect(page.locator("#do-bid")).to_have_text("Bid 3 Enter")
    turn = turn_of(page)
    page.click("#do-bid")
    next_turn(page, turn)
    expect(page.locator("#ask")).to_contain_text("You won")
    expect(page.locator(".log")).to_contain_text("You win the bundle and bidder card 6 with 3.")
    page.keyboard.press("2")
    expect(page.locator(".log")).to_contain_text("You give")


def test_a_sale(open_page, house: House) -> None:
    page = open_page("/#game=" + table(house.server, "wood4 wood1 merchant olive1"))
    page.wait_for_selector(YOURS)
    page.click("#do-sell", force=True)
    expect(page.locator("#ask")).to_contain_text("Choose three cards of one type")
    for kind in (12, 15, 24):
        page.locator(f'{HAND}[data-kind="{kind}"]').click()
    expect(page.locator("#ask")).to_have_text("This set brings 4.")
    turn = turn_of(page)
    page.keyboard.press("s")
    next_turn(page, turn)
    expect(page.locator(".mine .points")).to_have_text("4")
    expect(page.locator(HAND)).to_have_count(1)
    page.reload()  # goes on with the same game
    page.wait_for_selector(YOURS)
    expect(page.locator(".mine .points")).to_have_text("4")


def test_a_hand_over_the_limit(open_page, house: House) -> None:
    """All pass, so the first to pass gets six cards on top of four (3.8, 6.1)."""
    page = open_page("/#game=" + table(house.server, "wood4 wood1 wood2 olive1"))
    page.wait_for_selector(YOURS)
    turn = turn_of(page)
    page.click("#do-pass")
    next_turn(page, turn)
    expect(page.locator("#ask")).to_contain_text("more than seven cards")
    expect(page.locator(HAND)).to_have_count(10)
    page.click("#do-discard", force=True)
    expect(page.locator("#ask")).to_have_text("Choose exactly one card to discard.")
    turn = turn_of(page)
    page.locator(".sets .chip", has_text="wood 4,2,1").click()
    page.click("#do-sell.main")
    next_turn(page, turn)
    expect(page.locator(".mine .points")).to_have_text("4")
    expect(page.locator(HAND)).to_have_count(7)


def test_a_hint(open_page, house: House) -> None:
    page = open_page("/#game=" + table(house.server, "wood4 wood1 wood2 olive1"))
    page.wait_for_selector(YOURS)
    page.keyboard.press("h")
    expect(page.locator(".choices li")).not_to_have_count(0)
    expect(page.locator(".advice-box")).to_contain_text("Chances to win: You")
    expect(page.locator(".chance")).to_have_count(3)
    page.locator(".choices .chip").first.click()
    expect(page.locator('.hinted, .hand [aria-pressed="true"]')).not_to_have_count(0)


def test_watch_analyse_and_go_back_and_forth(open_page) -> None:
    page = open_page()
    page.wait_for_selector("#start")
    page.click("[data-page=watch]")
    page.wait_for_selector("text=Watch opponents play")
    page.select_option("#players", "3")
    page.locator("select.opponent").nth(1).select_option("random")
    page.click("#start")
    page.wait_for_selector("#slider")
    page.click("#play")
    last = page.get_attribute("#slider", "max")
    page.keyboard.press("End")
    expect(page.locator(".place")).to_have_text(f"{last} / {last}")
    expect(page.locator("#note")).to_contain_text("The game is over")
    page.keyboard.press("Home")
    expect(page.locator(".place")).to_have_text(f"0 / {last}")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".place")).not_to_have_text(f"0 / {last}")
    page.click("#analyze")
    page.wait_for_selector(".chart")
    expect(page.locator(".chart .line")).to_have_count(3)
    page.locator(".worst .move").first.click()
    expect(page.locator("#note")).to_contain_text("would have")


def test_open_a_replay_file(open_page, kept: Path, tmp_path: Path) -> None:
    page = open_page()
    page.click("[data-page=open]")
    spoilt = tmp_path / "spoilt.jsonl"
    spoilt.write_text(kept.read_text().replace('"pass"', '"past"', 1))
    open_page.allowed.append(
        "Failed to load resource: the server responded with a status of 400 (Bad Request)"
    )
    page.set_input_files("#file", spoilt)
    expect(page.locator("[role=alert]")).to_contain_text("this replay does not hold: line")
    page.set_input_files("#file", kept)
    page.wait_for_selector("#slider")
    expect(page.locator(".scores tbody tr")).to_have_count(4)


def test_the_self_contained_page(open_page, kept: Path, tmp_path: Path) -> None:
    out = tmp_path / "game.html"
    out.write_text(self_contained(parse(kept.read_text())), encoding="utf-8")
    page = open_page(out.as_uri())
    page.wait_for_selector("#slider")
    page.keyboard.press("End")
    expect(page.locator("#note")).to_contain_text("The game is over")
    expect(page.locator(".scores tbody tr")).to_have_count(4)
    page.click("#theme")


@pytest.mark.parametrize("name", ["ladder", "models", "rules"])
def test_pages_to_read(open_page, name: str) -> None:
    page = open_page()
    page.click(f"[data-page={name}]")
    expect(page.locator(".panel.wide h2")).to_be_visible()


def test_a_phone_shows_everything_without_sideways_scrolling(open_page, house: House) -> None:
    page = open_page("/#game=" + table(house.server, "wood4 wood1 merchant olive1"), width=360, height=740)
    page.wait_for_selector(YOURS)
    assert page.evaluate("document.documentElement.scrollWidth <= 360")
    for selector in (".offer", ".market", ".hand", "#do-pass", "#hint", ".log"):
        expect(page.locator(selector)).to_be_visible()
    box = page.locator("#do-pass").bounding_box()
    assert box is not None
    assert box["height"] >= 32


def test_dark_as_the_system_says_and_by_the_button(open_page) -> None:
    page = open_page(color_scheme="dark")
    page.wait_for_selector("#start")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(colour)
    page.click("#theme")
    light = page.evaluate(colour)
    assert sum(map(int, light[4:-1].split(","))) > 600 > 150 > sum(map(int, dark[4:-1].split(",")))
    page.reload()
    page.wait_for_selector("#start")
    assert page.evaluate(colour) == light


def test_everything_is_a_real_control_with_a_name(open_page, house: House) -> None:
    page = open_page("/#game=" + table(house.server, "wood4 wood1 merchant olive1"))
    page.wait_for_selector(YOURS)
    for button in page.locator("button").all():
        assert (button.get_attribute("aria-label") or button.inner_text()).strip()
    assert page.locator("[onclick], a[href='#']").count() == 0
    assert page.locator("#live[aria-live=polite]").count() == 1
    assert page.locator(".log[aria-label]").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement !== document.body")


def test_another_page_cannot_reach_the_server(browser, house: House) -> None:
    """A foreign page posts to the server: nothing is answered to it, nothing happens."""
    context = browser.new_context()
    page = context.new_page()
    evil = "http://evil.example/"
    page.route(evil, lambda route: route.fulfill(body="<p>evil</p>", content_type="text/html"))
    page.goto(evil)
    before = len(house.server.rooms)
    tried = page.evaluate(
        """async (address) => {
          const body = JSON.stringify({players: 3, seat: 0, opponents: ["random", "random"]});
          const kinds = ["application/json", "text/plain"];
          const tries = kinds.flatMap((kind) => ["cors", "no-cors"].map((mode) =>
            fetch(address + "/api/new", {method: "POST", mode, body, headers: {"content-type": kind}})
              .then((answer) => answer.type === "opaque" ? "opaque" : "read", () => "refused")));
          tries.push(fetch(address + "/").then(() => "read", () => "refused"));
          return Promise.all(tries);
        }""",
        house.address,
    )
    assert not any(answer.startswith("read") for answer in tried)
    assert len(house.server.rooms) == before
    context.close()
