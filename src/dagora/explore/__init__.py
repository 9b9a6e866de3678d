"""The live page of `dagora explore`: a small server on this machine, and one page that talks to it.

`server` listens on loopback, `doorkeeper` lets in who has the token, `routes` answers. A `Session` holds the
table, the run and the results; learning happens in a process of its own (`worker`), so that it can be stopped
and ended whatever it does. The page itself is plain HTML, CSS and JavaScript in `page/`.
"""
