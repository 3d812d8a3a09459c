"""Four clients with one face: `open_client(target)` gives `call(tool)`, which gives the text."""
