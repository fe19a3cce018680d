"""A page of published results in a headless Chromium; skipped without a browser or selenium."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "results"
ITEMS = ("reservoir/table3", "reservoir/table4", "reservoir/swaps", "adaptive/figure1", "shareboost/fig6",
         "shareboost/table1", "iboost/fig_window")  # fmt: skip
PHONE, DESK = (390, 844), (1280, 900)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of some items with the published records, as a file."""
    from boostrun.cli import main

    if not RESULTS.is_dir():
        pytest.skip("this copy comes without published results")
    folder = tmp_path_factory.mktemp("page")
    path, results = folder / "report.html", folder / "results"
    shutil.copytree(RESULTS, results, ignore=shutil.ignore_patterns("frontiers", "tuned", "bench"))
    places = [f"results={results}", f"store={folder}", f"data_root={folder}"]
    assert main(["table", "adaptive/figure1", "--draw", *places]) == 0
    assert main(["report", *ITEMS, "-o", str(path), *places]) == 0
    assert path.stat().st_size < 5e5
    return path


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium (pip install 'boostrun[browser]')")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not program or not driver:
        pytest.skip("needs Chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield opened
    opened.quit()


@pytest.fixture
def shown(browser, page, request):
    """The page freshly opened, at the size that a test asks for; afterwards the console must be empty."""
    width, height = getattr(request, "param", DESK)
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    yield browser
    assert [line["message"] for line in browser.get_log("browser")] == []


def unfold(shown, selector="details"):
    """Open folds, and wait until the content of all open items is there; then open the folds in it."""
    shown.execute_async_script(
        """const [selector, done] = arguments;
        const open = () => document.querySelectorAll(selector).forEach((part) => { part.open = true; });
        const waits = (place) => !place.closest('details:not([open])');
        const look = () => {
          if ([...document.querySelectorAll('.beside:not([data-filled])')].some(waits)) return setTimeout(look, 20);
          open();
          return done();
        };
        open();
        look();""",
        selector,
    )


@pytest.mark.parametrize("shown", [PHONE, DESK], indirect=True)
def test_the_page_fits_its_window_with_everything_unfolded(shown):
    unfold(shown)
    wide, window = shown.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window
    boxes = shown.execute_script(
        "return [...document.querySelectorAll('.box')].map((box) => [box.scrollWidth, box.clientWidth, "
        "box.getBoundingClientRect().right])"
    )
    assert len(boxes) > 15 and all(right <= window for _, _, right in boxes)
    scrolled = any(inside > outside for inside, outside, _ in boxes)
    assert scrolled  # a wide table scrolls in its own box
    uncued = shown.execute_async_script(
        """const done = arguments[0];
        setTimeout(() => done([...document.querySelectorAll('.box, .plots figure:not([hidden])')].filter(
          (box) => box.scrollWidth > box.clientWidth + 1 && !box.querySelector('.cue:not([hidden])')).length), 200)"""
    )
    assert uncued == 0  # and says that it does


def test_a_file_is_loaded_when_its_item_is_opened_and_not_before(shown):
    def loaded():
        return shown.execute_script("return [...document.querySelectorAll('script[src]')].map((one) => one.src)")

    nodes = shown.execute_script("return document.querySelectorAll('*').length")
    assert loaded() == [] and nodes < 30_000
    unfold(shown, "#paper-1, #reservoir-swaps")
    (source,) = loaded()
    assert "/report_files/reservoir-swaps." in source
    charts = shown.execute_script("return document.querySelectorAll('.plots svg').length")
    assert charts == shown.execute_script("return document.querySelectorAll('#reservoir-swaps .plots figure').length")
    assert charts > 1


def test_an_item_whose_file_is_missing_says_so_and_shows_it_once_it_is_there(browser, page, tmp_path):
    copy = tmp_path / page.name
    copy.write_bytes(page.read_bytes())
    browser.get(copy.as_uri())
    unfold(browser, "#paper-1, #reservoir-swaps")
    part = browser.find_element("css selector", "#reservoir-swaps .beside")
    assert "report_files/reservoir-swaps." in part.text and "is missing" in part.text
    browser.find_element("css selector", "#reservoir-swaps td button").click()
    dialog = browser.find_element("id", "trials")
    assert "is missing" in dialog.text
    dialog.find_element("css selector", "form button").click()
    shutil.copytree(page.with_name("report_files"), copy.with_name("report_files"))
    for opened in ("false", "true"):
        browser.execute_script(f"document.getElementById('reservoir-swaps').open = {opened}")
    browser.execute_async_script("setTimeout(arguments[0], 500)")
    assert part.find_elements("css selector", ".plots svg") and "missing" not in part.text
    browser.get_log("browser")  # it names the missing file


@pytest.mark.parametrize("shown", [PHONE], indirect=True)
def test_a_chart_that_is_wider_than_a_phone_says_so_and_stays_legible(shown):
    unfold(shown, "#paper-1, #reservoir-swaps")
    said, wide, high = shown.execute_async_script(
        """const done = arguments[0];
        const figure = document.querySelector('#reservoir-swaps figure');
        figure.scrollIntoView();
        requestAnimationFrame(() => setTimeout(() => done([
          figure.querySelector('.cue:not([hidden])')?.textContent, figure.scrollWidth,
          Math.min(...[...figure.querySelectorAll('text')].map((text) => parseFloat(getComputedStyle(text).fontSize)))
        ]), 100))"""
    )
    assert said and "scroll" in said and wide > 600 and high >= 8


def test_a_search_leaves_the_items_that_have_all_words_and_unfolds_their_papers(shown):
    field = shown.find_element("name", "words")
    field.send_keys("exchange greedy")
    shown.execute_async_script("setTimeout(arguments[0], 500)")
    items = [part for part in shown.find_elements("css selector", "details.item") if part.is_displayed()]
    assert [item.get_attribute("data-name") for item in items] == ["reservoir/swaps"]


def test_every_chart_and_picture_is_drawn(shown):
    unfold(shown)
    found = shown.execute_script(
        """document.querySelectorAll('figure').forEach((figure) => { figure.hidden = false; });
        document.querySelectorAll('img').forEach((image) => { image.loading = 'eager'; });
        const high = (part) => part.getBoundingClientRect().height;
        return {
          charts: [...document.querySelectorAll('.plots svg')].map(high),
          lines: [...document.querySelectorAll('.plots [data-algo] > path')].map((line) => line.getTotalLength()),
          ranks: [...document.querySelectorAll('.ranks svg')].map(high),
        }"""
    )
    assert len(found["charts"]) > 10 and min(found["charts"]) > 100
    assert len(found["lines"]) > 100 and sum(length > 0 for length in found["lines"]) > 0.95 * len(found["lines"])
    assert len(found["ranks"]) > 3 and min(found["ranks"]) > 50
    images = shown.execute_async_script(
        """const done = arguments[0];
        const images = [...document.querySelectorAll('img')];
        Promise.all(images.map((image) => image.decode())).then(
          () => done(images.map((image) => image.naturalWidth)), (error) => done(String(error)))"""
    )
    assert len(images) == 1 and min(images) > 100


def test_a_choice_shows_another_chart(shown):
    from selenium.webdriver.support.select import Select

    unfold(shown, "#paper-1, #reservoir-table3")
    plots = next(iter(shown.find_elements("css selector", "#reservoir-table3 .plots")))
    before, after = plots.find_elements("css selector", "figure")[:2]
    assert before.is_displayed() and not after.is_displayed()
    Select(plots.find_element("css selector", "select")).select_by_index(1)
    assert after.is_displayed() and not before.is_displayed()


def test_a_click_on_a_head_sorts_and_another_turns_the_order(shown):
    unfold(shown, "#paper-1, #reservoir-table3")
    table = shown.find_elements("css selector", "#reservoir-table3 table")[0]
    head = table.find_elements("css selector", "thead tr:last-child th")[1]
    cells = "return [...arguments[0].tBodies[0].rows].map((row) => row.cells[1].dataset.v)"
    before = shown.execute_script(cells, table)
    shown.execute_script("arguments[0].scrollIntoView({block: 'center'})", head)
    for order, sign in (("ascending", 1), ("descending", -1)):
        head.find_element("css selector", "button").click()
        values = [float(value) for value in shown.execute_script(cells, table)]
        assert head.get_attribute("aria-sort") == order
        assert values == sorted(values, key=lambda value: sign * value) and len(values) == len(before) > 3


def test_the_filter_shows_one_paper_one_data_set_and_one_algorithm(shown):
    from selenium.webdriver.support.select import Select

    def choose(name, value):
        Select(shown.find_element("name", name)).select_by_visible_text(value)

    def visible(selector):
        return [part for part in shown.find_elements("css selector", selector) if part.is_displayed()]

    unfold(shown)
    every = len(visible("details.item"))
    choose("paper", "reservoir")
    items = visible("details.item")
    assert 0 < len(items) < every and {item.get_attribute("data-paper") for item in items} == {"reservoir"}
    choose("dataset", "mnist")
    heads = visible("thead th[data-dataset]")
    assert heads and {head.get_attribute("data-dataset") for head in heads} == {"mnist"}
    choose("algo", "geem")
    rows = visible("#reservoir-table3 tbody tr")
    assert rows and {row.get_attribute("data-algo") for row in rows} == {"geem"}
    lines = "#reservoir-table3 .plots figure:not([hidden]) [data-dataset='mnist'] [data-algo]"
    assert {line.get_attribute("data-algo") for line in visible(f"{lines}:not([data-off])")} == {"geem"}
    assert len(visible(f"{lines}[data-off]")) > 5  # the others are faint
    assert visible("#reservoir-table3 [data-dataset='cifar10'][data-off]")
    shown.find_element("css selector", "#filter button").click()
    assert len(visible("details.item")) == every


@pytest.mark.parametrize("shown", [PHONE], indirect=True)
def test_a_figure_opens_its_trials_with_command_and_commit(shown):
    unfold(shown, "#paper-1, #reservoir-table3")
    button = shown.find_elements("css selector", "#reservoir-table3 td button")[0]
    shown.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    dialog = shown.find_element("id", "trials")
    trials = dialog.find_elements("css selector", "details")
    assert dialog.is_displayed() and len(trials) == 10
    trials[0].find_element("css selector", "summary").click()
    told = trials[0].text
    assert "boostrun reproduce reservoir/table3" in told and "algo=max" in told and "commit" in told
    dialog.find_element("css selector", "form button").click()
    assert not dialog.is_displayed()
