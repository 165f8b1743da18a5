-- 011-history: counts and gauges of the fleet, in buckets of 10 s, 5 min and 1 h.
CREATE TABLE history (
  width      bigint NOT NULL, -- of the bucket, ms
  at         bigint NOT NULL, -- its start, epoch ms
  pages      bigint NOT NULL DEFAULT 0,
  done       bigint NOT NULL DEFAULT 0,
  failed     bigint NOT NULL DEFAULT 0,
  dead       bigint NOT NULL DEFAULT 0,
  records    bigint NOT NULL DEFAULT 0,
  bytes      bigint NOT NULL DEFAULT 0,
  latencies  bigint[] NOT NULL DEFAULT '{}', -- counts by bucket
  waiting    bigint,                         -- these three: null until a server has set them
  in_flight  bigint,
  workers    bigint,
  PRIMARY KEY (width, at)
);
