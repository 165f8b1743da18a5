-- 011-history: counts and gauges of the fleet, in buckets of 10 s, 5 min and 1 h.
CREATE TABLE history (
  width      INTEGER NOT NULL, -- of the bucket, ms
  at         INTEGER NOT NULL, -- its start, epoch ms
  pages      INTEGER NOT NULL DEFAULT 0,
  done       INTEGER NOT NULL DEFAULT 0,
  failed     INTEGER NOT NULL DEFAULT 0,
  dead       INTEGER NOT NULL DEFAULT 0,
  records    INTEGER NOT NULL DEFAULT 0,
  bytes      INTEGER NOT NULL DEFAULT 0,
  latencies  TEXT NOT NULL DEFAULT '[]', -- JSON: counts by bucket
  waiting    INTEGER,                    -- these three: null until a server has set them
  in_flight  INTEGER,
  workers    INTEGER,
  PRIMARY KEY (width, at)
) WITHOUT ROWID;
