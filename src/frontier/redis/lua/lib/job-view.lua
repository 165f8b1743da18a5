-- job-view: the fields of a job in a reply; "" for fields without a value. codec/job-rows.ts reads them in this order.
local VIEW = {
  "id", "name", "state", "sealed", "queue", "priority", "created", "finished", "submitted", "discovered", "queued",
  "delayed", "leased", "done", "dead", "cancelled", "duplicate", "refused", "pages", "records", "invalid", "bytes",
  "retries", "admitted", "generation", "synced", "spec", "interval", "burst", "per_site", "page_limit", "page_total",
  "deadline",
}

local function add_view(reply, job)
  local about = redis.call("HMGET", key("about", job.n), "name", "queue", "spec")
  job.name, job.queue, job.spec = about[1], about[2], about[3]
  reply[#reply + 1] = tostring(job.n)
  for _, name in ipairs(VIEW) do
    local value = job[name]
    reply[#reply + 1] = value and (type(value) == "number" and exact(value) or value) or ""
  end
end
