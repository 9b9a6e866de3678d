"""A transport that records every message, may change it, and may die at a chosen moment."""

from tests.parties.network import vanish


class Death(Exception):
    """A site's end, without a word to anybody."""


class Wire:
    """A party's transport: `change(to, tag, payload)` rewrites what it sends; `die` is a moment, "before TAG"."""

    def __init__(self, inner, die="", change=None):
        self.inner, self.die, self.change = inner, die, change
        self.sent, self.received = [], []

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def send(self, to, tag, payload):
        self._perhaps_die(f"before {tag}")
        if self.change:
            payload = self.change(to, tag, payload)
        self.sent.append((to, tag, bytes(payload)))
        self.inner.send(to, tag, payload)
        self._perhaps_die(f"after {tag}")

    def receive(self, sender, tag, timeout=None):
        payload = self.inner.receive(sender, tag, timeout)
        self.received.append((sender, tag, payload))
        self._perhaps_die(f"got {tag}")
        return payload

    def _perhaps_die(self, moment):
        if moment == self.die:
            vanish(self.inner)
            raise Death
