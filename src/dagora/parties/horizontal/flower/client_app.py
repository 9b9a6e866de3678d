"""The app that a SuperNode runs for each message: it carries bytes to the site's daemon and the answer back.

The app is sent by whoever starts the run, so nothing depends on it: rows, keys, the protocol's state, the
owner's policy and log are with the daemon. The daemon's address comes from the SuperNode's own configuration,
never from the run's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dagora.base.errors import DagoraError, OptionError
from dagora.parties.horizontal.flower.local_socket import parse_daemon_address, read_token, visit

RECORD = "dagora"
ADDRESS, TOKEN = "dagora-address", "dagora-token"


def pass_on(config: Mapping[str, object], batch: bytes, seconds: float) -> bytes:
    """Bring a batch to the daemon that a SuperNode's configuration names, and return the answer."""
    address, token_file = (config.get(name) for name in (ADDRESS, TOKEN))
    if not all(isinstance(text, str) and text for text in (address, token_file)):
        raise OptionError(
            f"the SuperNode was started without {ADDRESS} and {TOKEN} in its node configuration"
        )
    return visit(parse_daemon_address(str(address)), read_token(Path(str(token_file))), batch, seconds)


def client_app() -> Any:  # noqa: ANN401
    """The `ClientApp` of Flower."""
    from flwr.app import ConfigRecord, Message, RecordDict
    from flwr.clientapp import ClientApp

    def query(message: Any, context: Any) -> Any:  # noqa: ANN401
        request = message.content[RECORD]
        try:
            answer: dict[str, bytes | str] = {
                "batch": pass_on(context.node_config, request["batch"], request["seconds"])
            }
        except DagoraError as error:
            # An exception would reach the coordinator as the name of its class, and the log as a traceback.
            answer = {"refusal": str(error)}
        return Message(RecordDict({RECORD: ConfigRecord(answer)}), reply_to=message)

    app = ClientApp()
    app.query()(query)
    return app
