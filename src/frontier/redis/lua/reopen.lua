#!lua
-- reopen: an ended job is about to get dead letters back; on its home shard, before they go to the others. Cost: O(1).
-- KEYS  1 the shard
-- ARGV  1 now or ""   2… job ids
-- Reply: now.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
begin(ARGV[1])
for at = 2, #ARGV do
  local job = job_named(ARGV[at])
  redis.call("HINCRBY", key("job", job.n), "generation", 1)
  if job.state == "finished" or job.state == "failed" then
    redis.call("HSET", key("job", job.n), "state", "running", "stopped", 0)
    redis.call("HDEL", key("job", job.n), "finished", "deadline")
  end
end
return { exact(step.now) }
