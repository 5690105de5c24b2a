-- Give the lease of a room back, if it is still one's own.
--
-- KEYS[1]  room:{CODE}:lease   hash    node, epoch, address
-- ARGV[1]  node that holds it
-- ARGV[2]  epoch at which it does
-- returns  1 given back; 0 it was no longer held so
--
-- The hash stays, with its epoch: the next taking must be told from this one.

local held = redis.call('HMGET', KEYS[1], 'node', 'epoch')
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], 'node', '', 'address', '')
return 1
