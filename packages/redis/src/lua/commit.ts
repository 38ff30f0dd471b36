import { lua } from './lua.js';

/**
 * A group of batches, in `ARGV[7]`. Each is checked, then applied in memory; what all of them made is stored at the end.
 * A batch that may exceed a limit is applied alone, so that it can be thrown away.
 */
export const COMMIT = lua`
-- A key of the wrong kind must be found before anything is written.
call('HLEN', R)
call('LLEN', Q)
enterState(head[3])

local results = {}

local function store()
  flushAll()
  found = {}
  local isChanged = state.changed
  storeObjects()
  if isChanged then call('HSET', M, 'n', counter, ARGV[3], stateBytes())
  else call('HSET', M, 'n', counter) end
  remember(results)
  results = {}
  state.changed = nil
end

local function discard()
  dirty, fresh, delta, marked, plainChunks, found, furtherReferences = {}, {}, {}, {}, {}, {}, nil
  counter = started
  enterState(call('HGET', M, ARGV[3]))
end

local function totals()
  local root = rootDirectory()
  return root.size + state.linkedSize, root.files + root.directories
end

local function tooLarge(allowed, sizes)
  for _, one in ipairs(sizes) do
    local path, requested = one[1], one[2]
    if requested > allowed then
      local record = leafNodeAt(path)
      local used = record and byte(record) == 102 and unpack('>d', record, 10) or 0
      if requested > used then return 'l maxFileSize ' .. ('%.0f %.0f %.0f'):format(allowed, used, requested) end
    end
  end
end

local function overLimit(size, nodes, maxSize, maxNodes)
  local newSize, newNodes = totals()
  if maxSize >= 0 and newSize > maxSize and newSize > size then
    return 'l maxTotalSize ' .. ('%.0f %.0f %.0f'):format(maxSize, size, newSize)
  end
  if maxNodes >= 0 and newNodes > maxNodes and newNodes > nodes then
    return 'l maxNodeCount ' .. ('%.0f %.0f %.0f'):format(maxNodes, nodes, newNodes)
  end
end

local function runBatch(blob, at, maxFile, maxSize, maxNodes)
  local failed, sizes, growth, names, count
  failed, at = failedChecks(blob, at)
  if #failed > 0 then return 'c ' .. table.concat(failed, ' ') end
  if byte(blob, at) == 0 then return ('o %.0f'):format(counter) end
  at = at + 1
  growth, names, count, at = unpack('>ddI2', blob, at)
  sizes = {}
  for i = 1, count do
    local path, requested
    path, requested, at = unpack('>I2d', blob, at)
    sizes[i] = { path, requested }
  end
  local refused = maxFile >= 0 and tooLarge(maxFile, sizes)
  if refused then return refused end
  local size, nodes = totals()
  local isDoubtful = (maxSize >= 0 and size + growth > maxSize) or (maxNodes >= 0 and nodes + names > maxNodes)
  if isDoubtful and #dirty > 0 then
    store()
    size, nodes = totals()
  end
  version = newId()
  applyWrites(blob, at)
  if isDoubtful then
    refused = overLimit(size, nodes, maxSize, maxNodes)
    if refused then
      discard()
      return refused
    end
  end
  return ('o %.0f'):format(version)
end

local blob = ARGV[7]
local at = readPaths(blob, 1)
local n
n, at = unpack('>I2', blob, at)
local answers = { 'K', 0, 0 }
for i = 1, n do
  local seq, length, maxFile, maxSize, maxNodes
  seq, length, maxFile, maxSize, maxNodes, at = unpack('>dI4ddd', blob, at)
  local answer = answered(seq)
  if not answer then
    answer = runBatch(blob, at, maxFile, maxSize, maxNodes)
    if seq > 0 then
      results[#results + 1] = seq
      results[#results + 1] = answer
    end
  end
  answers[i + 3] = answer
  at = at + length
end
if #dirty > 0 or #results > 0 then
  store()
  acknowledge()
  keepAlive()
end
answers[2] = ('%.0f'):format(counter)
answers[3] = call('LLEN', Q)
return answers
`;
