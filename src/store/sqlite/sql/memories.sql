-- memories: page memory of recrawl sets.                                            Cost: O(log n) in all memories.

-- name: remember
-- 1 set   2 page   3 job id   4 task   5 token   6 reads   7 etag   8 last modified   9 fingerprint   10 content
-- 11 fetched at
-- Changes nothing if a later lease of the task has written something. An updated memory keeps its `n`. Parameters are
-- positional for the same reason as in write-page.sql.
INSERT INTO page_memories (set_name, page, job, task, token, reads, etag, last_modified, fingerprint, content, fetched_at)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
WHERE NOT EXISTS (
    SELECT 1 FROM pages WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?3) AND task = ?4 AND token > ?5)
  AND NOT EXISTS (
    SELECT 1 FROM tries WHERE job = (SELECT alias FROM jobs WHERE jobs.id = ?3) AND task = ?4 AND token > ?5)
ON CONFLICT (set_name, page, job) DO UPDATE SET task = excluded.task, token = excluded.token, reads = excluded.reads,
  etag = excluded.etag, last_modified = excluded.last_modified, fingerprint = excluded.fingerprint,
  content = excluded.content, fetched_at = excluded.fetched_at
WHERE excluded.task <> page_memories.task OR excluded.token > page_memories.token;

-- name: forgetOlder
-- 1 set   2 page   3 job id
DELETE FROM page_memories WHERE set_name = ?1 AND page = ?2 AND n < (
  SELECT max(n) FROM page_memories WHERE set_name = ?1 AND page = ?2 AND n < (
    SELECT n FROM page_memories WHERE set_name = ?1 AND page = ?2 AND job = ?3));

-- name: recall
-- 1 set   2 page   3 job id
SELECT * FROM page_memories WHERE set_name = ?1 AND page = ?2 AND n < coalesce(
  (SELECT n FROM page_memories WHERE set_name = ?1 AND page = ?2 AND job = ?3), 9223372036854775807)
ORDER BY n DESC LIMIT 1;

-- name: forgetSet
-- 1 set                                                                          Cost: O(n) in the memories of the set.
DELETE FROM page_memories WHERE set_name = ?;
