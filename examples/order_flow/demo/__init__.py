"""Real orders, a real shop, real orchestrator processes, and `kill -9` in the worst places.

    python3 dev.py demo                     play it, print the table, compare the books
    python3 dev.py demo --keep FOLDER       the same, and leave the files there
    python3 dev.py demo --judge FOLDER      compare the books of a kept folder once more

    program        the command line
    tales          what is done to each order, and what must come of it
    play           how it is done: who is started, held up, killed and asked, and when
    stage          the processes, and how all of them end
    interruptions  Ctrl-C and SIGTERM, at moments when nothing can be forgotten
    telling        a journal in a few lines, and the table
    judging        runs and ledger beside each other

Nothing in here is part of the product, and nothing in the product knows of it: the orchestrators
are `saga orchestrator examples.order_flow.order_flow:app`, killed like any other process.
"""

__all__: list[str] = []
