"""dbsim clusters: documents in clusters, by k-means or by the graph of similar rows."""

from __future__ import annotations

import click

from dbsim.cli.common import json_option, on_index, opened, print_json
from dbsim.evaluate.clusters import BY

SHOWN = 8  # keys of a cluster in the terminal


@click.command()
@on_index
@click.option("--by", type=click.Choice(BY), default="kmeans", show_default=True)
@click.option("--count", type=int, help="Number of clusters, for k-means.")
@click.option("--threshold", type=float, help="Similarity from which two rows are connected; default: the index's.")
@click.option("--rows", type=int, default=5000, show_default=True, help="At most so many rows, drawn at random.")
@click.option("--classes", metavar="COLUMN", help="Known classes, for the F-measure.")
@click.option("--save", is_flag=True, help="Keep the centroids, for `cluster_of` in Python.")
@click.option("--seed", type=int, default=0, show_default=True)
@json_option
def clusters(
    db: str,
    name: str,
    by: str,
    count: int | None,
    threshold: float | None,
    rows: int,
    classes: str | None,
    save: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Clusters of the documents of a table, and how good they are."""
    index = opened(db).index(name)
    found = index.clusters(by=by, count=count, threshold=threshold, rows=rows, seed=seed, save=save)
    quality = {"expected_density": found.expected_density(), "partial_connectivity": found.partial_connectivity()}
    if classes is not None:
        quality["f_measure"] = found.f_measure(index.values(classes, found.keys))
    if as_json:
        print_json({"clusters": [*found], **quality})
        return 0 if len(found) else 1
    for number, keys in enumerate(found):
        more = f", … {len(keys) - SHOWN} more" if len(keys) > SHOWN else ""
        click.echo(f"{number:4}  {len(keys):6} rows: {', '.join(map(str, keys[:SHOWN]))}{more}")
    click.echo(", ".join(f"{word.replace('_', ' ')} {value:.3f}" for word, value in quality.items()))
    return 0 if len(found) else 1


COMMANDS = (clusters,)
