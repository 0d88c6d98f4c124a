"""The breakages: what is lost, the file, the text before and after, the tests that should fail."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One breakage; `tests` are arguments of pytest."""

    meaning: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"{self.file}: {self.meaning}"


def _tests(*names: str, only: str = "") -> tuple[str, ...]:
    files = tuple(f"tests/{name}" for name in names)
    return (*files, "-k", only) if only else files


SURVIVORS = _tests("integration/test_survivors.py")
SYNC = _tests("integration/test_sync.py", only="every_write or rollback or stopped_goes_on or reinstalled")
CHECK = _tests("integration/test_check.py")
VIEWS = _tests("integration/test_views.py", only="last_bit or composite or restored or buckets")
HARM = "integration/test_do_no_harm.py"
SECURITY = "integration/test_row_security.py"
IN_FULL = _tests("integration/test_acting_in_full.py", only="keeps or stays or fit or part_of or any_name")
ACT = _tests("integration/test_act_on_duplicates.py")
DECISIONS = _tests("integration/test_decisions.py", only="not shell")
DOOR = _tests("integration/test_door.py")
GUARD = _tests("web/test_guard.py")
PAGES = "web/test_pages.py"
FILES = _tests("unit/test_report_files.py")
BLOOM = _tests("unit/test_bloom.py", "unit/test_golden.py")
MINHASH = _tests("statistics/test_minhash.py", "unit/test_golden.py")
CONSTRAINTS = _tests("statistics/test_constraints.py")
GROUPS = _tests("statistics/test_groups.py")
DEDUPE = _tests("reliability/test_dedupe.py", only="killed or changes_while or stopped or at_once")
INLINE = _tests("integration/test_inline.py", only="every_kind or rollback or long_goes or never_reach or hear")
CONTAINS = _tests("integration/test_contains.py", only="not command")
STORM = _tests("reliability/test_storm.py", only="too_late")

