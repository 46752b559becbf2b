"""Commands for people who change or host the course. Students do not get them."""
