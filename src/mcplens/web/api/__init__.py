"""What the page can ask for and what it is shown: one module per subject.

A subject holds its commands, the functions that carry them out (`@command`), its views, and the
functions that make the views from what the workspace holds. A view is complete in itself: a newer
one replaces the older one, and secrets stay out of it. A `Raw` field is JSON as the server sent it.
Times named like a moment (`started`, `since`) are wall clock seconds, spans end in `_s`.
"""
