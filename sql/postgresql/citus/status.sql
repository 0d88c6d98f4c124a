SELECT i.name AS index_name, {table} AS source_table, i.state, i.generation, s.rows, s.indexed, w.queued, w.oldest_queued,
       q.quarantined, false AS triggers_in_place
FROM {home}.dbsim_index i
CROSS JOIN (SELECT count(*) AS rows, count({fingerprint}) AS indexed FROM {signatures}) AS s
CROSS JOIN (SELECT count(*) AS queued, min({queued}) AS oldest_queued FROM {queue}) AS w
CROSS JOIN (SELECT count(*) AS quarantined FROM {home}.dbsim_quarantine q JOIN {home}.dbsim_index j
            ON j.name = q.index_name AND j.generation = q.generation WHERE j.name = {name}) AS q
WHERE i.name = {name} AND {sees_all}
