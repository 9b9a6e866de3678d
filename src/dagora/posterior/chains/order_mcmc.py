"""Order MCMC: a chain walks through orders of the variables, and graphs are drawn given its orders.

The stationary probability of an order is proportional to the total weight of the graphs that agree with it. A
graph is therefore drawn in proportion to its weight times the number of orders it agrees with: graphs with
few edges come more often than the prior says. Of the chains here this one mixes fastest; where the bias
matters, use partition MCMC. (Friedman & Koller 2003.)
"""

from __future__ import annotations

from functools import partial

from dagora.posterior.chains.mcmc import draw_by_chains
from dagora.posterior.chains.walks import ORDERS

order_mcmc = partial(draw_by_chains, ORDERS)
"""Draw graphs by chains over orders: `order_mcmc(score, run, **options)` with those of `draw_by_chains`."""
