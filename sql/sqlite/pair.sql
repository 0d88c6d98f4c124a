SELECT {pair_columns}, {number} AS dbsim_key
FROM {signatures} AS a JOIN {signatures} AS b ON a.{key} = b.{key} AND ({a_key}) <> ({b_key})
