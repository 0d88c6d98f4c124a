SELECT {pair_columns} FROM {signatures} AS a JOIN {signatures} AS b
ON a.{key} = b.{key} AND ({a_key}) <> ({b_key}){shared_before}
