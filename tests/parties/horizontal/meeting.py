"""A meeting for tests: a coordinator's session with sites in threads, each with a policy, a log and a wiretap."""

from dataclasses import replace

from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.log.site_log import MemoryLog
from dagora.parties.horizontal.plan.drafting import codebook_of, draft_trial
from dagora.parties.horizontal.policy.drafted_policy import trial_policy
from dagora.parties.horizontal.secure_sum.identity import hand_out_keys
from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
from dagora.parties.horizontal.session.federation import OpenFederation, Site, rows_together
from dagora.parties.horizontal.session.serving import serve_site
from dagora.parties.transport.in_memory import memory_network
from tests.parties.network import PATIENCE, start
from tests.parties.wiretap import Wire

COORDINATOR = "coordinator"
SHORT = 10.0


class Meeting:
    """`tables` by site. `policies` may change a site's policy, `plan` the plan, `die` a site's life."""

    def __init__(self, tables, *, method="hill-climb", plan=None, policies=None, die=None, keys=None,
                 logs=None, tasks=TASKS, transports=None, patience=SHORT):  # fmt: skip
        self.names = sorted(tables)
        self.sites = {name: Site(name, tables[name]) for name in self.names}
        self.codebook = codebook_of(tables)
        self.keys = keys or hand_out_keys([COORDINATOR, *self.names])
        prints = {name: key.fingerprint(key.certificate) for name, key in self.keys.items()}
        self.trial = draft_trial(
            self.codebook,
            {name: prints[name] for name in self.names},
            method,
            prints[COORDINATOR],
            largest_rows=rows_together(self.sites.values()),
        )
        self.plan = replace(self.trial, **(plan or {}))
        self.open = OpenFederation.over(list(self.sites.values()), tasks, self.codebook)
        network = transports or memory_network([COORDINATOR, *self.names], hub=COORDINATOR, timeout=patience)
        self.wires = {name: Wire(network[name], die=(die or {}).get(name, "")) for name in self.names}
        self.logs = {name: (logs or {}).get(name) or MemoryLog() for name in self.names}
        allowed = trial_policy(self.plan)
        self.policies = {name: replace(allowed, **(policies or {}).get(name, {})) for name in self.names}
        self.session = CoordinatorSession(
            network[COORDINATOR], self.plan, self.keys[COORDINATOR], patience=patience
        )
        # What the coordinator itself says and hears: below it, questions and answers are sealed.
        self.hub = self.session._transport = Wire(self.session._transport)
        self.working = {
            name: start(
                serve_site, self.wires[name], self.sites[name], self.policies[name], self.keys[name],
                self.logs[name], tasks, patience=patience, idle=PATIENCE,
            )
            for name in self.names
        }  # fmt: skip

    def lines(self):
        """How each site ended."""
        return {name: str(work.exception(PATIENCE) or "") for name, work in self.working.items()}

    def answers(self, site):
        """What left a site, by its log."""
        return [event for event in self.logs[site].events if event["event"] in {"answer", "shown"}]


def ask_all(session, *questions):
    """Ask for one sum after the other."""
    for sets in questions:
        session.counts(sets)
