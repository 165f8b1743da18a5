-- 006-job-sites: counters of each job at each site. Waiting tasks are counted in its lanes.
CREATE TABLE job_sites (
  job     INTEGER NOT NULL,
  site    TEXT    NOT NULL, -- that of the pages, see domain/offline-site.ts
  done    INTEGER NOT NULL,
  dead    INTEGER NOT NULL,
  pages   INTEGER NOT NULL,
  records INTEGER NOT NULL,
  invalid INTEGER NOT NULL,
  bytes   INTEGER NOT NULL,
  last_page_at REAL,
  PRIMARY KEY (job, site)
) STRICT, WITHOUT ROWID;
