"""Access to the server: for requests to this address, from this page, with the token.

The server listens on loopback, where every program of every user of the machine, and every page that a
browser has open, can reach it. Three things keep them out:

- the `Host` of a request must be ours, or a page could reach us under a name that it owns (DNS rebinding);
- a request that a browser sends on behalf of another page says so (`Origin`, `Sec-Fetch-Site`): refused;
- the token, 256 random bits. The page itself is opened by the address that holds it; what it asks for then
  (data, progress, results) needs it in a header, which no other page can set. The page and its scripts, which
  hold no data, need it too: there the browser sends a cookie, which is a hash of the token. Browsers send
  cookies to every server on this host, whatever its port: so it opens nothing but these files.

Every answer forbids the browser to keep it, to show it within another page, and to load anything from
elsewhere. There are no headers that would let other origins read it. A connection that has not shown the
token gets one answer and is closed (`visitors`).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

VISITOR = "visitor"  # where the state of a request has its connection, a `Visitor`
TOKEN_HEADER = "x-dagora-token"  # noqa: S105 (a name)
SAFE = frozenset({"GET", "HEAD"})
POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "img-src 'self' data:"
)
PROTECTION = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


@dataclass(frozen=True)
class Door:
    """The server's port and its secret."""

    port: int
    token: str

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names under which it may be asked.

        >>> Door(8000, "t").hosts
        ('127.0.0.1:8000', 'localhost:8000')
        """
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    @property
    def address(self) -> str:
        """The address to open in a browser."""
        return f"http://{self.hosts[0]}/?token={self.token}"

    @property
    def cookie_name(self) -> str:
        """Cookies are shared by all ports of a host, so it has the port in its name."""
        return f"dagora-explore-{self.port}"

    @property
    def cookie(self) -> str:
        """The cookie for the page and its scripts, from which nobody can compute the token."""
        return hashlib.sha256(f"page of {self.token}".encode()).hexdigest()

    @property
    def set_cookie(self) -> str:
        """The header that gives it to the browser."""
        return f"{self.cookie_name}={self.cookie}; HttpOnly; SameSite=Strict; Path=/"

    def reason_to_refuse(self, method: str, path: str, query: str, headers: list[tuple[str, str]]) -> str:
        """The reason why a request is refused, in one line; empty if it is allowed."""
        given = Headers(headers)
        host = given.only("host")
        if host not in self.hosts:
            return "this server answers under its own address only"
        opens_page = method in SAFE and path == "/"
        origin, site = given.only("origin"), given.only("sec-fetch-site")
        if origin is not None and origin != f"http://{host}":
            return "requests from other pages are refused"
        # The address itself may be followed from anywhere, such as a terminal in the browser.
        followed = opens_page and given.only("sec-fetch-mode") == "navigate"
        ours = {"same-origin", "none"} if method in SAFE else {"same-origin"}
        if site is not None and site not in ours and not followed:
            return "requests from other pages are refused"
        if self.sees_token(method, path, query, headers):
            return ""
        is_file = method in SAFE and not path.startswith("/api/")
        if is_file and equal(given.cookies().get(self.cookie_name), self.cookie):
            return ""
        return "open the address that `dagora explore` printed: it holds the token that is needed here"

    def sees_token(self, method: str, path: str, query: str, headers: list[tuple[str, str]]) -> bool:
        """Return True if a request has the token, in its header or, for the page itself, in the address."""
        if equal(Headers(headers).only(TOKEN_HEADER), self.token):
            return True
        opens_page = method in SAFE and path == "/"
        return opens_page and equal(parse_qs(query).get("token", [None])[-1], self.token)


@dataclass(frozen=True)
class Headers:
    """The headers of a request, names in small letters."""

    pairs: list[tuple[str, str]]

    def only(self, name: str) -> str | None:
        """The value of a header; empty, which nothing accepts, where it is given twice."""
        found = [value for key, value in self.pairs if key == name]
        return None if not found else found[0] if len(found) == 1 else ""

    def cookies(self) -> dict[str, str]:
        """The cookies by name."""
        said = [
            part.strip().partition("=")
            for key, value in self.pairs
            if key == "cookie"
            for part in value.split(";")
        ]
        return {name: value for name, _, value in said}


def equal(given: str | None, secret: str) -> bool:
    """Return True if a secret was given, in a time that does not depend on how much of it is right."""
    return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def let_stay(scope: MutableMapping[str, Any]) -> None:
    """Let the connection of a request with the token stay, where there is one."""
    visitor = scope.get("state", {}).get(VISITOR)
    if visitor is not None:
        visitor.end_wait()


class Doorkeeper:
    """Stands before an application: refuses, or lets in and protects the answer."""

    def __init__(self, application: Application, door: Door) -> None:
        self._application = application
        self._door = door

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return

        headers = [(key.decode("latin1").lower(), value.decode("latin1")) for key, value in scope["headers"]]
        query = scope.get("query_string", b"").decode("latin1")
        request = scope["method"], scope["path"], query, headers
        reason = self._door.reason_to_refuse(*request)
        may_stay = not reason and self._door.sees_token(*request)
        if may_stay:
            let_stay(scope)

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = PROTECTION if may_stay else (*PROTECTION, (b"connection", b"close"))
                message = {**message, "headers": [*message.get("headers", ()), *more]}
            await send(message)

        if not reason:
            await self._application(scope, receive, send_protected)
            return
        line = f"dagora: {reason}\n".encode()
        kind = (b"content-type", b"text/plain; charset=utf-8")
        size = (b"content-length", str(len(line)).encode())
        await send_protected({"type": "http.response.start", "status": 403, "headers": [kind, size]})
        await send_protected(
            {"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else line}
        )
