#!lua flags=allow-oom
-- clear-forgotten: remove some of the remaining data of a forgotten job: its dead letters, then its own set of seen
-- URLs bucket by bucket, then its row. A repeated call continues.                                         Cost: O(max).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job number   3 max, dead letters and buckets together
-- Reply: now, 1 if nothing of the job remains.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/seen.lua
local now, n, max = exact(time_of(ARGV[1])), tonumber(ARGV[2]), tonumber(ARGV[3])
local job = job_numbered(n)
if not job then return { now, 1 } end

local ids = redis.call("ZRANGE", key("job-dead", n), 0, max - 1)
if #ids > 0 then
  redis.call("HDEL", key("dead"), unpack(ids))
  redis.call("ZREM", key("dead-order"), unpack(ids))
  redis.call("ZREM", key("job-dead", n), unpack(ids))
end

-- Deletes up to `max` buckets; true when the scope is gone. Its progress is stored with the scope.
local function clear_scope(max)
  local scope = scope_numbered(job.scope)
  local from = tonumber(redis.call("HGET", key("scope", job.scope), "cleared") or 0)
  -- Bucket b is split into b, b + size, b + 2 * size and so on. So the highest number is that of the last part of the
  -- bucket that was split last.
  local last = scope.split > 0 and (PARTS - 1) * scope.size + scope.split - 1 or scope.size - 1
  local to = math.min(last, from + max - 1)
  local buckets = {}
  for bucket = from, to do buckets[#buckets + 1] = string.format("%s%d", scope.buckets, bucket) end
  if #buckets > 0 then redis.call("UNLINK", unpack(buckets)) end
  if to < last then
    redis.call("HSET", key("scope", job.scope), "cleared", to + 1)
    return false
  end
  redis.call("UNLINK", key("scope", job.scope))
  return true
end

local left = max - #ids
-- A job with `lapse` uses a shared scope, which other jobs may use too: it is kept.
if left <= 0 or not (job.lapse or clear_scope(left)) then return { now, 0 } end
redis.call("UNLINK", key("job", n), key("job-lanes", n), key("job-sites", n), key("job-site-names", n))
redis.call("ZREM", key("forgotten"), n)
return { now, 1 }
