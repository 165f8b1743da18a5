-- 004-scripted-sites: sites that are marked as needing a browser, and until when.

CREATE TABLE scripted_sites (
  site  TEXT PRIMARY KEY,
  until REAL NOT NULL -- epoch ms
) STRICT, WITHOUT ROWID;
