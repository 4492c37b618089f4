"""The outside world of the order flow: inventory, payments and shipping as one real HTTP process.

It keeps its own books in its own file and honours idempotency keys as a good provider does; told so
by a rule, it misbehaves as a real one may. It knows nothing of sagas.

    ledger     the file: effects in landing order, answers by key, the business tables
    services   what the six requests do
    rules      which request is treated badly, and how; chaos by seed
    desk       how a request is served: rule, key, act, answer
    web        routes and levers
    process    start, steer, stop it from a demo or test
"""

from examples.order_flow.shop.ledger import read_effects, read_ledger
from examples.order_flow.shop.process import Shop, running_shop

__all__ = ["Shop", "read_effects", "read_ledger", "running_shop"]
