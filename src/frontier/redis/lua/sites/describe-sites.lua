#!lua flags=allow-oom
-- describe-sites: state of sites, for inspection.                                                  Cost: O(1) per site.
-- KEYS  1 the shard
-- ARGV  1 now or ""   2 "numbers" or "names"   3… the sites
-- Reply: now, then for each existing site: number, name, arrival time, in flight, blocked until, interval, burst, per
--        site, crawl-delay, 1 while robots.txt is being fetched, waiting, incidents in a row, end of the term, worker
--        of the term or "", cause of the backoff or "", the operator's policy or "", slowdown, its cause or "", and the
--        state of its throttled responses (`isolated`).
-- @include lib/base.lua lib/politeness.lua lib/rows.lua
begin(ARGV[1])
local reply = { exact(tx.now) }
for at = 3, #ARGV do
  local n = ARGV[2] == "names" and redis.call("HGET", key("sites"), ARGV[at]) or ARGV[2] == "numbers" and ARGV[at]
  local site = n and site_numbered(tonumber(n))
  if site then
    for _, field in ipairs({
      tostring(site[NUMBER]), site[NAME], exact(site[ARRIVAL]), tostring(site[IN_FLIGHT]), exact(site[BLOCKED_UNTIL]),
      exact(site[INTERVAL]), tostring(site[BURST]), tostring(site[PER_SITE]), exact(site[CRAWL_DELAY]),
      is_fetching_robots(site) and "1" or "0", redis.call("HGET", key("site-waiting"), site[NUMBER]) or "0",
      tostring(site[INCIDENTS]), exact(site[TERM_ENDS]), site[TERM_WORKER] or "", find_backoff_cause(site),
      site[OPERATOR] or "", exact(health.slowdown(site)), health.of(site).cause, tostring(health.of(site).isolated),
    }) do reply[#reply + 1] = field end
  end
end
return reply
