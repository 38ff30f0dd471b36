import { lua } from './lua.js';

/**
 * The part of the tree that a script works on, in memory: directories (D), the pages of their arrays (A), buckets of
 * names (L), files whose content changes (F) and chunks of content (C). Nothing of it is stored before `store`.
 *
 * An object is `own` where this state alone refers to it, through owned objects all the way up: then it is changed in
 * place. Otherwise its change is a new object, and what refers to it changes too (`claim` goes up for that).
 * `pend` is a transform that an object has not taken over yet.
 */
export const NODES = lua`
local counter, started
local version
local state
local marked, dirty = {}, {}
local furtherReferences

local function newId()
  counter = counter + 1
  return counter
end

local function isShared(id)
  if marked[id] then return true end
  local by = delta[id]
  if id > started then return by ~= nil and by > 1 end
  if by ~= nil and by > 0 then return true end
  if furtherReferences == nil then furtherReferences = call('HLEN', R) end
  return furtherReferences > 0 and call('HEXISTS', R, id) == 1
end

local function isOwn(up, id)
  return up.own and not isShared(id)
end

local function loadArray(page)
  local transforms = {}
  local n = byte(page, 10)
  for t = 1, n do transforms[t] = sub(page, 33 * t - 22, 33 * t + 10) end
  local refs, ts, old, last = {}, {}, {}, -1
  for at = 11 + 33 * n, #page, 9 do
    last = last + 1
    local t, ref = unpack('>I1d', page, at)
    refs[last], old[last] = ref, ref
    if t > 0 then ts[last] = transforms[t] end
  end
  return { k = 'A', refs = refs, ts = ts, old = old, last = last }
end

local function loadLeaf(value)
  local count, length = unpack('>I2I4', value, 10)
  return {
    k = 'L', names = sub(value, 16, 15 + length), records = sub(value, 16 + length), count = count, kids = {}, was = {},
  }
end

local function loadChunk(value)
  return { k = 'C', body = sub(value, 10) }
end

local KINDS = { [65] = loadArray, [76] = loadLeaf, [67] = loadChunk }

-- The object in a slot of an array page, or the only one of a directory or file; nil where there is none.
local function open(up, slot, kind)
  local ref, pend
  if up.k == 'A' then ref, pend = up.refs[slot], compose(up.ts[slot], up.pend)
  else ref, pend = up.root, up.transform end
  if type(ref) == 'table' then return ref end
  if ref == nil or ref == 0 then return nil end
  local value = get(ref)
  expect(byte(value) == kind and unpack('>d', value, 2) == ref, ref)
  local x = KINDS[kind](value)
  x.id, x.up, x.slot, x.pend, x.own = ref, up, slot, pend, isOwn(up, ref)
  if up.k == 'A' then up.refs[slot] = x else up.root = x end
  return x
end

local function openDirectory(ref, up, name, pend)
  local value = get(ref)
  local kind, self, own, listing, tree, count, size, files, directories, linked, root, n, transform, meta, id =
    unpack(DIRECTORY, value)
  expect(kind == 'D' and self == ref, ref)
  transform = storedTransform(transform)
  if pend then
    meta, id, transform = copiedMeta(meta, pend), copiedSlot(id, pend), compose(transform, pend)
  end
  return {
    k = 'D', id = ref, up = up, name = name, own = isOwn(up, ref), pend = pend, version = own, listing = listing,
    tree = tree, count = count, size = size, files = files, directories = directories, linked = linked, root = root,
    n = n, transform = transform, meta = meta, node = id, leaves = {}, old = root,
  }
end

local function markDirty(x)
  if not x.dirty then
    x.dirty = true
    dirty[#dirty + 1] = x
  end
end

local function noteReference(leaf, name, record)
  if leaf.own and leaf.was[name] == nil then leaf.was[name] = record and unpack('>d', record, 18) or 0 end
end

-- Before anything in an object is changed.
local function claim(x)
  if x.dirty then return end
  local up = x.up
  if not x.own or x.pend then
    claim(up)
    if up.k == 'A' then up.ts[x.slot] = nil
    elseif up.k == 'L' then x.changed = true
    else up.transform = nil end
  elseif x.k == 'F' then claim(up) end
  markDirty(x)
  local pend = x.pend
  x.pend = nil
  if not pend then return end
  if x.k == 'A' then
    for slot = 0, x.last do x.ts[slot] = compose(x.ts[slot], pend) end
  elseif x.k == 'L' then
    local records = {}
    for i = 0, x.count - 1 do
      records[i + 1] = copiedRecord(sub(x.records, RECORD * i + 1, RECORD * (i + 1)), pend)
    end
    x.records = table.concat(records)
  end
end

local function setSlot(up, slot, x, transform)
  claim(up)
  if type(x) == 'table' then x.up, x.slot = up, slot end
  if up.k == 'A' then
    up.refs[slot], up.ts[slot] = x, transform
    if slot > up.last then
      for i = up.last + 1, slot - 1 do up.refs[i] = 0 end
      up.last = slot
    end
  else up.root, up.transform = x, transform end
end

local function create(k, up, slot, fields)
  fields.k, fields.own = k, false
  setSlot(up, slot, fields)
  markDirty(fields)
  return fields
end

-- Where element i of an array of n belongs: the object that refers to it, and the slot there.
local function seat(owner, n, i, make)
  local up, slot, level = owner, 0, levels(n)
  while level > 0 do
    local page = open(up, slot, 65)
    if not page then
      if not make then return nil end
      page = create('A', up, slot, { refs = {}, ts = {}, old = {}, last = -1 })
    end
    local span = FANOUT ^ (level - 1)
    up, slot, i, level = page, floor(i / span), i % span, level - 1
  end
  return up, slot
end

-- What is taken out of an object that is not own stays in that object too.
local function keepsAlso(x, ref)
  if not x.own and type(ref) ~= 'table' and ref ~= 0 then marked[ref] = true end
end

-- Takes away everything from element n on, below one slot.
local function truncate(up, slot, level, n)
  if n == 0 then
    setSlot(up, slot, 0)
    return
  end
  if level == 0 then return end
  local page = open(up, slot, 65)
  if not page then return end
  local span = FANOUT ^ (level - 1)
  local first = floor(n / span)
  local rest = n % span
  claim(page)
  local last = rest > 0 and first or first - 1
  for i = last + 1, page.last do page.refs[i], page.ts[i] = nil, nil end
  if page.last > last then page.last = last end
  if rest > 0 and page.last == first then truncate(page, first, level - 1, rest) end
end

-- Gives an array another number of elements; new ones are empty.
local function resize(owner, from, to)
  local level = levels(from)
  if to < from then truncate(owner, 0, level, to) end
  while level > levels(to) do
    local page = open(owner, 0, 65)
    level = level - 1
    if page then
      local first = page.refs[0] or 0
      keepsAlso(page, first)
      setSlot(owner, 0, first, compose(page.ts[0], page.pend))
    end
  end
  while level < levels(to) do
    level = level + 1
    local root, transform = owner.root, owner.transform
    if root ~= 0 then
      local page = create('A', owner, 0, { refs = {}, ts = {}, old = {}, last = -1 })
      setSlot(page, 0, root, transform)
    end
  end
end

-- ── buckets and records ──

local function leafAt(directory, bucket)
  local leaf = directory.leaves[bucket]
  if leaf then return leaf end
  local up, slot = seat(directory, directory.n, bucket)
  leaf = up and open(up, slot, 76)
  if leaf then
    leaf.directory = directory
    directory.leaves[bucket] = leaf
  end
  return leaf
end

local function leafFor(directory, name)
  return leafAt(directory, bucketOf(name, directory.n))
end

local function leafToPut(directory, bucket)
  local leaf = leafAt(directory, bucket)
  if leaf then return leaf end
  local up, slot = seat(directory, directory.n, bucket, true)
  leaf = create('L', up, slot, { names = '', records = '', count = 0, kids = {}, was = {}, directory = directory })
  directory.leaves[bucket] = leaf
  return leaf
end

local function recordOf(leaf, name)
  local index = indexOf(leaf.names, name)
  if not index then return nil end
  return copiedRecord(sub(leaf.records, RECORD * index + 1, RECORD * (index + 1)), leaf.pend)
end

local function addRecord(leaf, name, record)
  claim(leaf)
  noteReference(leaf, name)
  leaf.names = leaf.names .. '\0' .. name .. '/'
  leaf.records = leaf.records .. record
  leaf.count = leaf.count + 1
end

local function setRecord(leaf, name, record)
  claim(leaf)
  local index = indexOf(leaf.names, name)
  local at = RECORD * index
  noteReference(leaf, name, sub(leaf.records, at + 1, at + RECORD))
  leaf.records = sub(leaf.records, 1, at) .. record .. sub(leaf.records, at + RECORD + 1)
end

-- Answers the record, as it was, and what of it is in memory.
local function takeRecord(leaf, name)
  claim(leaf)
  local index, from = indexOf(leaf.names, name)
  local at = RECORD * index
  local record = sub(leaf.records, at + 1, at + RECORD)
  noteReference(leaf, name, record)
  keepsAlso(leaf, unpack('>d', record, 18))
  leaf.names = sub(leaf.names, 1, from - 1) .. sub(leaf.names, from + #name + 2)
  leaf.records = sub(leaf.records, 1, at) .. sub(leaf.records, at + RECORD + 1)
  leaf.count = leaf.count - 1
  local kid = leaf.kids[name]
  leaf.kids[name] = nil
  return record, kid
end

local function putKid(leaf, name, kid)
  if not kid then return end
  leaf.kids[name], kid.up, kid.name = kid, leaf, name
  -- Its place is a new one: whatever number it gets has to be written here.
  if kid.k == 'D' then kid.changed = true end
end

local function splitBucket(directory)
  local n = directory.n
  local half = 1
  while half * 2 <= n do half = half * 2 end
  resize(directory, n, n + 1)
  directory.n = n + 1
  local from = leafAt(directory, n - half)
  if not from then return end
  local names = {}
  for name in string.gmatch(from.names, '%z([^/]+)/') do
    if bucketOf(name, n + 1) == n then names[#names + 1] = name end
  end
  if #names == 0 then return end
  local to = leafToPut(directory, n)
  for _, name in ipairs(names) do
    local record, kid = takeRecord(from, name)
    addRecord(to, name, record)
    putKid(to, name, kid)
  end
end

local function mergeBucket(directory)
  local n = directory.n - 1
  local half = 1
  while half * 2 <= n do half = half * 2 end
  local from = leafAt(directory, n)
  if from and from.count > 0 then
    local to = leafToPut(directory, n - half)
    for name in string.gmatch(from.names, '%z([^/]+)/') do
      local record, kid = takeRecord(from, name)
      addRecord(to, name, record)
      putKid(to, name, kid)
    end
  end
  directory.leaves[n] = nil
  resize(directory, n + 1, n)
  directory.n = n
end

-- A bucket holds some dozen names.
local GROW, SHRINK = 12, 4

local function addName(directory, name, record, kid)
  claim(directory)
  local leaf = leafToPut(directory, bucketOf(name, directory.n))
  addRecord(leaf, name, record)
  putKid(leaf, name, kid)
  directory.count, directory.listing = directory.count + 1, version
  if directory.count > directory.n * GROW then splitBucket(directory) end
end

local function takeName(directory, name)
  claim(directory)
  local record, kid = takeRecord(leafFor(directory, name), name)
  directory.count, directory.listing = directory.count - 1, version
  if directory.n > 1 and directory.count < directory.n * SHRINK then mergeBucket(directory) end
  return record, kid
end

local function newDirectory(node, meta)
  local x = {
    k = 'D', own = false, version = version, listing = version, tree = version, count = 0, size = 0, files = 0,
    directories = 0, linked = 0, root = 0, n = 1, meta = meta, node = node, leaves = {}, old = 0,
  }
  markDirty(x)
  return x
end

-- Everything above a change: totals, and the version of the subtree.
local function addTotals(directory, size, files, directories, linked)
  local at = directory
  while at do
    claim(at)
    at.tree = version
    at.size, at.files = at.size + size, at.files + files
    at.directories, at.linked = at.directories + directories, at.linked + linked
    at = at.up.directory
  end
end
`;
