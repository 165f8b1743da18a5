-- 011-history: what the fleet did, in slots of 10 s, 5 min and 1 h, and how it stood in each.
CREATE TABLE history (
  width      bigint NOT NULL, -- of the slot, ms
  at         bigint NOT NULL, -- its beginning, epoch ms
  pages      bigint NOT NULL DEFAULT 0,
  done       bigint NOT NULL DEFAULT 0,
  failed     bigint NOT NULL DEFAULT 0,
  dead       bigint NOT NULL DEFAULT 0,
  records    bigint NOT NULL DEFAULT 0,
  bytes      bigint NOT NULL DEFAULT 0,
  latencies  bigint[] NOT NULL DEFAULT '{}', -- counts by bucket
  waiting    bigint,                         -- these three: null until somebody has looked
  in_flight  bigint,
  workers    bigint,
  PRIMARY KEY (width, at)
);
