"""The arithmetic of the benches: medians, intervals of proportions, and the tests that the peers' users apply.

Assay's own verdicts are not computed here: they come from the program. This file has the textbook
tests at their usual levels, so that the same samples can be judged both ways. All are two-sided;
`python3 bench/judge.py` checks them against known answers.
"""

import math
import statistics

median = statistics.median


def spread(values):
    """Returns the smallest and the largest value, shown in tables next to a median."""
    return min(values), max(values)


def quantile(values, share):
    """Returns the smallest value such that at least this share of the values is at or below it."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def wilson(hits, of, z=1.96):
    """Returns the 95 % interval of a proportion (Wilson 1927)."""
    if of == 0:
        return 0.0, 1.0
    share, weight = hits / of, z * z / of
    centre = (share + weight / 2) / (1 + weight)
    half = z / (1 + weight) * math.sqrt(share * (1 - share) / of + weight / (4 * of))
    return max(0.0, centre - half), min(1.0, centre + half)


def exact_lower(hits, of, level=0.95):
    """Returns the one-sided lower bound of a proportion (Clopper and Pearson 1934): at this share,
    this number of hits or more occurs by chance in one of twenty cases."""
    if hits == 0:
        return 0.0

    def at_least(share):
        logs = (
            math.lgamma(of + 1) - math.lgamma(n + 1) - math.lgamma(of - n + 1) + n * math.log(share) + (of - n) * math.log1p(-share)
            for n in range(hits, of + 1)
        )
        return sum(map(math.exp, logs))

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if at_least(middle) > 1 - level else (middle, high)
    return low


def _beta_fraction(a, b, x):
    """Returns the continued fraction of the incomplete beta function (Lentz's method; DLMF
    8.17.22)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 500):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + numerator / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return value


def student_p(t, df):
    """Returns the two-sided p-value of Student's t: the incomplete beta function at df / (df + t²)
    with df/2 and 1/2."""
    a, b, x = df / 2, 0.5, df / (df + t * t)
    if x >= 1:
        return 1.0
    if x <= 0:
        return 0.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _beta_fraction(a, b, x) / a
    return 1 - math.exp(log_front) * _beta_fraction(b, a, 1 - x) / b


def welch_p(xs, ys):
    """Returns the p-value of Welch's t-test, like `t.test(x, y)` of R."""
    vx, vy = statistics.variance(xs) / len(xs), statistics.variance(ys) / len(ys)
    if vx + vy == 0:
        return 1.0 if statistics.fmean(xs) == statistics.fmean(ys) else 0.0
    t = (statistics.fmean(xs) - statistics.fmean(ys)) / math.sqrt(vx + vy)
    df = (vx + vy) ** 2 / (vx**2 / (len(xs) - 1) + vy**2 / (len(ys) - 1))
    return student_p(t, df)


def prediction_p(before, new):
    """Returns the one-sided p-value of a new value that is larger than the earlier ones. The mean
    of n values also has an error, hence √(1 + 1/n)."""
    deviation = statistics.stdev(before) * math.sqrt(1 + 1 / len(before))
    distance = new - statistics.fmean(before)
    if deviation == 0:
        return 0.0 if distance > 0 else 1.0
    p = student_p(distance / deviation, len(before) - 1) / 2
    return p if distance > 0 else 1 - p


def _ranks(values):
    """Returns ranks from 1, where ties share their mean, and the sum of t³ − t over groups of
    ties."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, ties, i = [0.0] * len(values), 0.0, 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            ranks[order[k]] = (i + j) / 2 + 1
        ties += (j - i + 1) ** 3 - (j - i + 1)
        i = j + 1
    return ranks, ties


def _normal_p(distance, variance):
    """Returns the two-sided p-value, with the continuity correction."""
    if variance <= 0:
        return 1.0
    return math.erfc(max(0.0, abs(distance) - 0.5) / math.sqrt(2 * variance))


def mann_whitney_p(xs, ys):
    """Returns the p-value of the rank-sum test by its normal approximation, like `wilcox.test(x, y,
    exact = FALSE)` of R."""
    n, m = len(xs), len(ys)
    ranks, ties = _ranks(list(xs) + list(ys))
    u = sum(ranks[:n]) - n * (n + 1) / 2
    total = n + m
    return _normal_p(u - n * m / 2, n * m / 12 * (total + 1 - ties / (total * (total - 1))))


def signed_rank_p(xs, ys):
    """Returns the p-value of the signed-rank test on pairs by its normal approximation, like
    `wilcox.test(x, y, paired = TRUE, exact = FALSE)`."""
    differences = [x - y for x, y in zip(xs, ys) if x != y]
    n = len(differences)
    ranks, ties = _ranks([abs(d) for d in differences])
    v = sum(rank for rank, d in zip(ranks, differences) if d > 0)
    return _normal_p(v - n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24 - ties / 48)


def check():
    """Checks known answers: Student's sleep data (R's `sleep`), and closed forms for small degrees
    of freedom."""
    one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    expected = [
        ("Welch", welch_p(one, two), 0.07939414),
        ("Mann-Whitney", mann_whitney_p(one, two), 0.06932758),
        ("signed rank", signed_rank_p(one, two), 0.009090698),
        ("t, 1 degree of freedom", student_p(1.0, 1), 0.5),
        ("t, 2 degrees of freedom", student_p(3.0, 2), 1 - 3 / math.sqrt(11)),
        ("prediction", prediction_p([1.0, 2.0, 3.0], 4.0), (1 - math.sqrt(0.6)) / 2),
        ("prediction, smaller", prediction_p([1.0, 2.0, 3.0], 0.0), (1 + math.sqrt(0.6)) / 2),
        ("Wilson", wilson(5, 100)[0], 0.0215436),
        ("quantile", quantile(range(1, 301), 0.99), 297),
        ("quantile of few", quantile([2, 1], 0.99), 2),
        ("exact, none missed", exact_lower(299, 299), 0.05 ** (1 / 299)),
        ("exact", exact_lower(5, 10), 0.2224411),
    ]
    for name, found, known in expected:
        if not math.isclose(found, known, rel_tol=2e-5):
            raise SystemExit(f"{name}: {found} instead of {known}")
    print(f"{len(expected)} known answers are met")


if __name__ == "__main__":
    check()
