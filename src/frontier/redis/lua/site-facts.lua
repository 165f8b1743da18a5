#!lua flags=allow-oom
-- site-facts: how sites stand, for people to look at.                                          Cost: O(1) a site.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 "numbers" or "names"   3… the sites
-- Reply: now, then for each site that is there: number, name, arrival time, under way, blocked until, interval, burst,
--        at once, crawl-delay, 1 while robots.txt is being fetched, waiting, throttled in a row, the operator's word or "".
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
begin(ARGV[1])
local reply = { exact(step.now) }
for at = 3, #ARGV do
  local n = ARGV[2] == "names" and redis.call("HGET", key("sites"), ARGV[at]) or ARGV[2] == "numbers" and ARGV[at]
  local site = n and site_numbered(tonumber(n))
  if site then
    for _, word in ipairs({
      tostring(site[NUMBER]), site[NAME], exact(site[ARRIVAL]), tostring(site[IN_FLIGHT]), exact(site[BLOCKED_UNTIL]),
      exact(site[INTERVAL]), tostring(site[BURST]), tostring(site[PER_SITE]), exact(site[CRAWL_DELAY]),
      is_asking(site) and "1" or "0", redis.call("HGET", key("site-waiting"), site[NUMBER]) or "0",
      tostring(site[INCIDENTS]), site[OPERATOR] or "",
    }) do reply[#reply + 1] = word end
  end
end
return reply
