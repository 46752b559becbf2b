"""A student's page handed back: by Canvas, by Moodle, in a folder, by mail."""
