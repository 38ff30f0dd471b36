import { DIRECTORY_AT, RESULTS_FIELD } from '../layout.js';
import { lua } from '../lua.js';

/**
 * Commands on checkpoints, forks, pinned and staged states, locks and limits. A checkpoint, a fork or a pinned state is
 * one more reference to a root. `ARGV[2]` is the operation's number or 0, `ARGV[3]` the command, the rest its
 * arguments.
 *
 * A state has a field of the head: `s` for the current one, others for leased ones. For the state in `field`, the head
 * has: `c/field/id` a checkpoint, `n/field/name` the id of a named one, `k/field` their number, `l/field` the expiry of
 * a leased state and `x/field` of a lock (server time in milliseconds), `w/field` the tree version on which a state was
 * staged, `q` the stored limits with their check.
 */
export const STATES = lua`
redis.call('HLEN', KEYS[3])
-- A server without free memory must not refuse rollbacks, removals and long reads.
if ARGV[3] ~= 'create' and ARGV[3] ~= 'begin' then renewResults() end
local waiting = redis.call('LLEN', KEYS[4])
local present = head[3]:sub(1, 40)

local function isWhole(state)
  return redis.sha1hex(state:sub(1, 16)):sub(1, 8) == state:sub(33, 40)
end

local function refer(bytes, by)
  local root, inodes = struct.unpack('>dd', bytes)
  refs.account(root, by)
  refs.account(inodes, by)
end

local function totalsOf(bytes)
  local root, _, linkedSize = struct.unpack('>ddd', bytes)
  local size, files, directories = struct.unpack('>ddd', objects.get(root), ${DIRECTORY_AT.size})
  return size + linkedSize, files + directories
end

local actions = {}

-- Returns the stored limits, -1 for none of a kind: bytes of a file, bytes in total, names, checkpoints. Their check follows.
local function storedLimits()
  if field ~= 's' or not head[6] then return nil end
  local limits = head[6]:sub(1, 32)
  if redis.sha1hex(limits):sub(1, 8) ~= head[6]:sub(33) then objects.fail('CORRUPT', 'the stored limits are damaged') end
  return limits
end

-- Returns the stored limits. Stores the given ones first if there are none, or if replaces is '1'.
function actions.limits(replaces, ...)
  local given = struct.pack('>dddd', ...)
  -- Damaged limits can be replaced.
  local limits = replaces ~= '1' and storedLimits()
  if not limits then
    limits = given
    if given == struct.pack('>dddd', -1, -1, -1, -1) then redis.call('HDEL', KEYS[1], 'q')
    else redis.call('HSET', KEYS[1], 'q', given .. redis.sha1hex(given):sub(1, 8)) end
  end
  return ('%.0f %.0f %.0f %.0f'):format(struct.unpack('>dddd', limits))
end

function actions.create(id, name, createdAt, max)
  local key = 'c/' .. field .. '/' .. id
  if redis.call('HEXISTS', KEYS[1], key) == 1 then return 'ok' end
  local nameKey = name ~= '' and 'n/' .. field .. '/' .. name:sub(2)
  if nameKey and redis.call('HEXISTS', KEYS[1], nameKey) == 1 then return 'exists' end
  if nameKey and redis.call('HEXISTS', KEYS[1], 'c/' .. field .. '/' .. name:sub(2)) == 1 then return 'exists' end
  local count = tonumber(redis.call('HGET', KEYS[1], 'k/' .. field) or 0)
  local limits = storedLimits()
  if limits then max = struct.unpack('>d', limits, 25) end
  if tonumber(max) >= 0 and count >= tonumber(max) then return 'limit' end
  counter = counter + 1
  redis.call('HSET', KEYS[1], key, present .. struct.pack('>dd', tonumber(createdAt), counter) .. name, 'k/' .. field, count + 1, 'n', counter)
  if nameKey then redis.call('HSET', KEYS[1], nameKey, id) end
  refer(present, 1)
  return 'ok'
end

function actions.restore(id, maxSize, maxNodes)
  if isLocked() then return nil end
  local kept = redis.call('HGET', KEYS[1], 'c/' .. field .. '/' .. id)
  if not kept then return 'missing' end
  if not isWhole(kept) then objects.fail('CORRUPT', 'a checkpoint is damaged') end
  maxSize, maxNodes = tonumber(maxSize), tonumber(maxNodes)
  local limits = storedLimits()
  if limits then maxSize, maxNodes = struct.unpack('>dd', limits, 9) end
  local size, nodes = totalsOf(present)
  local newSize, newNodes = totalsOf(kept)
  if maxSize >= 0 and newSize > maxSize and newSize > size then
    return ('l maxTotalSize %.0f %.0f %.0f'):format(maxSize, size, newSize)
  end
  if maxNodes >= 0 and newNodes > maxNodes and newNodes > nodes then
    return ('l maxNodeCount %.0f %.0f %.0f'):format(maxNodes, nodes, newNodes)
  end
  counter = counter + 1
  redis.call('HSET', KEYS[1], field, kept:sub(1, 40), 'n', counter)
  refer(kept, 1)
  refer(present, -1)
  if isWatched() then announce('') end
  return 'ok'
end

local function forget(key)
  local kept = redis.call('HGET', KEYS[1], key)
  if not kept then return false end
  redis.call('HDEL', KEYS[1], key)
  -- What a damaged state refers to stays. A staged content is shorter and has no check.
  if #kept < 40 or isWhole(kept) then refer(kept, -1) end
  return kept
end

function actions.drop(id)
  local kept = forget('c/' .. field .. '/' .. id)
  if not kept then return 'missing' end
  if #kept > 56 then redis.call('HDEL', KEYS[1], 'n/' .. field .. '/' .. kept:sub(58)) end
  redis.call('HINCRBY', KEYS[1], 'k/' .. field, -1)
  return 'ok'
end

-- Begins a staged commit: copies the state under a field and returns the version of everything that it will write. A lock keeps
-- other clients from writing until the commit ends or the lock expires.
function actions.begin(key, ms, lockMs)
  actions.lend(key, ms)
  local root = objects.get((struct.unpack('>d', present)))
  redis.call('HSET', KEYS[1], 'w/' .. key, root:sub(26, 33))
  if lockMs ~= '0' then redis.call('HSET', KEYS[1], 'x/' .. field, milliseconds() + tonumber(lockMs)) end
  counter = counter + 1
  redis.call('HSET', KEYS[1], 'n', counter)
  return decimal(counter)
end

function actions.lock(ms)
  redis.call('HSET', KEYS[1], 'x/' .. field, milliseconds() + tonumber(ms))
  return 'ok'
end

function actions.unlock()
  redis.call('HDEL', KEYS[1], 'x/' .. field)
  return 'ok'
end

-- Copies the state in field to a field that expires.
function actions.lend(key, ms)
  if redis.call('HSETNX', KEYS[1], key, present) == 1 then refer(present, 1) end
  redis.call('HSET', KEYS[1], 'l/' .. key, milliseconds() + tonumber(ms))
  return 'ok'
end

function actions.renew(ms)
  redis.call('HSET', KEYS[1], 'l/' .. field, milliseconds() + tonumber(ms))
  return 'ok'
end

-- Calls back with each field of the head that has a prefix.
local function each(prefix, callback)
  local cursor = '0'
  repeat
    local page = redis.call('HSCAN', KEYS[1], cursor, 'COUNT', 500)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      if page[2][i]:sub(1, #prefix) == prefix then callback(page[2][i]:sub(#prefix + 1), page[2][i + 1]) end
    end
  until cursor == '0'
end

-- Deletes a leased state and its checkpoints.
local function giveBack(key)
  forget(key)
  each('c/' .. key .. '/', function(id) forget('c/' .. key .. '/' .. id) end)
  each('n/' .. key .. '/', function(name) redis.call('HDEL', KEYS[1], 'n/' .. key .. '/' .. name) end)
  redis.call('HDEL', KEYS[1], 'l/' .. key, 'k/' .. key, 'w/' .. key, 'x/' .. key)
end

function actions.giveBack(key)
  giveBack(key)
  return 'ok'
end

-- Deletes states whose lease has expired, and the names of clients whose results have.
function actions.sweep(client)
  local time, expired = milliseconds(), {}
  if redis.call('EXISTS', KEYS[5]) == 1 then registerResults(client) end
  each('${RESULTS_FIELD}', function(name, deadline)
    if tonumber(deadline) < time then redis.call('HDEL', KEYS[1], '${RESULTS_FIELD}' .. name) end
  end)
  each('l/', function(key, deadline)
    if tonumber(deadline) < time then expired[#expired + 1] = key end
  end)
  for _, key in ipairs(expired) do giveBack(key) end
  return 'ok'
end

function actions.list()
  local rows = {}
  each('c/' .. field .. '/', function(id, kept)
    rows[#rows + 1] = id
    rows[#rows + 1] = kept:sub(41)
  end)
  return rows
end

local seq = tonumber(ARGV[2])
if not loadResults({ seq }) then return { 'F' } end
local answer = storedResult(seq)
if not answer then
  answer = actions[ARGV[3]](unpack(ARGV, 4))
  if not answer then return { 'W' } end
  waiting = waiting + refs.settle()
  if seq > 0 then storeResults({ seq, answer }) end
  keepAlive()
end
return { 'K', decimal(counter), answer, waiting }
`;
