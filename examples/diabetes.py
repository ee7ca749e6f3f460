"""Find which of ten columns matter for the progression of diabetes: 442 patients, with more noise than signal.

The table ships with symseed (Efron et al., 2004). Two thirds of the patients are training data and the others test
data. A linear model of all ten columns is fitted for comparison.
"""

from __future__ import annotations

from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from symseed import SymbolicRegressor, read_table


def main() -> None:
    """Run the search and compare the formula with a linear model."""
    data = read_table("diabetes").frame
    y = data.pop("progression")
    seen, unseen, y_seen, y_unseen = train_test_split(data, y, test_size=1 / 3, random_state=0)
    model = SymbolicRegressor(max_evals=50_000, random_state=0).fit(seen, y_seen)
    linear = LinearRegression().fit(seen, y_seen)
    print("progression =", model.best_)
    print(f"R^2 on {len(seen)} patients that were fitted, and {len(unseen)} others:")
    print(f"  the formula            {model.score(seen, y_seen):.2f}  {model.score(unseen, y_unseen):.2f}")
    print(f"  linear, ten columns    {linear.score(seen, y_seen):.2f}  {linear.score(unseen, y_unseen):.2f}")


if __name__ == "__main__":
    main()
