-- Tasks of a shard that count a crash from before: somebody died with them. For tests only: it walks everything.
-- KEYS  1 the shard
-- Reply: how many.
local shard, crashed = KEYS[1], 0
local function keys(name) return redis.call("KEYS", (string.gsub(shard, "[{}]", "?")) .. ":" .. name) end
local function add(is_crashed) crashed = crashed + (is_crashed and 1 or 0) end

for _, place in ipairs({ "back:*", "delayed:*" }) do
  for _, name in ipairs(keys(place)) do
    for _, member in ipairs(redis.call("ZRANGE", name, 0, -1)) do
      add(cmsgpack.unpack(string.sub(member, 7))[3] > 0)
    end
  end
end
-- The lease itself counts as one until it ends well; a task in its first lease is kept in other words (0x92).
for _, value in ipairs(redis.call("HVALS", shard .. ":leases")) do
  if string.byte(value) ~= 0x92 then add(cmsgpack.unpack(value)[3] > 1) end
end
for _, letter in ipairs(redis.call("HVALS", shard .. ":dead")) do
  add(cmsgpack.unpack(letter)[5] == "crashed_worker")
end
return crashed
