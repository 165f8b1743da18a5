-- memories: page memory of recrawl sets.                                            Cost: O(log n) in all memories.

-- name: recall
-- Arrays: 1 index of the request   2 set   3 page   4 job id
-- ORDER BY n + 0: with statistics of a small table, the planner would otherwise scan all memories by the primary key.
SELECT request.at, found.*
FROM unnest($1::int[], $2::text[], $3::text[], $4::text[]) AS request(at, set_name, page, job)
  CROSS JOIN LATERAL (
    SELECT * FROM page_memories WHERE page_memories.set_name = request.set_name AND page_memories.page = request.page
      AND n < coalesce((
        SELECT n FROM page_memories AS own
        WHERE own.set_name = request.set_name AND own.page = request.page AND own.job = request.job), 9223372036854775807)
    ORDER BY n + 0 DESC LIMIT 1) AS found;

-- name: forgetSet
-- 1 set                                                                          Cost: O(n) in the memories of the set.
DELETE FROM page_memories WHERE set_name = $1;
