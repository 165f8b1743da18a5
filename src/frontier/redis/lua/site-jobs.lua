#!lua flags=allow-oom
-- site-jobs: what each of the newest jobs has at one site.                                Cost: a few reads a job.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 site   3 how many jobs to look at
-- Reply: now, then for each job that has something there: id, name, state, waiting, under way, and what it asks for:
--        interval, burst, at once.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua
begin(ARGV[1])
local reply, number = { exact(step.now) }, site_number(ARGV[2])
if not number then return reply end
local site = site_numbered(number)

-- What is parsed of the site's pages has lanes at a site of its own, and stands in the same list.
local function count_lanes(names)
  local waiting, leased = 0, 0
  for name in string.gmatch(names, "%S+") do
    local lane = tonumber(string.match(name, "^%d+:(%d+)")) == number and find_lane(name)
    if lane then
      waiting = waiting + fresh_of(lane) + lane.row[DELAYED]
      leased = leased + lane.row[LEASED]
    end
  end
  return waiting, leased
end

for _, member in ipairs(redis.call("ZREVRANGEBYSCORE", key("job-order"), "+inf", "-inf", "LIMIT", 0, ARGV[3])) do
  local job = job_numbered(number_in(member))
  if job and job.queued + job.delayed + job.leased > 0 then
    local waiting, leased = count_lanes(site_of_job(job, site)[HAD_LANES])
    if waiting + leased > 0 then
      local interval, burst, per_site = string.match(policy_of(job, site), "^(%S+) (%S+) (%S+)")
      for _, word in ipairs({
        job.id, redis.call("HGET", key("about", job.n), "name") or "", job.state, tostring(waiting), tostring(leased),
        interval, burst, per_site,
      }) do reply[#reply + 1] = word end
    end
  end
end
return reply
