SELECT i.name AS index_name, i.source_table, i.state, i.generation,
       (SELECT count(*) FROM {signatures}) AS rows,
       (SELECT count({fingerprint}) FROM {signatures}) AS indexed,
       (SELECT count(*) FROM {queue}) AS queued,
       (SELECT min({queued}) FROM {queue}) AS oldest_queued,
       (SELECT count(*) FROM dbsim_quarantine q WHERE q.index_name = i.name
        AND q.generation = i.generation) AS quarantined,
       (SELECT count(*) FROM sqlite_master m WHERE m.type = 'trigger' AND lower(m.tbl_name) = lower(i.source_table)
        AND m.name IN ({triggers})) = {trigger_count} AS triggers_in_place
FROM dbsim_index i WHERE i.name = {name}
