-- 003-pictures: what a rendered page looked like, kept as bodies. Most pages have neither.

ALTER TABLE pages ADD COLUMN screenshot_ref TEXT;
ALTER TABLE pages ADD COLUMN pdf_ref TEXT;
