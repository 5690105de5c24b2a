-- Append events to the logs of one or many rooms, each append guarded by its lease.
--
-- KEYS     four for each append, in the order of the appends (a room may come more than once):
--            room:{CODE}:lease   hash    node, epoch, address
--            room:{CODE}:log     stream  one entry an event, id <version>-0, field e
--            room:{CODE}:timers  hash    player -> opaque
--            room:{CODE}:meta    hash    opaque
-- ARGV[1]  node that appends
-- ARGV     for each append, one after the other:
--            epoch of the lease
--            version of the first event (from 1)
--            time to live of the room's keys, in ms
--            "1" to renew that time to live, "0" to leave it
--            e, then e events
--            t, then t strings: fields and values of the timers (t is even)
--            m, then m strings: fields and values of the meta (m is even)
-- returns  one reply an append: 1 stored; 0 fenced (the lease is not this node's, or has another
--          epoch); -1 conflict (the log does not end just before the first version); a string:
--          the error that Redis gave for this append alone
--
-- An append is refused whole or stored whole. The lease outlives the log by LEASE_MARGIN_MS, so
-- that an epoch never starts again under a log that is still there.

local LEASE_MARGIN_MS = 60000

local call = redis.call
local node = ARGV[1]

local function append(key, at, events_at, timers_at, meta_at)
  local lease = call('HMGET', KEYS[key], 'node', 'epoch')
  if lease[1] ~= node or lease[2] ~= ARGV[at] then
    return 0
  end
  local log, version = KEYS[key + 1], tonumber(ARGV[at + 1])
  if call('XLEN', log) ~= version - 1 then
    return -1
  end
  for i = events_at + 1, timers_at - 1 do
    call('XADD', log, version .. '-0', 'e', ARGV[i])
    version = version + 1
  end
  local ttl_ms, renew = ARGV[at + 2], ARGV[at + 3] == '1'
  local timers_end, meta_end = meta_at - 1, meta_at + tonumber(ARGV[meta_at])
  if timers_end > timers_at then
    if call('HSET', KEYS[key + 2], unpack(ARGV, timers_at + 1, timers_end)) > 0 then
      call('PEXPIRE', KEYS[key + 2], ttl_ms)
    end
  end
  if meta_end > meta_at then
    if call('HSET', KEYS[key + 3], unpack(ARGV, meta_at + 1, meta_end)) > 0 then
      call('PEXPIRE', KEYS[key + 3], ttl_ms)
    end
  end
  if renew then
    call('PEXPIRE', KEYS[key], tonumber(ttl_ms) + LEASE_MARGIN_MS)
    call('PEXPIRE', log, ttl_ms)
    call('PEXPIRE', KEYS[key + 2], ttl_ms)
    call('PEXPIRE', KEYS[key + 3], ttl_ms)
  end
  return 1
end

local function message_of(failure)
  if type(failure) == 'table' then
    return failure.err
  end
  return tostring(failure)
end

local replies = {}
local at = 2
for key = 1, #KEYS, 4 do
  local events_at = at + 4
  local timers_at = events_at + tonumber(ARGV[events_at]) + 1
  local meta_at = timers_at + tonumber(ARGV[timers_at]) + 1
  local ok, reply = pcall(append, key, at, events_at, timers_at, meta_at)
  replies[#replies + 1] = ok and reply or message_of(reply)
  at = meta_at + tonumber(ARGV[meta_at]) + 1
end
return replies
