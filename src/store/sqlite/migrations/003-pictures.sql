-- 003-pictures: screenshot and PDF of a rendered page, stored as bodies. Most pages have neither.

ALTER TABLE pages ADD COLUMN screenshot_ref TEXT;
ALTER TABLE pages ADD COLUMN pdf_ref TEXT;
