-- Append the primary key of every changed row to the queue; no function, nothing that can fail. An UPDATE that names
-- neither the key nor an indexed column is none. No WHEN clause: a column it names could not be dropped any more.
CREATE TRIGGER {insert_trigger} AFTER INSERT ON {source} BEGIN /* {mark} */
    INSERT INTO {queue} ({key}) VALUES ({new_key});
END;
CREATE TRIGGER {update_trigger} AFTER UPDATE{of_watched} ON {source} BEGIN /* {mark} */
    INSERT INTO {queue} ({key}) VALUES ({new_key});
    INSERT INTO {queue} ({key}) SELECT {old_key} WHERE ({old_key}) IS NOT ({new_key});
END;
CREATE TRIGGER {delete_trigger} AFTER DELETE ON {source} BEGIN /* {mark} */
    INSERT INTO {queue} ({key}) VALUES ({old_key});
END;
