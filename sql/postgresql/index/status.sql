SELECT i.name AS index_name, {table} AS source_table, i.state, i.generation,
       (SELECT count(*) FROM {signatures}) AS rows,
       (SELECT count({fingerprint}) FROM {signatures}) AS indexed,
       (SELECT count(*) FROM {queue}) AS queued,
       (SELECT min({queued}) FROM {queue}) AS oldest_queued,
       (SELECT count(*) FROM {home}.dbsim_quarantine q WHERE q.index_name = i.name
        AND q.generation = i.generation) AS quarantined,
       NOT EXISTS (
           SELECT FROM unnest({triggers}) AS wanted, (
               SELECT to_regclass({source_literal}) AS relid
               UNION SELECT relid FROM pg_partition_tree(to_regclass({source_literal}))
           ) AS part
           WHERE NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = part.relid AND g.tgname = wanted
                             AND g.tgenabled <> 'D')
       ) AND to_regclass({source_literal}) IS NOT NULL AS triggers_in_place
FROM {home}.dbsim_index i WHERE i.name = {name} AND {sees_all}
