"""A network that was trained on many formulas, and reads a table: it knows which forms are likely.

`weights.py` reads and writes its file, `policy.py` makes it a policy of a search, `guide.py` shares it among several,
and `prior.py` says what it thinks before any search. How it is trained is in `neural/` at the top of the repository.
"""

from symseed.network.guide import Guide
from symseed.network.policy import MOST_COLUMNS, NetworkPolicy, NetworkSettings, Reading, Seeding
from symseed.network.prior import Guess, guesses
from symseed.network.weights import Network, Shape

__all__ = [
    "MOST_COLUMNS",
    "Guess",
    "Guide",
    "Network",
    "NetworkPolicy",
    "NetworkSettings",
    "Reading",
    "Seeding",
    "Shape",
    "guesses",
]
