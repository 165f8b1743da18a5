-- seen: exact sets of the URLs of a dedup scope. Fingerprints are 64-bit integers in sets small enough for Redis to
-- pack them (8 bytes each). A scope grows by linear hashing: for every 3 * FILL new URLs one bucket is split in four,
-- so no call moves many URLs. Splitting in two would move a URL three times as often and made an enqueue a tenth
-- slower. With FILL = 90 the fullest buckets contain 360 URLs on average and 460 at most. Redis unpacks a set of over
-- 512 to ten times its size.
local FILL, PARTS = 90, 4
local scopes = {}

local function scope_numbered(n)
  local known = scopes[n]
  if known then return known end
  local row = redis.call("HMGET", key("scope", n), "count", "level", "split")
  local scope = { n = n, count = tonumber(row[1] or 0), level = tonumber(row[2] or 0), split = tonumber(row[3] or 0) }
  scope.before, scope.size, scope.buckets = scope.count, PARTS ^ scope.level, shard .. ":seen:" .. n .. ":"
  scopes[n] = scope
  return scope
end

-- A double holds the first 53 of a fingerprint's 64 bits. These bits select the bucket.
local function hash_of(fingerprint)
  return math.floor(fingerprint / 2048)
end

local function bucket_of(scope, fingerprint)
  local hash = hash_of(fingerprint)
  local bucket = hash % scope.size
  if bucket < scope.split then bucket = hash % (PARTS * scope.size) end
  -- string.format with %d takes half the time of Lua's own number formatting.
  return string.format("%s%d", scope.buckets, bucket)
end

local function has_seen(scope, fingerprint)
  return redis.call("SISMEMBER", bucket_of(scope, fingerprint), fingerprint) == 1
end

-- Returns whether the URL was new.
local function mark_seen(scope, fingerprint)
  local added = redis.call("SADD", bucket_of(scope, fingerprint), fingerprint)
  scope.count = scope.count + added
  return added == 1
end

local function split_bucket(scope)
  local parts = {}
  for nth = 0, PARTS - 1 do parts[scope.split + nth * scope.size] = {} end
  for _, fingerprint in ipairs(redis.call("SMEMBERS", scope.buckets .. scope.split)) do
    local part = parts[hash_of(fingerprint) % (PARTS * scope.size)]
    part[#part + 1] = fingerprint
  end
  redis.call("DEL", scope.buckets .. scope.split)
  for bucket, part in pairs(parts) do
    if #part > 0 then redis.call("SADD", scope.buckets .. bucket, unpack(part)) end
  end
  scope.split = scope.split + 1
  if scope.split == scope.size then scope.level, scope.size, scope.split = scope.level + 1, PARTS * scope.size, 0 end
end

local function save_scopes()
  for n, scope in pairs(scopes) do
    if scope.count ~= scope.before then
      while scope.count > FILL * (scope.size + (PARTS - 1) * scope.split) do split_bucket(scope) end
      redis.call("HSET", key("scope", n), "count", scope.count, "level", scope.level, "split", scope.split)
    end
  end
end

-- The same as mark_seen, for scopes whose entries expire. An entry is "until job task". Without a task, nothing is
-- stored.
local function mark_seen_until(job, fingerprint, task)
  local lapsing = key("lapse", job.scope)
  local entry = redis.call("HGET", lapsing, fingerprint)
  if entry and tonumber(string.match(entry, "^%S+")) > tx.now then return false end
  if task then
    redis.call("HSET", lapsing, fingerprint, exact(tx.now + job.lapse) .. " " .. job.n .. " " .. task)
  end
  return true
end
