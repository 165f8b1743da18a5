-- view: a job as people see it, in words; "" for what is not there.
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
    local word = job[name]
    reply[#reply + 1] = word and (type(word) == "number" and exact(word) or word) or ""
  end
end
