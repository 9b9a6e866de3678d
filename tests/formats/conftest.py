"""What the tests of formats share."""

import pytest

from dagora.base.errors import DagoraError
from dagora.formats import read_graph, read_network, write_graph, write_network


@pytest.fixture
def refused(tmp_path):
    """Read a text under a file's name; return the one line that refuses it, without the file's name."""

    def check(name, text, read=read_graph):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        with pytest.raises(DagoraError) as caught:
            read(path)
        message = str(caught.value)
        assert message.startswith(f"{path}: ")
        assert len(message.splitlines()) == 1
        return message.removeprefix(f"{path}: ")

    return check


@pytest.fixture
def through_file(tmp_path):
    """Write a graph or network under a name and read it back."""

    def back(content, name):
        path = tmp_path / name
        if hasattr(content, "graph"):
            write_network(content, path)
            return read_network(path)
        write_graph(content, path)
        return read_graph(path)

    return back
