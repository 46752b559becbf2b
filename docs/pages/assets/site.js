// What the theme leaves to a mouse.

// A wide formula or table scrolls by itself: with the arrow keys, too, once Tab has come to it.
const scrolls = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});

addEventListener("DOMContentLoaded", () => {
  for (const wide of document.querySelectorAll(".formula, .formula-block, table.docutils")) {
    scrolls.observe(wide);
  }
  // The button's name is what stands on it, "Search Ctrl+K"; another is not found by voice.
  for (const button of document.querySelectorAll(".search-button-field")) {
    button.removeAttribute("aria-label");
  }
});
