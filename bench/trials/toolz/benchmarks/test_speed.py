from toolz import compose, frequencies, groupby, merge_with, partition_all, reduceby, unique, valmap

NUMBERS = [n * 7919 % 1009 for n in range(4000)]
TABLES = [{key: key * step for key in range(500)} for step in range(4)]


def last_digit(number):
    return number % 10


def test_groupby(benchmark):
    benchmark(groupby, last_digit, NUMBERS)


def test_frequencies(benchmark):
    benchmark(frequencies, NUMBERS)


def test_reduceby(benchmark):
    benchmark(reduceby, last_digit, max, NUMBERS)


def test_unique(benchmark):
    benchmark(lambda: list(unique(NUMBERS)))


def test_partition_all(benchmark):
    benchmark(lambda: list(partition_all(3, NUMBERS)))


def test_merge_with(benchmark):
    benchmark(merge_with, sum, *TABLES)


def test_valmap(benchmark):
    benchmark(valmap, str, TABLES[1])


def test_compose(benchmark):
    composed = compose(str, last_digit, abs)
    benchmark(lambda: [composed(number) for number in NUMBERS])
