"""The desk in a real browser: from a file to a published page, whatever happens on the way."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from fim_private.release import Release
from tests import processes
from tests.browser.test_page import requests, window
from tests.cli.command import fim_private, succeed
from tests.transactions.workbook import workbook

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

if find_spec("marimo") is None:
    pytest.skip("marimo is not here; it is in the extra `test`", allow_module_level=True)

FIND = """
const [selector, name] = arguments, found = [];
const walk = root => {for (const one of root.querySelectorAll('*')) {
  const words = one.textContent + one.getAttribute('aria-label');
  const seen = one.checkVisibility() && one.getClientRects().length;
  if (seen && one.matches(selector) && words.includes(name)) found.push(one);
  if (one.shadowRoot) walk(one.shadowRoot);
}};
walk(document);
return found
"""
"""Elements of a kind that hold a text, also those that marimo keeps in shadow roots."""

ACTIVE = """
let one = document.activeElement;
while (one && one.shadowRoot && one.shadowRoot.activeElement) one = one.shadowRoot.activeElement;
return one
"""
SECONDS = 60
"""Nothing takes so long, but on a machine that also runs other tests."""
PAIRS = [("bread", "milk", 900), ("tea", "jam", 700), ("soap", "brush", 500)]
MARKS = "[x](https://x.example) :rocket: *a* <b>"


def retried(what: Callable[[], Any]) -> Any:
    """What is found at last. The page may change under the hand that looks for it."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            found = what()
            if found:
                return found
        except Exception:
            if time.monotonic() > end:
                raise
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


