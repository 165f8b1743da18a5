-- 011-history: what the fleet did, in slots of 10 s, 5 min and 1 h, and how it stood in each.
CREATE TABLE history (
  width      INTEGER NOT NULL, -- of the slot, ms
  at         INTEGER NOT NULL, -- its beginning, epoch ms
  pages      INTEGER NOT NULL DEFAULT 0,
  done       INTEGER NOT NULL DEFAULT 0,
  failed     INTEGER NOT NULL DEFAULT 0,
  dead       INTEGER NOT NULL DEFAULT 0,
  records    INTEGER NOT NULL DEFAULT 0,
  bytes      INTEGER NOT NULL DEFAULT 0,
  latencies  TEXT NOT NULL DEFAULT '[]', -- JSON: counts by bucket
  waiting    INTEGER,                    -- these three: null until somebody has looked
  in_flight  INTEGER,
  workers    INTEGER,
  PRIMARY KEY (width, at)
) WITHOUT ROWID;
