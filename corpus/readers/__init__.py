"""One module for each corpus: its files become answers with what is true of them."""
