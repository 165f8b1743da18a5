-- 006-job-sites: counters of each job at each site. Waiting and leased tasks are counted in the lanes instead.
CREATE TABLE job_sites (
  job     INTEGER NOT NULL,
  site    TEXT    NOT NULL, -- the site of the pages, see domain/offline-site.ts
  done    INTEGER NOT NULL,
  dead    INTEGER NOT NULL,
  pages   INTEGER NOT NULL,
  records INTEGER NOT NULL,
  invalid INTEGER NOT NULL,
  bytes   INTEGER NOT NULL,
  last_page_at REAL,
  PRIMARY KEY (job, site)
) STRICT, WITHOUT ROWID;
