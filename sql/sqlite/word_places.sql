SELECT {keys} FROM (
    SELECT b.block, {found} AS found FROM {slices} AS b WHERE b.slice IN ({heads})
) AS common CROSS JOIN json_each(common.found) AS one CROSS JOIN {places} AS p
WHERE p.place = common.block * {block} + one.value
