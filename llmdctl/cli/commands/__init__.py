"""One module a command (or a group of commands that belong together); each has `register(app)`."""
