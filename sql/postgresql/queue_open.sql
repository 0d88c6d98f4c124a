has_table_privilege({queue_literal}::regclass, 'INSERT') AND NOT row_security_active({queue_literal}::regclass)
