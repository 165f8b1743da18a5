-- 006-job-sites: what each job has had at each site; what waits there now, its lanes tell.
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
