"""Benchmarks for schemes of divergence: the programs of a comparison of 2009 (Collange, Daumas, Defour and Parello,
"Étude comparée et simulation d'algorithmes de branchements pour le GPGPU", table 1), written anew after their
published algorithms, and some whose work-items go ways of their own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from .benchmark import ELEMENTS, GROUP_SIZE, LARGE_TILE, Benchmark, Case, Problem, Shape, Step
from .work_groups import ALL as _WORK_GROUPS

__all__ = ["ALL", "PAPER"]

_TOLERANCE: Final = 2e-4
"""Relative, of results that come through elementary functions."""
_TREE_STEPS: Final = 64
_ROWS: Final = 4
_RADIUS: Final = 4
_BLOCK: Final = 128
_NUMBERS: Final = 8
_WORDS, _MIDDLE = 19, 9
_PATHS: Final = 256
_EDGE: Final = 1 << 25
_LIMIT: Final = 64
_EACH: Final = 8
_MAZE: Final = 24
_NEIGHBOURS: Final = 4

_REAL, _UNSIGNED = ELEMENTS["float"], ELEMENTS["uint"]
_single = np.float32


def _group_each(case: Case, *args: str | int, kernel: str = "") -> Step:
    """A launch of a work-group for each output element."""
    return Step((case.size * GROUP_SIZE,), (GROUP_SIZE,), args, kernel)


def _uniform(case: Case, low: float, high: float) -> np.ndarray:
    return case.rng.uniform(low, high, case.size).astype(_single)


# -- the paper's programs ---------------------------------------------------------------------------------


def _binomial_options(case: Case) -> Problem:
    start, strike, years = _uniform(case, 5, 30), _uniform(case, 1, 100), _uniform(case, 0.25, 10)
    rate, volatility = 0.02, 0.3
    step = years / _TREE_STEPS
    drift = volatility * np.sqrt(step)
    up, down, growth = np.exp(drift), np.exp(-drift), np.exp(rate * step)
    rise = (growth - down) / (up - down)
    options = np.stack([start, strike, drift, rise / growth, (1 - rise) / growth], axis=1).astype(_single)
    nodes = 2 * np.arange(_TREE_STEPS + 1) - _TREE_STEPS
    wide = options.astype(np.float64)
    values = np.maximum(wide[:, :1] * np.exp(wide[:, 2:3] * nodes) - wide[:, 1:2], 0)
    for _ in range(_TREE_STEPS):
        values = wide[:, 3:4] * values[:, 1:] + wide[:, 4:] * values[:, :-1]
    return Problem({"options": options, "prices": case.zeros(case.size)}, {"prices": values[:, 0].astype(_single)},
                   (_group_each(case, "options", "prices"),), _TOLERANCE)


def _normal_distribution(x: np.ndarray) -> np.ndarray:
    k = 1 / (1 + 0.2316419 * abs(x))
    total = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.39894228 * np.exp(-0.5 * x * x) * total
    return np.where(x > 0, 1 - tail, tail)


def _black_scholes(case: Case) -> Problem:
    prices, strikes, years = _uniform(case, 5, 30), _uniform(case, 4, 40), _uniform(case, 0.25, 10)
    rate, volatility = 0.02, 0.3
    s, x, t = (array.astype(np.float64) for array in (prices, strikes, years))
    spread = volatility * np.sqrt(t)
    d1 = (np.log(s / x) + (rate + volatility * volatility / 2) * t) / spread
    p1, p2 = _normal_distribution(d1), _normal_distribution(d1 - spread)
    discounted = x * np.exp(-rate * t)
    expected = {"calls": s * p1 - discounted * p2, "puts": discounted * (1 - p2) - s * (1 - p1)}
    arrays = {"prices": prices, "strikes": strikes, "years": years, "calls": case.zeros(case.size),
              "puts": case.zeros(case.size)}
    return Problem(arrays, {name: array.astype(_single) for name, array in expected.items()},
                   (case.line(*arrays, rate, volatility),), _TOLERANCE)


def _convolution_separable(case: Case) -> Problem:
    n, image, weights = case.side, case.data(case.side, case.side), case.data(2 * _RADIUS + 1)
    rows, columns = np.zeros_like(image), np.zeros_like(image)
    wide = np.pad(image, ((0, 0), (_RADIUS, _RADIUS)))
    for k, weight in enumerate(weights):
        rows += wide[:, k:k + n] * weight
    high = np.pad(rows, ((_RADIUS, _RADIUS), (0, 0)))
    for k, weight in enumerate(weights):
        columns += high[k:k + n] * weight
    steps = (Step((n, n), (LARGE_TILE, _ROWS), ("in", "rows", "weights", n)),
             Step((n, n), (LARGE_TILE, _ROWS), ("rows", "out", "weights", n), "convolution_columns"))
    return Problem({"in": image, "weights": weights, "rows": np.zeros_like(image), "out": np.zeros_like(image)},
                   {"out": columns}, steps)


def _walsh_transform(case: Case) -> Problem:
    data, weights, steps, stride = case.data(case.size), case.data(case.size), list[Step](), case.size // 2
    expected = data
    while stride:
        pairs = expected.reshape(-1, 2, stride)
        expected = np.concatenate([pairs[:, :1] + pairs[:, 1:], pairs[:, :1] - pairs[:, 1:]], axis=1).reshape(-1)
        if stride >= _BLOCK:
            steps.append(case.line("data", stride, items=case.size // 2, kernel="walsh_pass"))
        stride //= 2
    steps += [Step((case.size // 2,), (_BLOCK // 2,), ("data",)),
              case.line("data", "weights", case.size, kernel="walsh_modulate")]
    return Problem({"data": data, "weights": weights}, {"data": expected * weights}, tuple(steps))


def _mersenne_twister(case: Case) -> Problem:
    items = case.size // _NUMBERS
    seeds = case.rng.integers(0, 1 << 32, items, np.uint32)
    state = [seeds]
    for i in range(1, _WORDS):
        state.append(np.uint32(1812433253) * (state[-1] ^ (state[-1] >> 30)) + np.uint32(i))
    lower, numbers = np.uint32(0x1FFFF), []
    for at in range(_NUMBERS):
        place = at % _WORDS
        word = (state[place] & ~lower) | (state[(at + 1) % _WORDS] & lower)
        odd = np.where(word & 1, np.uint32(0xE4BD75F5), np.uint32(0))
        word = state[place] = state[(at + _MIDDLE) % _WORDS] ^ (word >> 1) ^ odd
        word = word ^ word >> 12
        word = word ^ (word << 7) & np.uint32(0x655E5280)
        word = word ^ (word << 15) & np.uint32(0xFFD58000)
        numbers.append(word ^ word >> 18)
    made = np.concatenate(numbers)
    half = case.size // 2
    u, v = ((made[:half] >> 8) + 1.0) * 2.0**-24, (made[half:] >> 8) * 2.0**-24
    radius, angle = np.sqrt(-2 * np.log(u)), 6.2831853 * v
    normal = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)]).astype(_single)
    steps = (case.line("seeds", "numbers", _NUMBERS, items=items),
             case.line("numbers", "normal", half, items=half, kernel="box_muller"))
    return Problem({"seeds": seeds, "numbers": np.zeros_like(made), "normal": np.zeros_like(normal)},
                   {"numbers": made, "normal": normal}, steps, _TOLERANCE)


def _quasirandom(case: Case) -> Problem:
    first = 1 + int(case.rng.integers(1 << 20))
    scramble = int(case.rng.integers(1 << 32))
    indices = np.arange(first, first + case.size, dtype=np.uint32)
    points = np.zeros_like(indices)
    for bit in range(32):
        points |= (indices >> bit & 1) << (31 - bit)
    points ^= np.uint32(scramble)
    upper = points >= 1 << 31
    lower = np.where(upper, ~points, points)
    y = (lower.astype(_single) * _single(2.0**-32) - _single(0.5)).astype(np.float64)
    s = y * y
    middle = (y * np.polyval([-25.44106049637, 41.39119773534, -18.61500062529, 2.50662823884], s)
              / np.polyval([3.13082909833, -21.06224101826, 23.08336743743, -8.47351093090, 1], s))
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = -np.polyval([
            0.0000003960315187, 0.0000002888167364, 0.0000321767881768, 0.0003951896511919, 0.0038405729373609,
            0.0276438810333863, 0.1607979714918209, 0.9761690190917186, 0.3374754822726147],
            np.log(-np.log(np.maximum(y + 0.5, 1e-30))))
    z = np.where(y > -0.42, middle, tail)
    normal = np.where(lower < _EDGE, -4.0, z) * np.where(upper, -1, 1)
    steps = (case.line("points", scramble, first), case.line("points", "normal", _EDGE, kernel="inverse_cnd"))
    return Problem({"points": np.zeros_like(points), "normal": case.zeros(case.size).astype(_single)},
                   {"points": points, "normal": normal.astype(_single)}, steps, _TOLERANCE)


def _monte_carlo(case: Case) -> Problem:
    options = np.stack([_uniform(case, 5, 30), _uniform(case, 5, 30), _uniform(case, -0.1, 0.1),
                        _uniform(case, 0.1, 0.6)], axis=1)
    samples = case.rng.standard_normal(_PATHS).astype(_single)
    start, strike, drift, spread = (column[:, None] for column in options.astype(np.float64).T)
    payoffs = np.maximum(start * np.exp(drift + spread * samples) - strike, 0)
    sums = np.stack([payoffs.sum(axis=1), (payoffs * payoffs).sum(axis=1)], axis=1).astype(_single)
    return Problem({"options": options, "samples": samples, "sums": np.zeros_like(sums)}, {"sums": sums},
                   (_group_each(case, "options", "samples", "sums", _PATHS),), _TOLERANCE)


# -- divergent ones -----------------------------------------------------------------------------


def _mandelbrot(case: Case) -> Problem:
    n, point = case.side, 12
    cx = np.broadcast_to((3 << point) * np.arange(n) // n - (2 << point), (n, n))
    cy = np.broadcast_to(((2 << point) * np.arange(n) // n - (1 << point))[:, None], (n, n))
    x, y, counts, inside = np.zeros((n, n), int), np.zeros((n, n), int), np.zeros((n, n), int), np.ones((n, n), bool)
    for _ in range(_LIMIT):
        squares = x * x >> point, y * y >> point
        inside &= squares[0] + squares[1] <= 4 << point
        y = np.where(inside, (x * y >> (point - 1)) + cy, y)
        x = np.where(inside, squares[0] - squares[1] + cx, x)
        counts += inside
    return Problem({"out": case.zeros(n, n)}, {"out": counts.astype(np.int32)}, (case.square("out", n, _LIMIT),))


def _cast(maze: np.ndarray, direction: np.ndarray, most: int) -> int:
    """One ray, in integers."""
    n, point = len(maze), 16
    dx, dy = map(int, direction)
    x, y = (n << point) // 2 + 12345, (n << point) // 2 + 23456
    turned, side, steps = False, 0, 0
    while steps < most:
        next_x, next_y = x + dx, y + dy
        cell_x, cell_y = next_x >> point, next_y >> point
        if cell_x != x >> point:
            side = 1 if dx > 0 else 2
        if cell_y != y >> point:
            side = 3 if dy > 0 else 0
        cell = maze[cell_y, cell_x]
        if cell == 1:
            break
        steps += 1
        if cell == 2:
            if turned:
                return 1 - steps
            turned, dx, dy = True, -dy, dx
        else:
            x, y = next_x, next_y
    return steps * 4 + side


def _ray_casting(case: Case) -> Problem:
    maze = case.rng.choice([0, 0, 0, 0, 0, 0, 1, 2], (_MAZE, _MAZE)).astype(np.int32)
    maze[[0, -1], :] = maze[:, [0, -1]] = 1
    middle = _MAZE // 2
    maze[middle - 2:middle + 3, middle - 2:middle + 3] = 0
    angles = 2 * np.pi * np.arange(case.size) / case.size
    directions = (20000 * np.stack([np.cos(angles), np.sin(angles)], axis=1)).astype(np.int32)
    most = 4 * _MAZE
    expected = np.array([_cast(maze, direction, most) for direction in directions], np.int32)
    return Problem({"maze": maze, "directions": directions, "out": np.zeros_like(expected)}, {"out": expected},
                   (case.line("maze", "directions", "out", _MAZE, most),))


def _bfs(case: Case) -> Problem:
    degrees = case.rng.integers(0, 2 * _NEIGHBOURS, case.size)
    firsts = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    neighbours = case.rng.integers(0, case.size, int(firsts[-1]), np.int32)
    start = int(degrees.argmax())
    levels = np.full(case.size, -1, np.int32)
    levels[start] = 0
    expected, level = levels.copy(), 0
    while (found := np.flatnonzero(expected == level)).size:
        reached = np.concatenate([neighbours[firsts[node]:firsts[node + 1]] for node in found])
        expected[reached[expected[reached] < 0]] = level + 1
        level += 1
    return Problem({"firsts": firsts, "neighbours": neighbours, "levels": levels}, {"levels": expected},
                   tuple(case.line("firsts", "neighbours", "levels", number) for number in range(level)))


def _insertion_sort(case: Case) -> Problem:
    rows = case.data(_EACH, case.size // _EACH)
    return Problem({"data": rows}, {"data": np.sort(rows, axis=0)}, (case.line("data", items=case.size // _EACH),))


def _tree_search(case: Case) -> Problem:
    keys = case.rng.permutation(2 * case.size)[:case.size].astype(np.int32)
    tree = np.full((case.size, 3), -1, np.int32)
    tree[:, 0] = keys

    def search(key: int) -> tuple[int, int, int]:
        """The last node on the way, its field that leads on or -1, and the depth below the root."""
        node = depth = 0
        while True:
            if tree[node, 0] == key:
                return node, -1, depth
            depth += 1
            field = 1 if key < tree[node, 0] else 2
            if tree[node, field] < 0:
                return node, field, depth
            node = tree[node, field]

    for number, key in enumerate(keys.tolist()):
        if number:
            node, field, _ = search(key)
            tree[node, field] = number
    wanted = case.rng.integers(0, 2 * case.size, case.size, np.int32)
    found = [search(key) for key in wanted.tolist()]
    expected = np.array([node if field < 0 else -depth for node, field, depth in found], np.int32)
    return Problem({"tree": tree, "keys": wanted, "out": np.zeros_like(expected)}, {"out": expected},
                   (case.line("tree", "keys", "out"),))


# -- the benchmarks -----------------------------------------------------------------------------


_HERE: Final[Mapping[str, Benchmark]] = {benchmark.name: benchmark for benchmark in _WORK_GROUPS}


def _again(name: str, of: str, size: int) -> Benchmark:
    """A benchmark with local memory, under the name of the paper's program that does the same."""
    return replace(_HERE[of], name=name, sizes=(size,))


