#!lua flags=allow-oom
-- list-job-sites: how a job stands at its sites, by name.                                      Cost: a few reads a site.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 job id   3 most   4 the site to go on after, or ""
-- Reply: now, then for each site: name, waiting, under way, done, dead, pages, records, invalid, bytes, when its last page
--        came or "", blocked until.
-- @include lib/base.lua lib/politeness.lua lib/rows.lua lib/slots.lua lib/lanes.lua
begin(ARGV[1])
local reply = { exact(step.now) }
local n = redis.call("HGET", key("jobs"), ARGV[2])
if not n then return reply end

local function waiting_and_leased(names)
  local waiting, leased = 0, 0
  for name in string.gmatch(names, "%S+") do
    local lane = find_lane(name)
    if lane then
      waiting = waiting + fresh_of(lane) + lane.row[DELAYED]
      leased = leased + lane.row[LEASED]
    end
  end
  return waiting, leased
end

local from = ARGV[4] == "" and "-" or "(" .. ARGV[4]
for _, name in ipairs(redis.call("ZRANGE", key("job-site-names", n), from, "+", "BYLEX", "LIMIT", 0, ARGV[3])) do
  local had = cmsgpack.unpack(redis.call("HGET", key("job-sites", n), name))
  local waiting, leased = waiting_and_leased(had[HAD_LANES])
  local number = site_number(name)
  reply[#reply + 1] = name
  for _, count in ipairs({ waiting, leased, unpack(had, HAD_DONE, HAD_BYTES) }) do reply[#reply + 1] = exact(count) end
  reply[#reply + 1] = had[HAD_PAGE_AT] and exact(had[HAD_PAGE_AT]) or ""
  reply[#reply + 1] = exact(number and site_numbered(number)[BLOCKED_UNTIL] or 0)
end
return reply
