-- 004-scripted-sites: sites whose pages show nothing without a browser, and until when that is thought of them.

CREATE TABLE scripted_sites (
  site  TEXT PRIMARY KEY,
  until REAL NOT NULL -- epoch ms
) STRICT, WITHOUT ROWID;
