"""How the course is made from its sources, checked and released; never given to students."""
