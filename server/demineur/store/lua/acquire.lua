-- Take the lease of a room, if it is free, one's own, or of a holder found dead.
--
-- KEYS[1]  room:{CODE}:lease   hash    node, epoch, address
-- KEYS[2]  room:{CODE}:log     stream  read only
-- ARGV[1]  node that asks
-- ARGV[2]  address at which other nodes reach it
-- ARGV[3]  "create" (there must be no log) or "adopt" (there must be one)
-- ARGV[4]  epoch whose holder is known to be dead, or ""
-- ARGV[5]  time to live of the lease of a room that has no log yet, in ms
-- returns  {"lease", epoch, length of the log, holder before or ""}
--          {"held", node, epoch, address}   by another node
--          {"missing"}                      adopt, and there is no log
--          {"exists"}                       create, and there is a log
--
-- Each taking raises the epoch by one, so the appends of every earlier holder are fenced.

local LEASE_MARGIN_MS = 60000

local lease, log = KEYS[1], KEYS[2]
local length = redis.call('XLEN', log)
if ARGV[3] == 'create' then
  if length > 0 then
    return {'exists'}
  end
elseif length == 0 then
  return {'missing'}
end

local held = redis.call('HMGET', lease, 'node', 'epoch', 'address')
local holder = held[1] or ''
if holder ~= '' and holder ~= ARGV[1] and held[2] ~= ARGV[4] then
  return {'held', holder, tonumber(held[2]), held[3]}
end

local epoch = redis.call('HINCRBY', lease, 'epoch', 1)
redis.call('HSET', lease, 'node', ARGV[1], 'address', ARGV[2])
if length == 0 then
  redis.call('PEXPIRE', lease, ARGV[5])
elseif redis.call('PTTL', lease) < 0 then
  redis.call('PEXPIRE', lease, math.max(redis.call('PTTL', log), 0) + LEASE_MARGIN_MS)
end
return {'lease', epoch, length, holder}
