"""From what the workspace holds to what the page is shown of it; secrets stay behind.

Reads only: makes the values of views/, when one is about to be sent, so that it is the newest.
"""
