"""Configurations that cannot be built: one error that names field, value and what is allowed."""

import random

import pytest

from fgpu.axi.signatures import ID_BITS
from fgpu.cache.payloads import tag_manager_bits
from fgpu.config import ATOMICS, FLOAT_OPS, PRESETS, Config
from fgpu.errors import ConfigError
from fgpu.isa import INSTRUCTIONS, Space

from .random_config import random_config


@pytest.mark.parametrize(("changes", "message"), [
    ({"compute_units": 3}, "compute_units must be one of 1, 2, 4, 8, not 3"),
    ({"axi_ports": 3}, "axi_ports must be one of 1, 2, 4, not 3"),
    ({"cache_ways": 8}, "cache_ways must be one of 1, 2, 4, not 8"),
    ({"cache_ways": True}, "cache_ways must be one of 1, 2, 4, not True"),
    ({"float_ops": frozenset({"fadd", "fcos"})},
     "float_ops must be of 'fadd', 'fdiv', 'fmul', 'fptosi', 'fptoui', 'fslt', 'fsqrt', 'fsub', 'itofp', 'uitofp' "
     "or 'all', not 'fcos'"),
    ({"float_ops": 3}, "float_ops must be names of operations, as {'fadd'} or 'all', not 3"),
    ({"atomics": "add,sub"},
     "atomics must be of 'add', 'and', 'cmpxchg', 'max', 'min', 'or', 'umax', 'umin', 'xchg', 'xor' or 'all', "
     "not 'sub'"),
    ({"float_lanes": {"fdiv": 1}, "float_ops": "fadd,fmul"},
     "float_lanes must be of operations in float_ops, which are 'fadd', 'fmul', not 'fdiv'"),
    ({"float_lanes": "fdiv:1"},
     "float_lanes must be of operations in float_ops, which are none (choose some, or all), not 'fdiv'"),
    ({"float_lanes": "fdiv:3", "float_ops": "fdiv"},
     "float_lanes must give 'fdiv' lanes of 1, 2, 4, 8, not '3'"),
    ({"float_lanes": {"fdiv"}, "float_ops": "fdiv"},
     "float_lanes must give 'fdiv' lanes of 1, 2, 4, 8, not ''"),
    ({"float_lanes": "fdiv:1,fdiv:2", "float_ops": "fdiv"},
     "float_lanes must give 'fdiv' one number of lanes, not 1 and 2"),
    ({"float_lanes": 1, "float_ops": "fdiv"},
     "float_lanes must be lanes of operations, as {'fdiv': 1} or 'fdiv:1', not 1"),
    ({"float_subnormals": 0}, "float_subnormals must be one of False, True, not 0"),
    ({"divergence": "stacks"},
     "divergence must be one of 'stack', 'min_pc', 'implicit', 'ipdom', 'tokens', 'counters', not 'stacks'"),
    ({"cache_banks": 16}, "cache_banks must be one of 1, 2, 4, 8, not 16"),
    ({"cache_slices": 2, "axi_ports": 4}, "cache_slices must be a multiple of axi_ports=4, not 2"),
    ({"cache_slices": 4, "tag_managers": 16},
     "tag_managers must be at most 8 with 4 slices of the cache on an AXI port, which has ids for 64 lines on their "
     "way in both directions, not 16"),
    ({"cache_slices": 8, "cache_size": 16},
     "cache_size must be at least 32 with cache_slices=8, cache_ways=2 and cache_line=128, not 16"),
    ({"cache_size": 4, "axi_ports": 4, "cache_line": 128},
     "cache_size must be at least 16 with axi_ports=4, cache_ways=2 and cache_line=128, not 4"),
    ({"cache_size": 8, "axi_ports": 4, "cache_ways": 4},
     "cache_size must be at least 32 with axi_ports=4, cache_ways=4 and cache_line=128, not 8"),
])
def test_bad_configurations(changes: dict, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        Config(**changes)
    assert str(error.value) == message


@pytest.mark.parametrize("value", [{"add", "max"}, ["max", "add"], ("add", "max"), "add, max",
                                   frozenset({"add", "max"}), iter(["add", "max"])])
def test_operations_are_named_by_any_collection(value: object) -> None:
    config = Config(atomics=value)      # type: ignore[arg-type]
    assert config == Config(atomics=frozenset({"add", "max"}))
    assert isinstance(config.atomics, frozenset)
    hash(config)


@pytest.mark.parametrize("value", [{"fdiv": 1, "fadd": 8, "itofp": 2}, {"fdiv": "1", "itofp": 2}, "fdiv:1, itofp:2",
                                   ["itofp:2", "fdiv:1", "fmul:8"]])
def test_lanes_of_operations(value: object) -> None:
    config = Config(float_ops=FLOAT_OPS, float_lanes=value)     # type: ignore[arg-type]
    assert config.narrow_floats == {"fdiv": 1, "itofp": 2}
    assert config == Config(float_ops=FLOAT_OPS, float_lanes=config.float_lanes)
    assert config.key != Config(float_ops=FLOAT_OPS).key
    hash(config)


def test_all_lanes_are_the_default() -> None:
    config = Config(float_ops=FLOAT_OPS, float_lanes=dict.fromkeys(FLOAT_OPS, 8))   # type: ignore[arg-type]
    assert config == Config.preset("float")
    assert config.key == Config.preset("float").key


@pytest.mark.parametrize("value", ["all", ["all"], {"all", "add"}])
def test_all_operations_have_a_name(value: object) -> None:
    assert Config().replace(atomics=value).atomics == ATOMICS
    assert Config().replace(float_ops="all").float_ops == FLOAT_OPS


def test_no_operation_is_an_empty_text() -> None:
    """As it stands in a command line, or in a list of devices, whose default is all of them."""
    config = Config.preset("full").replace(atomics="", float_ops=" ", float_lanes="")
    assert config.atomics == config.float_ops == config.float_lanes == frozenset()
    with pytest.raises(ConfigError, match="not ''"):
        Config(atomics="add,")


def test_every_row_fits_a_line() -> None:
    """More banks than words in a line cannot be asked for."""
    for line in (64, 128):
        for banks in (1, 2, 4, 8):
            config = Config(cache_line=line, cache_banks=banks)
            assert config.line_rows * config.row_words == config.line_words
            assert config.line_rows > 1


def test_slices_and_ways_share_the_cache() -> None:
    config = Config(cache_size=32, axi_ports=4, cache_ways=2)
    assert (config.cache_lines, config.slice_lines, config.cache_sets) == (256, 64, 32)
    config = config.replace(cache_size=128, cache_slices=8)
    assert (config.cache_lines, config.slice_lines, config.cache_sets, config.port_slices) == (1024, 128, 64, 2)


@pytest.mark.parametrize(("changes", "slices", "size"), [
    ({}, 1, 16), ({"compute_units": 4}, 1, 16), ({"compute_units": 8}, 4, 64),
    ({"compute_units": 8, "axi_ports": 4}, 4, 64), ({"axi_ports": 2}, 2, 32),
    ({"compute_units": 8, "cache_slices": 1}, 1, 16),
])
def test_the_cache_grows_with_the_compute_units(changes: dict, slices: int, size: int) -> None:
    config = Config(**changes)
    assert (config.slices, config.cache_kib) == (slices, size)


@pytest.mark.parametrize(("changes", "rows"), [
    ({}, 31), ({"compute_units": 2}, 31), ({"compute_units": 4}, 63),
    ({"compute_units": 4, "global_stations": 32}, 31),
])
def test_many_compute_units_keep_more_rows_of_stores(changes: dict, rows: int) -> None:
    assert Config(**changes).slice_write_rows == rows


@pytest.mark.parametrize(("changes", "managers"), [
    ({}, 4), ({"compute_units": 2}, 4), ({"compute_units": 4}, 8), ({"compute_units": 8}, 4),
    ({"compute_units": 8, "axi_ports": 4}, 8), ({"compute_units": 8, "cache_slices": 8}, 4),
    ({"compute_units": 4, "tag_managers": 2}, 2),
])
def test_ports_of_many_compute_units_have_eight_tag_managers(changes: dict, managers: int) -> None:
    assert Config(**changes).slice_tag_managers == managers


def test_ids_of_a_port_are_enough() -> None:
    for ports in (1, 2, 4):
        for slices in (each for each in (1, 2, 4, 8) if each >= ports):
            for managers in (0, 1, 2, 4, 8, 16):
                try:
                    config = Config(axi_ports=ports, cache_slices=slices, tag_managers=managers, cache_size=32)
                except ConfigError:
                    assert managers >= 8
                    continue
                assert config.port_slices << tag_manager_bits(config) <= 1 << ID_BITS


EVERYTHING = Config(atomics=ATOMICS, float_ops=FLOAT_OPS, local_memory=8, divergence="ipdom")
LOCAL = {row.mnemonic for row in INSTRUCTIONS if row.space is Space.LOCAL}


@pytest.mark.parametrize(("config", "lacking"), [
    (EVERYTHING, set()),
    (EVERYTHING.replace(divergence="stack"), {"meet"}),
    (EVERYTHING.replace(sub_integer_stores=False), {"sb", "sh", "sbp", "shp"}),
    (EVERYTHING.replace(scratchpad_size=0), {"llwi", "lswi"}),
    (EVERYTHING.replace(local_memory=0), LOCAL),
    (EVERYTHING.replace(atomics=ATOMICS - {"max", "cmpxchg"}), {"amax", "acmpxchg"}),
    (EVERYTHING.replace(float_ops=frozenset({"fslt"})), FLOAT_OPS - {"fslt"}),
])
def test_instructions_that_a_configuration_lacks(config: Config, lacking: set[str]) -> None:
    reasons = {row.mnemonic: config.lacks(row) for row in INSTRUCTIONS}
    assert {mnemonic for mnemonic, reason in reasons.items() if reason is not None} == lacking


def test_what_lacks_names_is_the_remedy() -> None:
    nothing = Config(sub_integer_stores=False, scratchpad_size=0)
    for row in INSTRUCTIONS:
        reason = nothing.lacks(row)
        if reason is not None:
            parameter, value = reason.split("(")[1].rstrip(")").split("=")
            assert nothing.replace(**{parameter: eval(f"frozenset({value})" if "{" in value else value)}
                                   ).lacks(row) is None


def test_a_key_names_its_configuration() -> None:
    rng = random.Random(1)
    for config in [*(Config.preset(name) for name in PRESETS), *(random_config(rng) for _ in range(200))]:
        assert Config.from_key(config.key) == config
    with pytest.raises(ValueError, match="parameters instead of"):
        Config.from_key("1-2")
