from __future__ import annotations

from dataclasses import replace

from price_catalog.builds import enumerate_builds
from price_catalog.load import Catalog


def test_the_paper_s_sixteen_builds(catalog: Catalog) -> None:
    priced = {quote.item_id for quote in catalog.quotes if quote.price_set == "paper"}
    gpus = [gpu for gpu in catalog.gpus if gpu.gpu_id in priced]
    builds = enumerate_builds(gpus, catalog.hosts)
    assert len(builds) == 16
    assert [(build.gpu.name, build.gpu_count, build.host.host_id) for build in builds[:4]] == [
        ("RTX 3090", 1, "desktop-1gpu"),
        ("RTX 3090", 2, "desktop-2gpu"),
        ("RTX 3090", 4, "server-4gpu"),
        ("RTX 3090", 8, "server-8gpu"),
    ]


def test_every_build_fills_its_host(catalog: Catalog) -> None:
    builds = enumerate_builds(catalog.gpus, catalog.hosts)
    assert len(builds) == 4 * len(catalog.gpus)
    assert all(build.gpu_count == build.host.max_gpus for build in builds)
    assert len(set(builds)) == len(builds)


def test_two_hosts_of_one_size_are_two_builds(catalog: Catalog) -> None:
    other = replace(catalog.hosts[3], host_id="my-server")
    builds = enumerate_builds(catalog.gpus[:1], [*catalog.hosts, other], counts=(8,))
    assert [build.host.host_id for build in builds] == ["server-8gpu", "my-server"]


def test_a_count_that_no_host_takes_has_no_build(catalog: Catalog) -> None:
    assert enumerate_builds(catalog.gpus, catalog.hosts, counts=(3, 16)) == ()


def test_takes_generators(catalog: Catalog) -> None:
    from_generators = enumerate_builds(iter(catalog.gpus), iter(catalog.hosts), iter((1, 2)))
    assert len(from_generators) == 2 * len(catalog.gpus)
