"""What a question looks at unless it says otherwise, from Python and in PostgreSQL's functions alike."""

LIMIT = 10  # hits; sql/postgresql/index/*.sql say it in their own words
MAX_CANDIDATES = 1000  # rows ranked
PROBES = 0  # neighbouring buckets of each key
POOL = 10_000  # rows looked through for those that share most keys, when there are too many; or 10 × max_candidates
SPARE = 8  # rows looked at beyond the limit, in place of those that turn out to be no hits
MOST_TEXTS = 64  # the same when that was not enough: a search reads at most `limit` and so many texts
