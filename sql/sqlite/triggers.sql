-- Append the primary key of every changed row to the queue; no function, nothing that can fail. An UPDATE that leaves the
-- key and the indexed columns as they were is none: compared are the stored values, whatever UPDATE named, with their
-- types and in binary order, because 1 and '1' and 'a' and 'A' are different texts.
CREATE TRIGGER {insert_trigger} AFTER INSERT ON {source} BEGIN /* {mark} */
    INSERT INTO {queue} ({key}) VALUES ({new_key});
END;
CREATE TRIGGER {update_trigger} AFTER UPDATE ON {source} WHEN {changed} BEGIN /* {mark} */
    INSERT INTO {queue} ({key}) VALUES ({new_key});
    INSERT INTO {queue} ({key}) SELECT {old_key} WHERE ({old_key}) IS NOT ({new_key});
END;
CREATE TRIGGER {delete_trigger} AFTER DELETE ON {source} BEGIN /* {mark} */
    INSERT INTO {queue} ({key}) VALUES ({old_key});
END;
