"""What the project promises; a package, since old IPythons put one of this name on the path."""
