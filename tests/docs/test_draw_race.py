from docs.draw_race import FIGURE, PAGE, draw


def test_the_figures_words_on_the_page_are_those_of_its_table() -> None:
    """`python -m docs.draw_race` draws it anew, when the table has other numbers."""
    assert f"![{draw().alt}](../assets/{FIGURE.name})" in PAGE.read_text(encoding="utf-8")
    assert FIGURE.is_file()
