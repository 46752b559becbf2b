"""Which convention a folder follows."""

from __future__ import annotations

from grader.intake.canvas_download import canvas_tops, read_canvas
from grader.intake.file_names import read_file_names
from grader.intake.gradescope_export import gradescope_tops, read_gradescope
from grader.intake.moodle_download import moodle_tops, read_moodle
from grader.intake.nbgrader_tree import base_of, read_nbgrader
from grader.intake.sighting import Reading
from grader.intake.walk import Tree


def read_by_convention(tree: Tree) -> Reading:
    """The folder, read by the convention that more than half of what lies at its top follows.

    More than half, since a student may call files as some system would: that must not move
    another student's work, nor their own under another's name.
    """
    tops = {found.parts[0] for found in tree.candidates} | {parts[0] for parts in tree.folders}
    for recognise, read in (
        (gradescope_tops, read_gradescope),
        (moodle_tops, read_moodle),
        (canvas_tops, read_canvas),
    ):
        if 2 * len(recognise(tree) & tops) > len(tops):
            return read(tree)
    if (base := base_of(tree)) is not None:
        return read_nbgrader(tree, base)
    return read_file_names(tree)
