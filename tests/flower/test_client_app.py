"""The `ClientApp` itself, called as a SuperNode calls it: bytes in, bytes out, and an error as one line."""

import secrets
from pathlib import Path

import pytest

pytest.importorskip(
    "flwr", reason="needs Flower: `make test-flower` installs it in an environment of its own"
)

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from dagora.parties.horizontal.flower.client_app import RECORD, client_app
from tests.parties.horizontal.flower.test_client_app import daemon_that_answers
from tests.parties.network import PATIENCE

pytestmark = pytest.mark.flower


@pytest.fixture(autouse=True)
def process_of_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Flower says about itself to each process that it starts."""
    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 2)


def call(node_config: dict[str, str], run_config: dict[str, str], batch: bytes) -> dict[str, object]:
    content = RecordDict({RECORD: ConfigRecord({"batch": batch, "seconds": 5.0})})
    context = Context(1, 2, node_config, RecordDict(), run_config)
    reply = client_app()(Message(content, dst_node_id=2, message_type="query"), context)
    assert not context.state, "nothing is kept at the node"
    return dict(reply.content[RECORD])


def test_the_app_only_carries_bytes(tmp_path: Path) -> None:
    """Where to is said by the node's own configuration, never by the run's."""
    asked, answered = secrets.token_bytes(1000), secrets.token_bytes(2000)
    elsewhere = {"dagora-address": "127.0.0.1:1", "dagora-token": "none"}
    with daemon_that_answers(tmp_path, answered) as (config, told):
        assert call(config, elsewhere, asked) == {"batch": answered}
        assert told.result(PATIENCE) == asked
        refused = call({}, config, asked)
    assert refused == {
        "refusal": "the SuperNode was started without dagora-address and dagora-token in its node configuration"
    }