class Page:
    """A tab with the desk."""

    def __init__(self, browser: Chrome, address: str) -> None:
        self.browser = browser
        requests(browser)
        browser.get_log("browser")
        browser.get(address)
        self.sees("2. Who is protected")

    def text(self) -> str:
        return self.browser.find_element("css selector", "body").text

    def sees(self, words: str) -> None:
        try:
            retried(lambda: words in self.text())
        except AssertionError:
            raise AssertionError(f"never saw {words!r}; the page ends {self.text()[-2000:]!r}") from None

    def find(self, selector: str, name: str = "") -> list[WebElement]:
        found: list[WebElement] = self.browser.execute_script(FIND, selector, name)
        return found

    def press(self, selector: str, name: str) -> None:
        def pressed() -> bool:
            found = self.find(selector, name)[-1]
            self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)
            found.click()
            return True

        retried(pressed)

    def write(self, label: str, words: str) -> None:
        """Write into the field with this label, and leave it."""
        from selenium.webdriver.common.keys import Keys

        def written() -> bool:
            found = next(one for one in self.find("input, textarea") if label in one.accessible_name)
            found.send_keys(Keys.BACKSPACE * len(str(found.get_property("value"))) + words + Keys.TAB)
            return True

        retried(written)

    def commands(self) -> list[list[str]]:
        """The commands that the page shows, in their order."""
        texts = [str(one.get_attribute("textContent")) for one in self.find(".codehilite code")]
        return [shlex.split(text) for text in texts if text.startswith("fim-private ")]

    def command(self, *begin: str) -> list[str]:
        """The last command that begins so."""
        wanted = ["fim-private", *begin]
        found: list[str] = retried(lambda: [one for one in self.commands() if one[: len(wanted)] == wanted])[-1]
        return found

    def choose(self, option: str) -> None:
        from selenium.webdriver.support.ui import Select

        def chosen() -> bool:
            listed = next(one for one in self.find("select") if option in one.text)
            name = next(one.text for one in Select(listed).options if option in one.text)
            Select(listed).select_by_visible_text(name)
            return True

        retried(chosen)

    def protect(self, whom: str) -> None:
        self.choose(whom)
        self.sees("5. The answer")

    def spend(self, folder: Path) -> Path:
        """Confirm, and wait until the answer is written and shown."""
        before = answers(folder)
        self.confirm()
        (output,) = new_answer(folder, before)
        self.sees(output.name)
        self.sees("6. What to keep")
        return Path(output)

    def confirm(self) -> None:
        self.press("label", "I have read this")
        self.press("button", "Spend it")

    def is_clean(self) -> None:
        """No error in the console, and no request to another place.

        A desk that an earlier test closed may still be asked for its icon, on a port of its own.
        """
        assert [entry for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"] == []
        here = self.browser.current_url
        asked = [url for url in requests(self.browser) if not url.startswith(("data:", "blob:", here, "ws" + here[4:]))]
        icon = (urlsplit(here).hostname, "/favicon.ico")
        assert [url for url in asked if (urlsplit(url).hostname, urlsplit(url).path) != icon] == []
        assert "token" not in here


@contextmanager
def desk(folder: Path, *files: str) -> Iterator[tuple[str, Any]]:
    """A desk that runs in a folder: its address and its process."""
    command = [sys.executable, "-m", "fim_private", "desk", "--no-browser", *files]
    streams = {"stdout": processes.subprocess.PIPE, "stderr": processes.subprocess.PIPE}
    # It serves all tests of this file, each of which has a limit of its own.
    with processes.started(command, cwd=folder, text=True, seconds=900, **streams) as running:
        yield running.stdout.readline().strip(), running


def invoices() -> list[list[str]]:
    """Invoices of customers who have two each, of which one holds a pair."""
    rows = [["InvoiceNo", "Description", "CustomerID"]]
    for first, second, customers in PAIRS:
        for _ in range(customers):
            number = len(rows)
            rows += [[f"i{number}", item, f"c{number}"] for item in (first, second)]
            rows.append([f"j{number}", f"rare {number % 50} {MARKS}", f"c{number}"])
    return rows


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of a shop."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "invoices.csv").write_text("".join(f"{','.join(row)}\n" for row in invoices()), "utf-8")
    (folder / "sales.xlsx").write_bytes(workbook({"Notes": [["nothing"]], "Sales": [list(row) for row in invoices()]}))
    baskets = "".join(f"{first},{second}\n" * number for first, second, number in PAIRS)
    wide = [f"{row % 900};{row % 2};{row % 3 % 2};1;{row % 2 + row % 3 % 2 + 1}\n" for row in range(1800)]
    (folder / "wide.csv").write_text(f"CustomerID;bread;milk;tea;Total\n{''.join(wide)}", "utf-8")
    (folder / "titled.csv").write_text(f"All our baskets of 2026\n{baskets}", "utf-8")
    return folder


@pytest.fixture(scope="module")
def address(shop: Path) -> Iterator[str]:
    with desk(shop) as (found, _):
        yield found


@pytest.fixture
def page(browser: Chrome, address: str) -> Iterator[Page]:
    with window(browser, 1200):
        yield Page(browser, address)


def answers(folder: Path) -> set[Path]:
    return set((folder / "releases").glob("*.json"))


def new_answer(folder: Path, before: set[Path]) -> set[Path]:
    found: set[Path] = retried(lambda: answers(folder) - before)
    return found


def released(path: Path) -> set[frozenset[str]]:
    return {frozenset(itemset.items) for itemset in Release.from_json(path.read_text("utf-8")).itemsets}


@pytest.mark.slow
def test_the_data_that_ships_becomes_a_page(page: Page, shop: Path) -> None:
    page.protect("Each basket")
    page.write("about how many customers", "4000")
    page.sees("Ask for")
    output = page.spend(shop)
    assert len(released(output)) >= 3
    page.press("button", "Write the page to publish")
    page.sees("Written to")
    html = output.with_suffix(".html").read_text("utf-8")
    assert all(item in html.replace("&#39;", "'").replace("&amp;", "&") for pair in released(output) for item in pair)
    page.is_clean()


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_spent_unseen_if_the_page_is_slower_than_its_user(page: Page, shop: Path) -> None:
    page.protect("Each basket")
    for label, words in (("ledger", "none"), ("how many customers", "4000"), ("different items", "12"), ("ledger", "")):
        page.write(label, words)
    retried(lambda: page.command("plan")[-4:] == ["--about", "4000", "--items-per-unit", "12"])
    page.sees("5. The answer")
    before, (spend,) = answers(shop), retried(lambda: page.find("button", "Spend it"))
    page.press("label", "I have read this")
    page.choose("Triples")
    time.sleep(0.1)
    page.browser.execute_script("arguments[0].click()", spend)  # while the page shows pairs
    retried(lambda: page.command("mine")[5:7] == ["--size", "3"])
    page.write("different items", "20")  # read after what was pressed, and after its run
    retried(lambda: page.command("plan")[-1] == "20")
    assert answers(shop) == before


@pytest.mark.slow
def test_a_workbook_becomes_a_page_and_each_command_does_the_same(
    page: Page, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop)
    page.write("The path of the file", "sales.xlsx")
    retried(lambda: page.find("div[role=status]", "sales.xlsx"))
    page.press("summary", "Excel sheets, databases")
    page.write("--sheet", "Sales")
    page.sees("transaction column 'InvoiceNo'")
    page.sees(f"rare 1 {MARKS}")
    page.protect("Each customer")
    page.write("The file of the ledger", "shop.ledger")
    page.press("button", "Make this ledger")
    page.sees("epsilon 2 of 3, delta 4e-6 of 5e-6 afterwards")
    page.choose("The same, with rules")
    retried(lambda: "--with-subsets" in page.command("mine"))
    output = page.spend(shop)
    assert released(output) >= {frozenset(pair) for *pair, _ in PAIRS}
    files = {"Write the page to publish": ".html", "Write the rules": "-rules.csv", "Write a table": ".csv"}
    for what, ending in files.items():
        page.press("button", what)
        retried(output.with_name(output.stem + ending).exists)
    page.sees("delivered")
    retried(lambda: page.text().count("--overwrite") == len(files))
    commands = page.commands()
    page.is_clean()
    assert {command[1] for command in commands} == {"inspect", "plan", "budget", "mine", "show", "rules"}
    for command in commands:
        done = fim_private(*command[1:])
        assert done.returncode == 0, (command, done.stderr)
    again = Path(page.command("mine")[-1])
    plans = [json.loads(path.read_text("utf-8"))["plan"] for path in (output, again)]
    assert plans[0] == plans[1]


@pytest.mark.slow
def test_a_question_about_the_layout_is_a_choice(page: Page) -> None:
    page.write("The path of the file", "titled.csv")
    page.sees("Please decide")
    assert "2. Who is protected" not in page.text(), "nothing goes on before it is settled"
    page.press("button", "--skip-lines 1")
    page.sees("2. Who is protected")
    assert page.command("inspect")[2:] == ["titled.csv", "--skip-lines", "1"]
    page.is_clean()


@pytest.mark.slow
def test_customers_of_a_wide_table_are_protected_without_typing(page: Page) -> None:
    page.write("The path of the file", "wide.csv")
    page.sees("these columns hold other words than yes and no: 1, 5.")
    page.press("button", "--skip-columns 1,5")
    page.sees("2. Who is protected")
    page.protect("Each customer")
    assert "CustomerID" in page.command("inspect")
    assert page.command("mine")[2:9] == ["wide.csv", "--format", "one-hot", "--separator", ";", "--skip-columns", "1,5"]
    page.is_clean()


@pytest.mark.slow
def test_a_budget_that_the_ledger_refuses_cannot_be_spent(page: Page, shop: Path) -> None:
    succeed("budget", "create", shop / "small.ledger", "--epsilon", "0.5", "--delta", "1e-6")
    page.protect("Each basket")
    page.write("The file of the ledger", "small.ledger")
    page.sees("What would fit")
    assert page.find("button", "Spend it") == []
    page.is_clean()


@pytest.mark.slow
def test_an_answer_is_found_again_after_its_tab_or_the_desk_was_closed(browser: Chrome, tmp_path: Path) -> None:
    with window(browser, 1200):
        with desk(tmp_path) as (address, running):
            page = Page(browser, address)
            page.protect("Each basket")
            for close in (lambda: browser.get("about:blank"), running.kill):
                before = answers(tmp_path)
                page.confirm()
                page.sees("Computing")
                assert answers(tmp_path) == before
                close()
                (output,) = new_answer(tmp_path, before)
                if running.poll() is None:
                    page = Page(browser, address)
                    page.sees(output.name)
                    page.protect("Each basket")
            assert running.stderr.read().count("\n") == 1, "nothing is logged"
        with desk(tmp_path) as (address, _):
            Page(browser, address).sees(output.name)
    assert len(list((tmp_path / "releases").glob("*.json"))) == 2, "each confirmation is spent once"


@pytest.mark.slow
def test_the_keyboard_is_enough(page: Page, shop: Path) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    def send(*keys: str) -> None:
        ActionChains(page.browser).send_keys(*keys).perform()

    def go_to(name: str) -> None:
        for _ in range(80):
            send(Keys.TAB)
            with suppress(Exception):
                if name in page.browser.execute_script(ACTIVE).accessible_name:
                    return
        raise AssertionError(f"the Tab key never came to {name}")

    go_to("The path of the file")
    go_to("Nobody can tell")
    send("Each basket")
    page.sees("5. The answer")
    go_to("Epsilon")
    send(Keys.ARROW_RIGHT)
    page.sees("This spends epsilon 1.5")
    before = answers(shop)
    go_to("I have read this")
    send(Keys.SPACE)
    go_to("Spend it")
    send(Keys.ENTER)
    (output,) = new_answer(shop, before)
    page.sees(output.name)
    page.is_clean()


@pytest.mark.slow
def test_a_phone_is_wide_enough(page: Page, shop: Path) -> None:
    with window(page.browser, 390):
        page.protect("Each basket")
        page.spend(shop)
        for summary in page.find("summary"):
            page.browser.execute_script("arguments[0].parentElement.open = true", summary)
        wide = "return [...document.querySelectorAll('*')].filter(e => e.scrollWidth > innerWidth + 1 && "
        wide += (
            "!['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX)).map(e => e.outerHTML.slice(0, 99))"
        )
        assert page.browser.execute_script(wide) == []
        assert page.browser.execute_script("return document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("headers", [{"Host": "x.example"}, {"Origin": "http://127.0.0.1:1"}, {}])
def test_nobody_else_gets_in(address: str, headers: dict[str, str]) -> None:
    import http.client
    from urllib.parse import urlsplit

    place = urlsplit(address)
    assert place.hostname == "127.0.0.1"
    assert len(place.query.removeprefix("access_token=")) == 32
    with closing(http.client.HTTPConnection(place.netloc, timeout=20)) as connection:
        # With the token from another page; without the token from anywhere.
        connection.request("GET", f"/?{place.query}" if headers else "/", headers=headers)
        answer = connection.getresponse()
        assert answer.status == (403 if headers else 303)
        assert b"file" not in answer.read()


def test_the_page_that_leads_to_the_desk_is_for_one_user_alone() -> None:
    from fim_private.cli.desk.serve import redirect_to

    page = redirect_to("http://127.0.0.1:9/?access_token=x")
    assert 'content="0; url=http://127.0.0.1:9/?access_token=x"' in page.read_text()
    assert page.parent.stat().st_mode & 0o777 == 0o700
    page.unlink()
    page.parent.rmdir()
