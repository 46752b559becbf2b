"""Hands pages back to students: through Canvas or Moodle, in folders, or by mail."""
