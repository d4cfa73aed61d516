"""The scripts of the book's pages in the oldest supported browsers."""

from playwright.sync_api import expect

PAGE = """<!doctype html><html lang="en"><body><button class="letters-button" popovertarget="letters">Letters</button>
<nav id="letters" popover><details data-card="c"><summary>c</summary><div>context</div></details></nav>
<div class="math"><span><math display="block" data-letter="c"><mi>c</mi><annotation>c_t</annotation></math></span>
<a class="eqno" href="#">(1.3)</a></div>
<div class="cell_output"><img alt=""></div><script>BOOK</script><script>LETTERS</script></body></html>"""
COPIED = """() => {
    getSelection().selectAllChildren(document.querySelector("div.math"));
    const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
    document.body.dispatchEvent(event);
    return event.clipboardData.getData("text/plain");
}"""


def test_letters_and_equations_do_without_what_is_newer(root, browser, older, tmp_path):
    html = PAGE
    for mark, name in (("BOOK", "book"), ("LETTERS", "letters")):
        html = html.replace(mark, (root / "book" / "_static" / f"{name}.js").read_text("utf-8"))
    file = tmp_path / "page.html"
    file.write_text(older[1](html), encoding="utf-8")
    page, errors = browser.new_page(), []
    page.on("pageerror", lambda error: errors.append(error.message))
    page.add_init_script(older[0])
    page.goto(file.as_uri())
    letters = page.locator("#letters")
    expect(letters).not_to_be_visible()
    page.get_by_role("button", name="Letters").click()
    expect(letters).to_be_visible()
    page.keyboard.press("Escape")
    expect(letters).not_to_be_visible()
    assert page.evaluate(COPIED) == "$$c_t$$\n(1.3)"
    assert errors == []
    page.close()


def test_folded_code_of_several_cells_in_a_row_opens_at_once(root, browser):
    cell = '<div class="cell"><details class="fold"><summary>Show the code</summary><pre>{}</pre></details>{}</div>'
    output = '<div class="cell_output">seen</div>'
    cells = cell.format("one", "") + cell.format("two", output) + "<p>A word.</p>" + cell.format("three", "")
    script = (root / "book" / "_static" / "book.js").read_text("utf-8")
    page = browser.new_page()
    page.set_content(f'<body><article class="bd-article"><script>{script}</script>{cells}</article></body>')
    expect(page.locator("summary")).to_have_count(2)
    page.locator("summary").first.click()
    expect(page.locator("pre:visible")).to_have_text(["one", "two"])
    expect(page.locator(".cell_output")).to_be_visible()
    page.close()
