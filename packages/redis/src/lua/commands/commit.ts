import { lua } from '../lua.js';

/**
 * Commits the batches of a request. Each is checked, then applied in memory. Changes are stored at the end. They are
 * also stored before a batch that may exceed a limit, so that this batch can be discarded alone.
 */
export const COMMIT = lua`
paths.parents, paths.names, now.further, writes.contentsAfter = parents, names, further, BEFORE_CONTENTS
local announced, texts, textAt = {}, {}, 1
-- Approximate cost in written references. Shared objects cost their copy.
local spent = 0

-- Opens a stored state.
local function openState(bytes)
  local root, inodes, linkedSize, inodesVersion = struct.unpack('>dddd', bytes)
  now.counter, now.started = counter, counter
  now.state = {
    k = 'S', own = true, dirty = true, root = root, inodes = inodes, linkedSize = linkedSize,
    inodesVersion = inodesVersion, refs = { root = root, inodes = inodes },
  }
end

local function storeChanges()
  local state = now.state
  store.flushAll()
  paths.found = {}
  for _ in pairs(refs.delta) do spent = spent + 1 end
  for _, value in pairs(objects.fresh) do spent = spent + 5 + (#value + (isChunk(value) and 0 or 8)) / 512 end
  waiting = waiting + store.objects()
  counter = now.counter
  if state.changed then
    local bytes = struct.pack('>dddd', state.refs.root, state.refs.inodes, state.linkedSize, state.inodesVersion)
    redis.call('HSET', KEYS[1], 'n', counter, field, bytes .. redis.sha1hex(bytes:sub(1, 16)):sub(1, 8))
    state.changed = nil
  else redis.call('HSET', KEYS[1], 'n', counter) end
  for key in pairs(store.taken) do redis.call('HDEL', KEYS[1], key, 'l/' .. key, 'w/' .. key) end
  if store.isUnlocked then redis.call('HDEL', KEYS[1], 'x/' .. field) end
  store.taken = {}
  storeResults(results)
  results = {}
end

local function discardChanges()
  nodes.dirty, nodes.marked, objects.fresh, refs.delta = {}, {}, {}, {}
  store.plain, store.taken, paths.found = {}, {}, {}
  openState(redis.call('HGET', KEYS[1], field))
end

local function totals()
  local root = paths.root()
  return root.size + now.state.linkedSize, root.files + root.directories
end

local function limited(name, allowed, used, requested)
  return ('l %s %.0f %.0f %.0f'):format(name, allowed, used, requested)
end

local function tooLarge(allowed, blob, at, count)
  for _ = 1, count do
    local path, requested
    path, requested, at = struct.unpack('>I2d', blob, at)
    if requested > allowed then
      local record = paths.leafNode(path)
      local used = record and record:byte() == 102 and struct.unpack('>d', record, 10) or 0
      if requested > used then return limited('maxFileSize', allowed, used, requested) end
    end
  end
end

local function overLimit(size, nodesBefore, newSize, newNodes, maxSize, maxNodes)
  if maxSize >= 0 and newSize > maxSize and newSize > size then
    return limited('maxTotalSize', maxSize, size, newSize)
  end
  if maxNodes >= 0 and newNodes > maxNodes and newNodes > nodesBefore then
    return limited('maxNodeCount', maxNodes, nodesBefore, newNodes)
  end
end

-- Makes a staged state the current one. Returns 'm' if the state has changed since it was staged, unless it replaces
-- everything. Returns the result of a limit that it exceeds.
local function adoptStagedState(blob, at, size, nodesBefore, maxSize, maxNodes)
  local replacesAll, key = struct.unpack('>I1I1c0', blob, at)
  local staged, original = unpack(redis.call('HMGET', KEYS[1], key, 'w/' .. key))
  if not staged then objects.fail('STALE', 'a staged commit') end
  if redis.sha1hex(staged:sub(1, 16)):sub(1, 8) ~= staged:sub(33, 40) then objects.fail('CORRUPT', 'a staged commit is damaged') end
  if replacesAll == 0 and struct.unpack('>d', original) ~= paths.root().tree then return 'm' end
  local root, inodes, linkedSize, inodesVersion = struct.unpack('>dddd', staged)
  local newSize, files, directories = struct.unpack('>ddd', objects.of(68, root), 42)
  local refused = overLimit(size, nodesBefore, newSize + linkedSize, files + directories, maxSize, maxNodes)
  if refused then return refused end
  local state = now.state
  refs.account(state.refs.root, -1)
  refs.account(state.refs.inodes, -1)
  state.root, state.inodes, state.linkedSize, state.inodesVersion = root, inodes, linkedSize, inodesVersion
  state.refs, state.changed = { root = root, inodes = inodes }, true
  store.taken[key], store.isUnlocked = true, true
end

local function runBatch(at)
  local begin = at
  local maxFile, maxSize, maxNodes, fixed, failed, growth, names, count
  maxFile, maxSize, maxNodes, fixed, at = struct.unpack('>dddd', blob, at)
  failed, at = checks.failed(blob, at)
  if #failed > 0 then return 'c ' .. table.concat(failed, ' ') end
  local kind = blob:byte(at)
  if kind == 0 then return 'o ' .. decimal(now.counter) end
  if limits and blob:sub(begin, begin + 23) ~= limits then
    return ('q %.0f %.0f %.0f %.0f'):format(struct.unpack('>dddd', head[6]))
  end
  growth, names, count, at = struct.unpack('>ddI2', blob, at + 1)
  local refused = count > 0 and tooLarge(maxFile, blob, at, count)
  if refused then return refused end
  at = at + 10 * count
  local size, nodesBefore = totals()
  if kind == 2 then
    return adoptStagedState(blob, at, size, nodesBefore, maxSize, maxNodes) or 'o ' .. decimal(fixed)
  end
  local isDoubtful = (maxSize >= 0 and size + growth > maxSize) or (maxNodes >= 0 and nodesBefore + names > maxNodes)
  if isDoubtful and #nodes.dirty > 0 then storeChanges() end
  now.version = fixed > 0 and fixed or nodes.newId()
  writes.apply(blob, at)
  if isDoubtful then
    local newSize, newNodes = totals()
    refused = overLimit(size, nodesBefore, newSize, newNodes, maxSize, maxNodes)
    if refused then
      discardChanges()
      return refused
    end
  end
  return 'o ' .. decimal(now.version)
end

openState(head[3])
if watched then
  for i = 1, n do texts[i], textAt = struct.unpack('>I4c0', ARGV[#ARGV], textAt) end
end
-- Runs each batch that has no result yet. Results that the fast path has collected are dropped.
results = {}
for i = 1, n do
  local seq = numbers[i]
  local answer = storedResult(seq)
  if not answer then
    answer = runBatch(begins[i])
    if watched and answer:byte() == 111 then announced[#announced + 1] = texts[i] end
    if seq > 0 then results[#results + 1], results[#results + 2] = seq, answer end
  end
  answers[i] = answer
end
if #nodes.dirty > 0 or now.state.changed then storeChanges() elseif #results > 0 or settled ~= '' or renewsResults == 1 then storeResults(results, true) end
local text = table.concat(announced)
if text ~= '' then return commitReply(spent, announce(text)) end
if head[5] and not watched and field == 's' then redis.call('HDEL', KEYS[1], 'a') end
return commitReply(spent, watched and '0')
`;
