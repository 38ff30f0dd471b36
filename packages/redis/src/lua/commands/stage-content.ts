import { lua } from '../lua.js';

/**
 * Stores part of a large content before its commit. `ARGV[2]` is the private field of the head that refers to it,
 * `ARGV[3]` its lifetime in milliseconds. The body has the content's size and the positions of the pieces, which are
 * the remaining arguments. Repeating a part leaves the content as it is.
 */
export const STAGE_CONTENT = lua`
local key = ARGV[2]
now.further = redis.call('HLEN', KEYS[3])
redis.call('LLEN', KEYS[4])
now.counter, now.started = counter, counter
now.state = { refs = {} }
local kept = redis.call('HGET', KEYS[1], key)
local root, known = 0, 0
if kept then
  local _
  root, _, known = struct.unpack('>ddd', kept)
end
writes.contentsAfter = 3
local content = writes.readContent(ARGV[1], body)
local file = { k = 'F', up = { k = 'S', own = true, dirty = true }, own = true, size = known, root = root }
contents.resize(file, content.size)
writes.pieces(file, content.pieces, 0)
local ref = store.flush(file)
store.flushAll()
if ref ~= root then
  refs.account(root, -1)
  refs.account(ref, 1)
end
store.objects()
redis.call('HSET', KEYS[1], 'n', now.counter, key, struct.pack('>ddd', ref, 0, content.size),
  'l/' .. key, milliseconds() + tonumber(ARGV[3]))
keepAlive()
return { 'K', decimal(now.counter) }
`;