MUTANTS = (
    # ── the seven that lived at first ──
    Mutant(
        "retiring drops what is searched",
        "dbsim/lifecycle/retire.py",
        "others = [record for record in found[1:] if record is not catalogue.target(found)]",
        "others = [record for record in found if record is not catalogue.target(found)]",
        SURVIVORS,
    ),
    Mutant(
        "a worker leaves the inline gate open",
        "dbsim/engines/postgresql/transactions.py",
        "        install.close_gate(connection, tables.record.name)\n        types = [",
        "        types = [",
        SURVIVORS,
    ),
    Mutant(
        "a worker obeys row-level security",
        "dbsim/engines/postgresql/transactions.py",
        "    set_config('row_security', 'off', true),\n",
        "",
        SURVIVORS,
    ),
    Mutant(
        "> for >= in match",
        "dbsim/search/statements/statement.py",
        'inner.c[self.tables.names.score] >= bindparam("dbsim_lowest", type_=Double)',
        'inner.c[self.tables.names.score] > bindparam("dbsim_lowest", type_=Double)',
        SURVIVORS,
    ),
    Mutant(
        "> for >= in SQL near",
        "sql/postgresql/index/near.sql",
        "WHERE dbsim_score >= dbsim_least - dbsim_below",
        "WHERE dbsim_score > dbsim_least - dbsim_below",
        SURVIVORS,
    ),
    Mutant(
        "no allowance for the error of an estimate in PostgreSQL's view of pairs",
        "sql/postgresql/index/pairs.sql",
        "WHERE score >= {threshold} - {deviations} * standard_error - dbsim_step",
        "WHERE score > {threshold}",
        SURVIVORS,
    ),
    Mutant(
        "filter words in another byte order",
        "dbsim/engines/sqlite/surface/views.py",
        'part.bits.view(">i8")',
        'part.bits.view("<i8")',
        SURVIVORS,
    ),
    # ── following the table ──
    Mutant(
        "SQLite's view of pairs without >=",
        "sql/sqlite/pairs.sql",
        "score >= (SELECT {threshold} - {deviations} * standard_error - dbsim_step)",
        "score > (SELECT {threshold})",
        SURVIVORS,
    ),
    Mutant(
        "keys equal in SQL only have different locks",
        "dbsim/engines/postgresql/transactions.py",
        "        return value.normalize()\n",
        "        return value\n",
        SURVIVORS,
    ),
    Mutant(
        "SQLite's update trigger forgets the old key",
        "sql/sqlite/triggers.sql",
        "    INSERT INTO {queue} ({key}) SELECT {old_key} WHERE ({old_key}) IS NOT ({new_key});\n",
        "",
        SYNC,
    ),
    Mutant(
        "SQLite's delete trigger queues nothing",
        "sql/sqlite/triggers.sql",
        "DELETE ON {source} BEGIN /* {mark} */\n    INSERT INTO {queue} ({key}) VALUES ({old_key});",
        "DELETE ON {source} BEGIN /* {mark} */\n    SELECT 1;",
        SYNC,
    ),
    Mutant(
        "PostgreSQL's trigger forgets the old key",
        "sql/postgresql/queue_changes.sql",
        "IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND ({new_key_text}) IS DISTINCT FROM ({old_key_text}) THEN",
        "IF TG_OP = 'DELETE' THEN",
        SYNC,
    ),
    Mutant(
        "PostgreSQL's trigger misses deletions",
        "sql/postgresql/queue_changes.sql",
        "    INSERT INTO {queue} ({key}) SELECT {key} FROM dbsim_old;\n",
        "    NULL;\n",
        SYNC,
    ),
    Mutant(
        "writes fail while the trigger's owner may not write the queue",
        "sql/postgresql/queue_changes.sql",
        "{queue_has_key} AND {queue_open};",
        "{queue_has_key};",
        _tests("integration/test_lost_rights.py"),
    ),
    Mutant(
        "TRUNCATE is not queued",
        "sql/postgresql/queue_changes.sql",
        "IF TG_OP = 'TRUNCATE' OR NOT",
        "IF TG_OP = 'TRUNCATED' OR NOT",
        _tests("integration/test_sync.py", only="truncate"),
    ),
    Mutant(
        "what a session knows of the key outlives a change of it",
        "dbsim/engines/postgresql/triggers.py",
        "format('TG_RELID = %L::regclass', min(s.name))",
        "format('%L IS NOT NULL', min(s.name))",
        _tests("reliability/test_host_writes.py", only="changes_under"),
    ),
    Mutant(
        "a change of the text alone is none",
        "dbsim/engines/postgresql/triggers.py",
        "        \"row_changed\": f\"{virtual} OR ({texts['new']}) IS DISTINCT FROM ({texts['old']})\",",
        "        \"row_changed\": f\"{virtual} OR ({key_texts['new']}) IS DISTINCT FROM ({key_texts['old']})\",",
        SYNC,
    ),
    Mutant(
        "a claim takes one change too many out of the queue",
        "dbsim/engines/sqlite/queue.py",
        "WHERE {rowid} <= ? AND",
        "WHERE {rowid} <= 1 + ? AND",
        _tests("integration/test_sync.py", "reliability/test_interleavings.py", only="every_write or interleaving"),
    ),
    Mutant(
        "a row that is gone keeps its signature",
        "dbsim/sync/refresh.py",
        "    connection.execute(delete(stored).where(among(tables.stored_key, keys)))\n",
        "",
        SYNC,
    ),
    Mutant(
        "a worker does not lock the documents",
        "dbsim/sync/refresh.py",
        "    backend.lock_keys(connection, tables, keys)\n",
        "",
        _tests("reliability/test_interleavings.py", only="every_interleaving"),
    ),
    Mutant(
        "signed in advance, used though the text is another",
        "dbsim/sync/presign.py",
        "done.keys == batch.keys and done.columns == batch.columns",
        "done.keys == batch.keys",
        _tests(
            "reliability/test_interleavings.py", "reliability/test_host_writes.py", only="interleaving or mid_batch"
        ),
    ),
    Mutant(
        "a filling begins one row late",
        "dbsim/tables/key_conditions.py",
        "return columns[0] > _value(columns[0], key[0])",
        "return columns[0] >= _value(columns[0], key[0])",
        SYNC,
    ),
    Mutant(
        "workers write behind the filling's last row",
        "dbsim/sync/refresh.py",
        "    return [up_to(tables.source_key, last) if last else false()]",
        "    return []",
        _tests("reliability/test_alter.py", "integration/test_sync.py", only="both_generations or stopped_goes_on"),
    ),
    Mutant(
        "a comparison does not look for orphans",
        "dbsim/sync/compare.py",
        "        found.orphaned = list(stored)\n",
        "",
        CHECK,
    ),
    Mutant(
        "a comparison repairs nothing",
        "dbsim/sync/compare.py",
        "        if repair and part:",
        "        if False and part:",
        CHECK,
    ),
    Mutant(
        "rows that wait in the queue count as differences",
        "dbsim/sync/compare.py",
        "return found.without({*self.backend.pending(connection, self.tables, ALL)})",
        "return found",
        CHECK,
    ),
    Mutant(
        "missing triggers leave no mark that asks for a comparison",
        "dbsim/sync/repair.py",
        "            connection.execute(insert(tables.queue).values({}))\n",
        "            pass\n",
        SYNC,
    ),
    Mutant(
        "poison rows are not named",
        "dbsim/sync/refresh.py",
        "    if batch.failures:\n",
        "    if False:\n",
        _tests("integration/test_hostile_text.py", only="poison or quarantine"),
    ),
    Mutant(
        "late views for an index that is gone",
        "dbsim/sync/repair.py",
        "catalogue.require_unchanged(connection, tables.record)\n        backend.limit_lock_wait",
        "backend.limit_lock_wait",
        STORM,
    ),
    Mutant(
        "late groups for an index that is gone",
        "dbsim/dedupe/run.py",
        "        catalogue.require_unchanged(connection, self.place.tables.record)\n        stored_groups",
        "        stored_groups",
        STORM,
    ),
    # ── no harm ──
    Mutant(
        "a replaced generation is dropped at once",
        "dbsim/lifecycle/retire.py",
        " or (one.retired_at or 0) <= old]",
        " or True]",
        _tests("reliability/test_alter.py", only="outlives or one_generation"),
    ),
    Mutant(
        "a lock on the host's table is waited for without limit",
        "sql/postgresql/patiently.sql",
        "            PERFORM set_config('lock_timeout', '{wait}', true);\n",
        "            PERFORM set_config('lock_timeout', '0', true);\n",
        _tests(HARM, only="waits_alone"),
    ),
    Mutant(
        "default privileges open the secret",
        "sql/postgresql/table_settings.sql",
        "            EXECUTE format('REVOKE ALL ON %s FROM %s', found.name,",
        "            PERFORM format('REVOKE ALL ON %s FROM %s', found.name,",
        _tests(HARM, only="default_privileges"),
    ),
    Mutant(
        "the queue has no replica identity",
        "sql/postgresql/table_settings.sql",
        "        IF found.nameless THEN",
        "        IF false THEN",
        _tests(HARM, only="publication"),
    ),
    Mutant(
        "inline signing takes all the time there is",
        "sql/postgresql/inline_function.sql",
        "OR clock_timestamp() + dbsim_row.dbsim_length * dbsim_pace > dbsim_end THEN",
        "OR false THEN",
        _tests(HARM, only="inline_signing"),
    ),
    Mutant(
        "inline: an error reaches the application",
        "sql/postgresql/inline_function.sql",
        "    EXCEPTION WHEN OTHERS THEN\n        dbsim_signed := false;",
        "    EXCEPTION WHEN division_by_zero THEN\n        dbsim_signed := false;",
        INLINE,
    ),
    Mutant(
        "inline: old signatures stay",
        "sql/postgresql/inline_function.sql",
        "                DELETE FROM {signatures} AS s USING {changed} WHERE {s_is_k};\n",
        "",
        INLINE,
    ),
    Mutant(
        "inline: stored groups hear nothing of new rows",
        "sql/postgresql/inline_function.sql",
        "SELECT g.id, 1, {noted_values}",
        "SELECT g.id, 0, {noted_values}",
        INLINE,
    ),
    Mutant(
        "views show rows that policies hide",
        "sql/postgresql/index/pairs.sql",
        "AND {sees_all}\n    UNION ALL",
        "\n    UNION ALL",
        _tests(SECURITY, only="random_policies or plans"),
    ),
    Mutant(
        "an update of another column is queued",
        "dbsim/engines/sqlite/queue.py",
        'return "" if generated else " OF "',
        'return "" if True else " OF "',
        _tests("integration/test_act_on_duplicates.py", only="mark"),
    ),
    Mutant(
        "a driver's error shows the row's values",
        "dbsim/refusals.py",
        '    return VALUE.sub("…", line) if quotes_values else line',
        "    return line",
        _tests("integration/test_endings.py", "integration/test_bad_input.py", "integration/test_wording.py"),
    ),
    Mutant(
        "a read-only server is not recognised",
        "dbsim/engines/postgresql/transactions.py",
        '.one()[-1] == "on":',
        '.one()[-1] == "no":',
        _tests("applications/test_standby.py"),
    ),
    Mutant(
        "a batch dies of the database's limits",
        "dbsim/engines/postgresql/transactions.py",
        "    set_config('statement_timeout', '0', true),\n",
        "",
        _tests(HARM, only="outlives"),
    ),
    Mutant(
        "a deadlock is not tried again",
        "dbsim/engines/postgresql/transactions.py",
        '("40001", "40P01", ',
        '("40001", ',
        _tests("reliability/test_retries.py", only="may_fail_once"),
    ),
    Mutant(
        "a busy SQLite is not tried again",
        "dbsim/engines/sqlite/transactions.py",
        "code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)",
        "code & 0xFF in (sqlite3.SQLITE_LOCKED,)",
        _tests("integration/test_bad_input.py", only="lock"),
    ),
    # ── acting on duplicates ──
    Mutant(
        "foreign keys are not looked after",
        "dbsim/engines/sqlite/transactions.py",
        "        self._switch_foreign_keys(connection, 1)\n",
        "",
        ACT,
    ),
    Mutant(
        "a foreign key that forbids it does not stop a deletion",
        "dbsim/dedupe/acting/delete.py",
        "        if found.blocked:",
        "        if False:",
        ACT,
    ),
    Mutant(
        "rows that go by cascade are not counted",
        "dbsim/dedupe/acting/delete.py",
        "                self.cascaded[name] += count",
        "                self.cascaded[name] += 0",
        ACT,
    ),
    Mutant(
        "a column with other values is marked over",
        "dbsim/dedupe/acting/mark.py",
        "        if found.other_values and not self.overwrite:",
        "        if False:",
        ACT,
    ),
    Mutant(
        "all rows of a group go",
        "dbsim/dedupe/acting/delete.py",
        "        return select(*self.ranking.ranked_keys(plan)).where(plan.c.dbsim_place > 1)",
        "        return select(*self.ranking.ranked_keys(plan)).where(plan.c.dbsim_rows > 1)",
        ACT,
    ),
    Mutant(
        "rows go though the index is behind",
        "dbsim/dedupe/acting/resolve.py",
        "        if queued:\n",
        "        if False:\n",
        ACT,
    ),
    # ── decisions and groups ──
    Mutant(
        "different ones come together through a third",
        "dbsim/dedupe/kernels/grouping/constraints.py",
        "            self._apart.setdefault(a, set()).add(other)\n",
        "            pass\n",
        CONSTRAINTS,
    ),
    Mutant(
        "the least similar pairs are taken first",
        "dbsim/dedupe/kernels/grouping/constraints.py",
        "order = np.lexsort((graph.b, graph.a, -graph.weights))",
        "order = np.lexsort((graph.b, graph.a, graph.weights))",
        CONSTRAINTS,
    ),
    Mutant(
        "decisions of deleted rows stay",
        "dbsim/lifecycle/decisions.py",
        "    for statement in DecisionTables.of(tables).without_rows(keys):",
        "    for statement in ():",
        DECISIONS,
    ),
    Mutant(
        "decisions of a change of options are all outdated",
        "dbsim/lifecycle/decisions.py",
        "case((same, _now(decided, side, new)), else_=CHANGED)",
        "CHANGED",
        DECISIONS,
    ),
    Mutant(
        "contradictions are accepted",
        "dbsim/dedupe/people/decisions.py",
        "        if verdict == DIFFERENT and b in ours:",
        "        if False:",
        DECISIONS,
    ),
    Mutant(
        "a run writes though something changed meanwhile",
        "dbsim/dedupe/update.py",
        "if state.version != update.state.version or self._noted(connection) != update.noted:",
        "if False:",
        DEDUPE,
    ),
    Mutant(
        "a stopped run leaves traces of deleted rows",
        "dbsim/dedupe/run.py",
        "                remove_in_steps(self.place, partial(purge, place=self.place, pairing=state.id))\n",
        "                pass\n",
        DEDUPE,
    ),
    Mutant(
        "a run that was taken over goes on",
        "dbsim/tables/group_state.py",
        "    if state.token != token:\n",
        "    if False:\n",
        _tests("reliability/test_dedupe.py", only="takes_over or at_once"),
    ),
    # ── the door ──
    Mutant(
        "two processes bring the same person",
        "dbsim/search/door.py",
        "        self.search.backend.lock_buckets(connection, self.search.tables, sorted(set(keys)))\n",
        "",
        DOOR,
    ),
    Mutant(
        "rows that wait in the queue are not seen at the door",
        "dbsim/search/door.py",
        "        found += [match for match in self._waiting(",
        "        found += [match for match in () and self._waiting(",
        DOOR,
    ),
    Mutant(
        "an old snapshot may bring a twin",
        "dbsim/engines/postgresql/transactions.py",
        '.scalar_one() == "repeatable read":',
        '.scalar_one() == "unheard of":',
        DOOR,
    ),
    # ── pages ──
    Mutant(
        "any name of this address will do",
        "dbsim/web/guard.py",
        'if not self.doors.called(request.headers.get("host", "")):',
        'if not self.doors.called(request.headers.get("host", "")) and False:',
        GUARD,
    ),
    Mutant(
        "no token is needed",
        "dbsim/web/guard.py",
        "if not self.doors.knows(request.cookies",
        "if False and (request.cookies",
        GUARD,
    ),
    Mutant(
        "another page may post",
        "dbsim/web/guard.py",
        'if request.headers.get("origin", "").lower() != ',
        'if False and request.headers.get("origin", "").lower() != ',
        GUARD,
    ),
    Mutant(
        "read-only pages decide",
        "dbsim/web/deciding.py",
        "    if server.read_only:\n        raise",
        "    if False:\n        raise",
        (*GUARD, f"tests/{PAGES}", "-k", "read_only"),
    ),
    Mutant(
        "two reviewers get the same pair",
        "dbsim/web/reviewing.py",
        "place = claims.take(self.browser, batch.names) if batch.held is None else batch.held",
        "place = 0",
        _tests(PAGES, only="reviewers or goes_through"),
    ),
    # ── reports ──
    Mutant(
        "a report replaces any file",
        "dbsim/report/files.py",
        "return self.mark.encode() not in file.read(HEAD)",
        "return False",
        FILES,
    ),
    Mutant(
        "a run that fails leaves half a report",
        "dbsim/report/files.py",
        "                os.unlink(beside)\n            raise",
        "                os.replace(beside, target)\n            raise",
        FILES,
    ),
    Mutant(
        "SQL functions take any length",
        "dbsim/engines/sqlite/surface/functions.py",
        "    length = BYTES[size]\n",
        "    length = size // 8\n",
        _tests("integration/test_datasette.py"),
    ),
    # ── numbers ──
    Mutant(
        "the estimate is not corrected for collisions",
        "dbsim/hashing/bloom.py",
        "    return max((estimate[a] + estimate[b] - union) / union, 0.0)\n",
        "    return both / (a + b - both)\n",
        BLOOM,
    ),
    Mutant(
        "the range of counts is one too narrow",
        "dbsim/hashing/bloom.py",
        "high = bisect_right(estimates, estimates[count] / threshold + slack) - 1",
        "high = bisect_right(estimates, estimates[count] / threshold + slack) - 2",
        BLOOM,
    ),
    Mutant(
        "a sampled filter may lose a short text",
        "dbsim/hashing/bloom.py",
        "        flat[there * size + places(_smallest(features), size)] = 1\n",
        "        pass\n",
        BLOOM,
    ),
    Mutant(
        "a text may move from one field to the next",
        "dbsim/hashing/fingerprint.py",
        "                number = number * DIGIT + FIELD_END\n",
        "                pass\n",
        _tests("unit/test_fingerprint.py"),
    ),
    Mutant(
        "the texts do not decide near the threshold",
        "dbsim/dedupe/kernels/decide.py",
        "        return np.asarray(estimates < self.threshold + self._spread(a, b, 1))",
        "        return np.zeros(len(estimates), bool)",
        _tests("unit/test_decide.py", "integration/test_decisions_at_threshold.py"),
    ),
    Mutant(
        "pairs just below the threshold by their estimate are lost",
        "dbsim/dedupe/kernels/decide.py",
        "        return np.asarray((estimates >= lowest) &",
        "        return np.asarray((estimates >= self.threshold) &",
        _tests("unit/test_decide.py"),
    ),
    Mutant(
        "a search's texts do not decide",
        "dbsim/search/deciding/texts.py",
        "        return self.lowest <= score < self.highest",
        "        return False",
        _tests("integration/test_search.py", only="exact or threshold or brute"),
    ),
    Mutant(
        "a search ranks the worst first",
        "dbsim/search/statements/statement.py",
        "        return [best.desc().nulls_last(), *ties]",
        "        return [best.asc().nulls_last(), *ties]",
        _tests("integration/test_search.py", only="limit or brute or ties or best_of_many"),
    ),
    Mutant(
        "a word signature is asked for any of the bits",
        "dbsim/search/containing/words.py",
        '    return column.op("&")(value) == value',
        '    return column.op("&")(value) != 0',
        CONTAINS,
    ),
    Mutant(
        "one word of several is enough",
        "dbsim/search/containing/words.py",
        "        for term in wanted:",
        "        for term in wanted[:1]:",
        CONTAINS,
    ),
    Mutant(
        "what is unwanted is not left out",
        "dbsim/search/containing/words.py",
        "        for term in unwanted:",
        "        for term in unwanted[:0]:",
        CONTAINS,
    ),
    Mutant(
        "rows that a trigger keeps are said to be gone",
        "dbsim/dedupe/acting/resolve.py",
        "            self.require_done(connection, plan)\n",
        "",
        IN_FULL,
    ),
    Mutant(
        "a key is cut to fit the column to mark",
        "dbsim/dedupe/acting/mark.py",
        "        self._require_room(connection, plan)\n",
        "",
        IN_FULL,
    ),
    Mutant(
        "the plan of what goes has the name of an index's table",
        "dbsim/dedupe/acting/resolve.py",
        'PLAN = "_dbsim_resolution"',
        'PLAN = "dbsim_resolution"',
        IN_FULL,
    ),
    Mutant(
        "what refers to a partition is not counted",
        "dbsim/engines/postgresql/references.py",
        "f.confrelid IN (SELECT relid FROM tree)",
        "f.confrelid = to_regclass(:name)",
        IN_FULL,
    ),
    Mutant(
        "tables of former generations are kept",
        "dbsim/tables/index_tables.py",
        "                del _LAYOUTS[one]",
        "                pass",
        _tests("integration/test_memory.py"),
    ),
)
