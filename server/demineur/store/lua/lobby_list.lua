-- Read the lobby's list, the rooms put last first.
--
-- KEYS[1]  {lobby}:rooms       hash    code -> opaque entry
-- KEYS[2]  {lobby}:seen        zset    code -> ms at which its node last put it
-- ARGV[1]  rooms last put before this are stale and left out, in ms
-- ARGV[2]  how many rooms at most
-- returns  {code, entry, code, entry, ...}

local codes = redis.call('ZREVRANGEBYSCORE', KEYS[2], '+inf', ARGV[1], 'LIMIT', 0, ARGV[2])
local listed = {}
if #codes > 0 then
  local entries = redis.call('HMGET', KEYS[1], unpack(codes))
  for i, code in ipairs(codes) do
    if entries[i] then
      listed[#listed + 1] = code
      listed[#listed + 1] = entries[i]
    end
  end
end
return listed
