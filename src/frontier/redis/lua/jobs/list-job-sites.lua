#!lua flags=allow-oom
-- list-job-sites: counters of a job at each of its sites, by site name.                     Cost: a few reads per site.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 max   4 list sites after this one, or ""
-- Reply: now, then for each site: name, waiting, leased, done, dead, pages, records, invalid, bytes, when its last page
--        was settled or "", blocked until, cause of the backoff or "".
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/terms.lua lib/lanes.lua
begin(ARGV[1])
local reply = { exact(tx.now) }
local n = redis.call("HGET", key("jobs"), ARGV[2])
if not n then return reply end

local function waiting_and_leased(names)
  local waiting, leased = 0, 0
  for name in string.gmatch(names, "%S+") do
    local lane = find_lane(name)
    if lane then
      waiting = waiting + count_fresh(lane) + lane.row[DELAYED]
      leased = leased + lane.row[LEASED]
    end
  end
  return waiting, leased
end

local from = ARGV[4] == "" and "-" or "(" .. ARGV[4]
for _, name in ipairs(redis.call("ZRANGE", key("job-site-names", n), from, "+", "BYLEX", "LIMIT", 0, ARGV[3])) do
  local counters = cmsgpack.unpack(redis.call("HGET", key("job-sites", n), name))
  local waiting, leased = waiting_and_leased(counters[AT_LANES])
  local number = site_number(name)
  local site = number and site_numbered(number)
  reply[#reply + 1] = name
  for _, count in ipairs({ waiting, leased, unpack(counters, AT_DONE, AT_BYTES) }) do reply[#reply + 1] = exact(count) end
  reply[#reply + 1] = counters[AT_LAST_PAGE] and exact(counters[AT_LAST_PAGE]) or ""
  reply[#reply + 1] = exact(site and site[BLOCKED_UNTIL] or 0)
  reply[#reply + 1] = site and find_backoff_cause(site) or ""
end
return reply
