"""Ready-made effects with their compensations and probes, for services that speak HTTP with keys.

    from steps import inventory, payment, shipping

    shop = Provider("shop", key_life=timedelta(hours=24), in_flight=timedelta(seconds=90), …)
    reserve_stock, release_stock = inventory.at(shop)
    charge_card, refund_card = payment.at(shop)
    create_shipment, cancel_shipment = shipping.at(shop)

`keyed` says what they expect of such a service. They reach it through the `httpx2.AsyncClient`
that the app's lifespan yields. What a provider guarantees is nobody's to guess: `at()` without one
is the worst plausible provider, safe and soon asking a person. To fit another API, copy a module:
they use public names only.
"""

__all__: list[str] = []