def _paper() -> Iterator[Benchmark]:
    yield Benchmark(name="binomialOptions", kernel="binomial_options", make=_binomial_options, element=_REAL,
                    sizes=(16,), summary="options by binomial trees, a work-group each", shape=Shape.ANY)
    yield Benchmark(name="BlackScholes", kernel="black_scholes", make=_black_scholes, element=_REAL, sizes=(512,),
                    summary="options by the formula")
    yield Benchmark(name="convolutionSeparable", kernel="convolution_separable", make=_convolution_separable,
                    sizes=(1024,), shape=Shape.TILES, summary="n x n image with 9 x 9 weights, rows and columns")
    yield Benchmark(name="fastWalshTransform", kernel="walsh_transform", make=_walsh_transform, sizes=(1024,),
                    shape=Shape.POWER, summary="Walsh-Hadamard transform, in blocks of 128, and a product")
    yield _again("histogram256", "histogram_local", 4096)
    yield _again("matrixMul", "matmul_local", 1024)
    yield Benchmark(name="MersenneTwister", kernel="mersenne_twister", make=_mersenne_twister, sizes=(1024,),
                    summary="a generator each work-item, and normally distributed numbers")
    yield Benchmark(name="quasiRandomGenerator", kernel="quasirandom", make=_quasirandom, sizes=(512,),
                    summary="a low-discrepancy sequence, and its normal distribution")
    yield Benchmark(name="MonteCarlo", kernel="monte_carlo", make=_monte_carlo, element=_REAL, sizes=(8,),
                    summary="options by random paths, a work-group each", shape=Shape.ANY)
    yield _again("reduction", "sum_local", 4096)
    yield _again("scanLargeArray", "scan_local", 2048)
    yield _again("transposeTiles", "transpose_local", 1024)


def _divergent() -> Iterator[Benchmark]:
    yield Benchmark(name="mandelbrot", make=_mandelbrot, sizes=(1024,), shape=Shape.SQUARE,
                    summary="iterations until escape, n x n points")
    yield Benchmark(name="ray_casting", make=_ray_casting, sizes=(512,), summary="rays in a maze with mirrors")
    yield Benchmark(name="bfs", make=_bfs, sizes=(512,), summary="breadth-first search, a launch a level")
    yield Benchmark(name="insertion_sort", make=_insertion_sort, sizes=(4096,),
                    summary="eight elements a work-item, with early exits")
    yield Benchmark(name="tree_search", make=_tree_search, sizes=(512,), summary="keys in an unbalanced tree")


PAPER: Final = tuple(_paper())
"""The twelve programs of the paper."""
ALL: Final = (*PAPER, *_divergent())
"""Those, and the divergent ones."""
