"""A network that was trained on many formulas, and reads a table: it knows which forms are likely.

`weights.py` reads and writes its file, and `policy.py` makes it a policy of a search. How it is trained is in `neural/`
at the top of the repository.
"""

from symseed.network.policy import NetworkPolicy, NetworkSettings, Reading
from symseed.network.weights import Network, Shape

__all__ = ["Network", "NetworkPolicy", "NetworkSettings", "Reading", "Shape"]
