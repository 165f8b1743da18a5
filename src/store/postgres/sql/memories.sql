-- memories: what recrawl sets remember of their pages.                              Cost: O(log n) in all memories.

-- name: recall
-- 1 places in the question   2 sets   3 pages   4 job ids
-- By n + 0, so that nobody reads all memories by their number while the planner thinks that they are few.
SELECT asked.at, found.*
FROM unnest($1::int[], $2::text[], $3::text[], $4::text[]) AS asked(at, set_name, page, job)
  CROSS JOIN LATERAL (
    SELECT * FROM page_memories WHERE page_memories.set_name = asked.set_name AND page_memories.page = asked.page
      AND n < coalesce((
        SELECT n FROM page_memories AS own
        WHERE own.set_name = asked.set_name AND own.page = asked.page AND own.job = asked.job), 9223372036854775807)
    ORDER BY n + 0 DESC LIMIT 1) AS found;

-- name: forgetSet
-- 1 set                                                                                          Cost: all it has.
DELETE FROM page_memories WHERE set_name = $1;
