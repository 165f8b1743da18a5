#!lua flags=allow-oom
-- list-site-jobs: the tasks of each of the newest jobs at one site.                          Cost: a few reads per job.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 site   3 number of jobs to read
-- Reply: now, then for each job with tasks there: id, name, state, waiting, leased, and its own policy: interval,
--        burst, per site.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua
begin(ARGV[1])
local reply, number = { exact(tx.now) }, site_number(ARGV[2])
if not number then return reply end
local site = site_numbered(number)

-- The list also contains the lanes of the offline site, where this site's pages are parsed.
local function count_lanes(names)
  local waiting, leased = 0, 0
  for name in string.gmatch(names, "%S+") do
    local lane = tonumber(string.match(name, "^%d+:(%d+)")) == number and find_lane(name)
    if lane then
      waiting = waiting + count_fresh(lane) + lane.row[DELAYED]
      leased = leased + lane.row[LEASED]
    end
  end
  return waiting, leased
end

for _, member in ipairs(redis.call("ZREVRANGEBYSCORE", key("job-order"), "+inf", "-inf", "LIMIT", 0, ARGV[3])) do
  local job = job_numbered(number_in(member))
  if job and job.queued + job.delayed + job.leased > 0 then
    local waiting, leased = count_lanes(job_site_counters(job, site)[AT_LANES])
    if waiting + leased > 0 then
      local interval, burst, per_site = string.match(policy_of(job, site), "^(%S+) (%S+) (%S+)")
      for _, field in ipairs({
        job.id, redis.call("HGET", key("about", job.n), "name") or "", job.state, tostring(waiting), tostring(leased),
        interval, burst, per_site,
      }) do reply[#reply + 1] = field end
    end
  end
end
return reply
