"""Which doctests are collected: those of a room whose package is missing are not."""

from dagora.base.extras import SKLEARN

collect_ignore_glob = [] if SKLEARN.is_installed else ["src/dagora/estimators/*"]
