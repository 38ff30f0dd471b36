import { lua } from './lua.js';

/** Makes objects of what a script has in memory, and writes all of it: from here on nothing can fail. */
export const STORE = lua`
local plainChunks = {}

local flush

local function flushSlot(x)
  if type(x) == 'table' then return flush(x) end
  return x
end

local function flushLeaf(leaf, id)
  for name, kid in pairs(leaf.kids) do
    local ref = flush(kid)
    if kid.changed then
      kid.changed = nil
      local at = RECORD * indexOf(leaf.names, name)
      local record = sub(leaf.records, at + 1, at + RECORD)
      noteReference(leaf, name, record)
      if kid.k == 'D' then record = 'd' .. sub(record, 2, 17) .. pack('>d', ref) .. '\0' .. sub(record, 27)
      else record = sub(record, 1, 9) .. pack('>dd', kid.size, ref) .. sub(record, 26) end
      leaf.records = sub(leaf.records, 1, at) .. record .. sub(leaf.records, at + RECORD + 1)
    end
  end
  if leaf.own then
    for name, old in pairs(leaf.was) do
      local index = indexOf(leaf.names, name)
      local ref = index and unpack('>d', leaf.records, RECORD * index + 18) or 0
      if ref ~= old then
        account(old, -1)
        account(ref, 1)
      end
    end
  else
    for i = 0, leaf.count - 1 do account(unpack('>d', leaf.records, RECORD * i + 18), 1) end
  end
  return pack('>c1dI2I4', 'L', id, leaf.count, #leaf.names) .. leaf.names .. leaf.records
end

local function flushArray(page, id)
  local transforms, index, slots = {}, {}, {}
  for slot = 0, page.last do
    local ref = flushSlot(page.refs[slot]) or 0
    page.refs[slot] = ref
    local t = page.ts[slot]
    if t and not index[t] then
      transforms[#transforms + 1] = t
      index[t] = #transforms
    end
    slots[slot + 1] = pack('>I1d', t and index[t] or 0, ref)
    if not page.own then account(ref, 1)
    elseif ref ~= (page.old[slot] or 0) then
      account(page.old[slot] or 0, -1)
      account(ref, 1)
    end
  end
  if page.own then
    for slot, ref in pairs(page.old) do if slot > page.last then account(ref, -1) end end
  end
  return pack('>c1dI1', 'A', id, #transforms) .. table.concat(transforms) .. table.concat(slots)
end

local function flushDirectory(x, id)
  local root = flushSlot(x.root)
  if not x.own then account(root, 1)
  elseif root ~= x.old then
    account(x.old, -1)
    account(root, 1)
  end
  x.root = root
  return pack(DIRECTORY, 'D', id, x.version, x.listing, x.tree, x.count, x.size, x.files, x.directories, x.linked,
    root, x.n, x.transform or rep('\0', 33), x.meta, x.node)
end

-- Answers the number of an object, after everything beneath it has one.
flush = function(x)
  if not x.dirty then return x.k == 'F' and flushSlot(x.root) or x.id end
  x.dirty = false
  if x.k == 'F' then
    x.root, x.changed = flushSlot(x.root), true
    return x.root
  end
  local id = x.own and x.id or newId()
  if id ~= x.id then x.changed = true end
  x.id = id
  if x.k == 'L' then fresh[id] = flushLeaf(x, id)
  elseif x.k == 'A' then fresh[id] = flushArray(x, id)
  elseif x.k == 'D' then fresh[id] = flushDirectory(x, id)
  else fresh[id] = 'C' .. pack('>d', id) .. x.body end
  return id
end

-- Afterwards nothing is in memory: everything is found again through the state.
local function flushAll()
  for i = 1, #dirty do flush(dirty[i]) end
  dirty = {}
  for _, key in ipairs({ 'root', 'inodes' }) do
    local x = state[key]
    if type(x) == 'table' then
      local ref = flush(x)
      if ref ~= state.refs[key] then
        account(state.refs[key], -1)
        account(ref, 1)
        state.refs[key] = ref
        state.changed = true
      end
      state[key] = ref
    end
  end
end

-- What was made and is referred to by nothing is not stored, and lets go of what it refers to.
local function forgetUnused()
  local pending = {}
  for id in pairs(fresh) do
    if id > started and (delta[id] or 0) <= 0 then pending[#pending + 1] = id end
  end
  while #pending > 0 do
    local id = table.remove(pending)
    local value = fresh[id]
    fresh[id] = nil
    eachReference(value, function(ref)
      account(ref, -1)
      if ref > started and delta[ref] <= 0 and fresh[ref] then pending[#pending + 1] = ref end
    end)
  end
end

local function storeObjects()
  forgetUnused()
  local fields, count = {}, 0
  for id, value in pairs(fresh) do
    fields[count + 1], fields[count + 2] = id, value
    count = count + 2
    if id > started then
      local by = delta[id]
      delta[id] = nil
      if by > 1 then call('HSET', R, id, by - 1) end
    end
  end
  for i = 1, count, 200 do call('HSET', O, spread(fields, i, math.min(i + 199, count))) end
  settle(plainChunks)
  fresh, marked, plainChunks, furtherReferences = {}, {}, {}, nil
  started = counter
end
`;
