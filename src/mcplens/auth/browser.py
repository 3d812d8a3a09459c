"""Opens a page in the user's browser, without a shell, and only pages of the web.

Called by whoever sends a person to a sign-in.
"""

from __future__ import annotations

from mcplens.auth.addresses import check_address


def open_browser(url: str) -> None:
    """Open a page; never waits for the browser.

    Raises:
        SignInProblem: the address is no page that a sign-in may open.
    """
    check_address(url, "the address of the sign-in")
    import threading
    import webbrowser

    # A browser of the terminal would hold up everything until it is left.
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
