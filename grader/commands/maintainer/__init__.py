"""Commands for those who change or serve the course; never given to students."""
