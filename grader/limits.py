"""How much the grader reads of what is handed in; beyond that a sentence says so."""

LARGEST_FILE = 64 * 2**20
"""Bytes of a notebook."""

MOST_JSON_VALUES = 1_000_000
"""Brackets and commas in a notebook: a value takes 100 bytes or more in memory, but 2 in a file."""

MOST_ANSWER_CELLS = 300

LONGEST_ANSWER, MOST_STATEMENTS, MOST_NODES = 100_000, 2_000, 20_000
"""Characters, statements and syntax-tree nodes of an exercise's answer; the longest right one known
has 5,300, 135 and 2,000."""

MOST_OF_A_KIND, LONGEST_SENTENCE = 20, 1_000
"""Flags of a kind that a notebook gets, and characters of what is said of a gradient."""

JUDGE_SECONDS, JUDGE_BYTES = 60, 2 * 2**30
"""Processor time for a notebook's judge, and memory beyond what its process has when it begins."""

PATIENCE_SECONDS = 120.0
"""What a notebook may take beside two exercises' limits: to be read, judged, explained."""
