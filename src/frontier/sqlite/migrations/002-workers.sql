-- The broker file, version 2: announced workers. A row is one announcement, valid until `until`.
CREATE TABLE workers (
  name TEXT PRIMARY KEY,
  queues TEXT NOT NULL,
  unknown_spiders TEXT NOT NULL,
  version TEXT NOT NULL,
  seen_at REAL NOT NULL,
  until REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX workers_by_end ON workers (until);
