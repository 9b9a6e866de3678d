# noqa: A005 (mirrors dagora.time)
