-- health: settings of the broker file.                                                              Cost: O(1).

-- name: schemaVersion
SELECT user_version AS answer FROM pragma_user_version

-- name: journalMode
SELECT journal_mode AS answer FROM pragma_journal_mode
