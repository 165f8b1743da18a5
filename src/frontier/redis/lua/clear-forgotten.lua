#!lua flags=allow-oom
-- clear-forgotten: removes some of what a forgotten job has left: its dead letters, then its own set of seen URLs, whose
-- buckets are small, then its row. Made twice it goes on where it was.               Cost: O(`most`), letters and buckets.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job number   3 most
-- Reply: now, 1 if there is nothing left of it.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/seen.lua
local now, n, most = exact(time_of(ARGV[1])), tonumber(ARGV[2]), tonumber(ARGV[3])
local job = job_numbered(n)
if not job then return { now, 1 } end

local ids = redis.call("ZRANGE", key("job-dead", n), 0, most - 1)
if #ids > 0 then
  redis.call("HDEL", key("dead"), unpack(ids))
  redis.call("ZREM", key("dead-order"), unpack(ids))
  redis.call("ZREM", key("job-dead", n), unpack(ids))
end

-- True when the scope is gone: how far its buckets are is kept with it.
local function clear_scope(room)
  local scope = scope_numbered(job.scope)
  local from = tonumber(redis.call("HGET", key("scope", job.scope), "cleared") or 0)
  -- Of a bucket that was split the last part has the highest number.
  local last = scope.split > 0 and (PARTS - 1) * scope.size + scope.split - 1 or scope.size - 1
  local to = math.min(last, from + room - 1)
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

local room = most - #ids
if room <= 0 or not (job.lapse or clear_scope(room)) then return { now, 0 } end
redis.call("UNLINK", key("job", n), key("job-lanes", n), key("job-sites", n), key("job-site-names", n))
redis.call("ZREM", key("forgotten"), n)
return { now, 1 }
