import { lua } from '../lua.js';

/**
 * The part of the tree that a script has open in memory: directories (D), pages of arrays (A), buckets of names (L),
 * files whose content changes (F) and chunks of content (C). `store` writes them.
 *
 * An object is `own` if only this state refers to it, through owned objects up to the root. It is then changed in
 * place. Otherwise a change makes a new object, and its parents change too (`claim`). `pend` is a transform that has
 * not been applied to the object yet. `was` has the previous references of an owned object's changed slots.
 */
export const NODES = lua`
local contents = {}
local nodes = { marked = {}, dirty = {} }
local now = {}
local EMPTY = ('\0'):rep(15)

function nodes.newId()
  now.counter = now.counter + 1
  return now.counter
end

function nodes.isShared(id)
  if nodes.marked[id] then return true end
  local by = refs.delta[id]
  if id > now.started then return by ~= nil and by > 1 end
  if by ~= nil and by > 0 then return true end
  now.further = now.further or redis.call('HLEN', KEYS[3])
  return now.further > 0 and redis.call('HEXISTS', KEYS[3], id) == 1
end

-- Opens the object in a slot of an array page, or the root of a directory's or file's array. Returns nil if it is empty.
function nodes.open(up, slot, kind)
  local x, pend
  if up.k == 'A' then
    x = up.kids[slot]
    if x then return x end
    x, pend = objects.slotOfPage(up.value, slot)
    pend = objects.compose(pend, up.pend)
  else x, pend = up.root, up.transform end
  if type(x) == 'table' then return x end
  if x == 0 then return nil end
  local id = x
  local value = objects.of(kind, id)
  x = { id = id, up = up, slot = slot, pend = pend, own = up.own and not nodes.isShared(id), was = {}, kids = {} }
  if kind == 76 then
    local count, length = struct.unpack('>I2I4', value, 10)
    x.k, x.count, x.value, x.first, x.edits, x.added, x.at, x.read = 'L', count, value, 16 + length, {}, {}, {}, {}
  elseif kind == 65 then x.k, x.value = 'A', value
  else x.k, x.body = 'C', value:sub(2, value:byte() == 66 and -1 or -9) end
  if up.k == 'A' then up.kids[slot] = x else up.root = x end
  return x
end

function nodes.openDirectory(ref, up, name, pend)
  local value = objects.get(ref)
  local kind, self, own, listing, tree, count, size, files, directories, linked, root, n, transform, meta, id =
    struct.unpack(DIRECTORY, value)
  if kind ~= 'D' or self ~= ref then objects.fail('CORRUPT', 'object ' .. ref .. ' is not a directory') end
  transform = objects.storedTransform(transform)
  if pend then
    meta, id = objects.copiedMeta(meta, pend), objects.copiedSlot(id, pend)
    transform = objects.compose(transform, pend)
  end
  return {
    k = 'D', id = ref, up = up, name = name, own = up.own and not nodes.isShared(ref), pend = pend, version = own,
    listing = listing, tree = tree, count = count, size = size, files = files, directories = directories,
    linked = linked, root = root, n = n, transform = transform, meta = meta, node = id, leaves = {}, old = root,
  }
end

function nodes.markDirty(x)
  if not x.dirty then
    x.dirty = true
    nodes.dirty[#nodes.dirty + 1] = x
  end
end

-- Prepares an object for a change.
function nodes.claim(x)
  if x.dirty then return end
  local up = x.up
  if not x.own or x.pend then
    nodes.claim(up)
    if up.k == 'A' then nodes.rare().setTransform(up, x.slot, nil)
    elseif up.k == 'L' then x.changed = true
    else up.transform = nil end
  elseif x.k == 'F' then nodes.claim(up) end
  nodes.markDirty(x)
  if x.pend then nodes.rare().takeOver(x) end
end

function nodes.setSlot(up, slot, x, transform)
  nodes.claim(up)
  local isLoaded = type(x) == 'table'
  if isLoaded then x.up, x.slot = up, slot end
  if up.k == 'A' then nodes.rare().setPageSlot(up, slot, x, transform)
  else up.root, up.transform = x, transform end
end

function nodes.create(k, up, slot, x)
  x.k, x.own, x.was, x.kids = k, false, {}, {}
  nodes.setSlot(up, slot, x)
  nodes.markDirty(x)
  return x
end

-- Returns the object and slot that refer to element i of an array of n. If a page is missing, creates it if make is
-- set, or returns nil.
function nodes.seat(owner, n, i, make)
  local up, slot, level = owner, 0, objects.levels(n)
  while level > 0 do
    local page = nodes.open(up, slot, 65)
    if not page then
      if not make then return nil end
      page = nodes.create('A', up, slot, { value = 'A' .. ('\0'):rep(9) })
    end
    local span = FANOUT ^ (level - 1)
    up, slot, i, level = page, math.floor(i / span), i % span, level - 1
  end
  return up, slot
end

-- Marks the object with number ref as shared if x, from which it is moved, is not owned: the stored x keeps referring
-- to it.
function nodes.keepsAlso(x, ref)
  if not x.own and type(ref) ~= 'table' and ref ~= 0 then nodes.marked[ref] = true end
end

-- ── buckets and records ──

function nodes.leafAt(directory, bucket)
  local leaf = directory.leaves[bucket]
  if leaf then return leaf end
  local up, slot = nodes.seat(directory, directory.n, bucket)
  leaf = up and nodes.open(up, slot, 76)
  if leaf then
    leaf.directory = directory
    directory.leaves[bucket] = leaf
  end
  return leaf
end

function nodes.leafFor(directory, name)
  return nodes.leafAt(directory, objects.bucketOf(name, directory.n))
end

function nodes.leafToPut(directory, bucket)
  local leaf = nodes.leafAt(directory, bucket)
  if leaf then return leaf end
  local up, slot = nodes.seat(directory, directory.n, bucket, true)
  leaf = nodes.create('L', up, slot, { count = 0, value = EMPTY, first = 16, edits = {}, added = {}, at = {}, read = {}, directory = directory })
  directory.leaves[bucket] = leaf
  return leaf
end

-- A bucket stays in its stored form, in value. edits has the changed records, false for a removed name; added has the new names;
-- at caches indexes, read the stored records that were verified.
function nodes.storedRecord(leaf, name)
  local record = leaf.edits[name]
  if record ~= nil then return record end
  local index = leaf.at[name] or objects.indexOf(leaf.value, name, 16, leaf.first - 1)
  if not index then return false end
  leaf.at[name] = index
  record = leaf.read[name] or recordAt(leaf.value, leaf.first + STRIDE * index, name)
  if not record then objects.fail('CORRUPT', 'the record of a name is damaged') end
  leaf.read[name] = record
  return record
end

function nodes.recordOf(leaf, name)
  local record = nodes.storedRecord(leaf, name)
  if not record then return nil end
  return leaf.pend and objects.copiedRecord(record, leaf.pend) or record
end

function nodes.noteReference(leaf, name, record)
  if leaf.own and leaf.was[name] == nil then leaf.was[name] = record and struct.unpack('>d', record, 18) or 0 end
end

function nodes.addRecord(leaf, name, record)
  nodes.claim(leaf)
  nodes.noteReference(leaf, name)
  if leaf.edits[name] == nil then leaf.added[#leaf.added + 1] = name end
  leaf.edits[name] = record
  leaf.count = leaf.count + 1
end

function nodes.setRecord(leaf, name, record)
  nodes.claim(leaf)
  nodes.noteReference(leaf, name, nodes.storedRecord(leaf, name))
  leaf.edits[name] = record
end

-- Removes a record. Returns it, and its object if that is open.
function nodes.takeRecord(leaf, name)
  nodes.claim(leaf)
  local record = nodes.storedRecord(leaf, name)
  nodes.noteReference(leaf, name, record)
  nodes.keepsAlso(leaf, struct.unpack('>d', record, 18))
  leaf.edits[name] = false
  leaf.count = leaf.count - 1
  local kid = leaf.kids[name]
  leaf.kids[name] = nil
  return record, kid
end

-- Returns the current names of a bucket.
function nodes.namesOf(leaf)
  local names = {}
  for name in leaf.value:sub(16, leaf.first - 1):gmatch('%z([^/]+)/') do
    if leaf.edits[name] ~= false then names[#names + 1] = name end
  end
  for _, name in ipairs(leaf.added) do
    if leaf.edits[name] then names[#names + 1] = name end
  end
  return names
end

-- Encodes a bucket under a number.
function nodes.packLeaf(leaf, id)
  local number = struct.pack('>d', id)
  if leaf.value:sub(2, 9) ~= number and leaf.first < #leaf.value then leaf.value = nodes.rare().resealed(leaf, number) end
  local value, first, edits = leaf.value, leaf.first, leaf.edits
  local order, names, records = {}, {}, {}
  for name, record in pairs(edits) do
    local index, at = leaf.at[name], nil
    if not index or not record then index, at = objects.indexOf(value, name, 16, first - 1) end
    if index then order[#order + 1] = { index, record and record .. recordCheck(number, name, record), at, #name + 2 } end
  end
  table.sort(order, function(a, b) return a[1] < b[1] end)
  local from, nameFrom, length = first, 16, first - 16
  for _, one in ipairs(order) do
    local at = first + STRIDE * one[1]
    if at > from then records[#records + 1] = value:sub(from, at - 1) end
    from = at + STRIDE
    if one[2] then records[#records + 1] = one[2]
    else
      names[#names + 1] = value:sub(nameFrom, one[3] - 1)
      nameFrom, length = one[3] + one[4], length - one[4]
    end
  end
  records[#records + 1] = value:sub(from)
  names[#names + 1] = value:sub(nameFrom, first - 1)
  for _, name in ipairs(leaf.added) do
    local record = edits[name]
    if record then
      names[#names + 1] = '\0' .. name .. '/'
      length = length + #name + 2
      records[#records + 1] = record .. recordCheck(number, name, record)
    end
  end
  value = 'L' .. number .. struct.pack('>I2I4', leaf.count, length) .. table.concat(names) .. table.concat(records)
  leaf.value, leaf.first, leaf.edits, leaf.added, leaf.at, leaf.read = value, 16 + length, {}, {}, {}, {}
  return value
end

function nodes.putKid(leaf, name, kid)
  if not kid then return end
  leaf.kids[name], kid.up, kid.name = kid, leaf, name
  -- Its number must be written into its new bucket.
  if kid.k == 'D' then kid.changed = true end
end

local SHRINK = 4

function nodes.addName(directory, name, record, kid)
  nodes.claim(directory)
  local leaf = nodes.leafToPut(directory, objects.bucketOf(name, directory.n))
  nodes.addRecord(leaf, name, record)
  nodes.putKid(leaf, name, kid)
  directory.count, directory.listing = directory.count + 1, now.version
  if directory.count > directory.n * GROW then nodes.rare().splitBucket(directory) end
end

function nodes.takeName(directory, name)
  nodes.claim(directory)
  local record, kid = nodes.takeRecord(nodes.leafFor(directory, name), name)
  directory.count, directory.listing = directory.count - 1, now.version
  if directory.n > 1 and directory.count < directory.n * SHRINK then nodes.rare().mergeBucket(directory) end
  return record, kid
end

function nodes.newDirectory(node, meta)
  local version = now.version
  local x = {
    k = 'D', own = false, version = version, listing = version, tree = version, count = 0, size = 0, files = 0,
    directories = 0, linked = 0, root = 0, n = 1, meta = meta, node = node, leaves = {}, old = 0,
  }
  nodes.markDirty(x)
  return x
end

-- Updates totals and subtree versions from a directory to the root.
function nodes.addTotals(directory, size, files, directories, linked)
  local at = directory
  while at do
    nodes.claim(at)
    at.tree = now.version
    at.size, at.files = at.size + size, at.files + files
    at.directories, at.linked = at.directories + directories, at.linked + linked
    at = at.up.directory
  end
end
`;

/** Less frequent functions, such as changing arrays, applying transforms, splitting and merging buckets. */
export const NODES_RARE = lua`
function nodes.rare()
  if nodes.rarely then return nodes.rarely end
  local rare = {}
  nodes.rarely = rare

  -- Returns the index of a transform in a page, adding it if necessary. A page stores each transform once, before its slots.
  function rare.transformIndex(page, transform)
    if not transform then return 0 end
    local n = page.value:byte(10)
    for t = 1, n do
      if page.value:sub(33 * t - 22, 33 * t + 10) == transform then return t end
    end
    page.value = page.value:sub(1, 9) .. string.char(n + 1) .. page.value:sub(11, 33 * n + 10) .. transform
      .. page.value:sub(33 * n + 11)
    return n + 1
  end

  -- Removes transforms that no slot uses. An index has one byte, so a page must not have more than 255.
  function rare.dropUnused(page)
    local value = page.value
    local slots, kept, index = {}, {}, {}
    for at = 11 + 33 * value:byte(10), #value, 9 do
      local t, ref = struct.unpack('>I1d', value, at)
      if t > 0 and not index[t] then
        kept[#kept + 1] = value:sub(33 * t - 22, 33 * t + 10)
        index[t] = #kept
      end
      slots[#slots + 1] = struct.pack('>I1d', t > 0 and index[t] or 0, ref)
    end
    page.value = value:sub(1, 9) .. string.char(#kept) .. table.concat(kept) .. table.concat(slots)
  end

  function rare.setTransform(page, slot, transform)
    if page.value:byte(10) == 0 and not transform then return end
    if page.value:byte(10) > 200 then rare.dropUnused(page) end
    local t = rare.transformIndex(page, transform)
    local at = 11 + 33 * page.value:byte(10) + 9 * slot
    page.value = page.value:sub(1, at - 1) .. string.char(t) .. page.value:sub(at + 1)
  end

  function rare.setPageSlot(page, slot, x, transform)
    local at = 11 + 33 * page.value:byte(10) + 9 * slot
    if at > #page.value then page.value = page.value .. ('\0'):rep(at + 8 - #page.value) end
    if page.own and page.was[slot] == nil then page.was[slot] = objects.slotOfPage(page.value, slot) end
    local isLoaded = type(x) == 'table'
    page.kids[slot] = isLoaded and x or nil
    page.value = page.value:sub(1, at) .. struct.pack('>d', isLoaded and 0 or x) .. page.value:sub(at + 9)
    rare.setTransform(page, slot, transform)
  end

  -- Applies an object's pending transform: to the records of a bucket, or to the references of a page.
  function rare.takeOver(x)
    local pend = x.pend
    x.pend = nil
    if x.k == 'L' then
      local parts, from = { x.value:sub(1, x.first - 1) }, x.first
      for name in parts[1]:sub(16):gmatch('%z([^/]+)/') do
        local record = recordAt(x.value, from, name)
        if not record then objects.fail('CORRUPT', 'the record of a name is damaged') end
        record = objects.copiedRecord(record, pend)
        parts[#parts + 1] = record .. recordCheck(x.value:sub(2, 9), name, record)
        from = from + STRIDE
      end
      x.value, x.read = table.concat(parts), {}
    elseif x.k == 'A' then
      local value = x.value
      local kept, slots = { pend }, {}
      for t = 1, value:byte(10) do kept[t + 1] = objects.compose(value:sub(33 * t - 22, 33 * t + 10), pend) end
      for at = 11 + 33 * value:byte(10), #value, 9 do
        local t, ref = struct.unpack('>I1d', value, at)
        slots[#slots + 1] = struct.pack('>I1d', ref == 0 and 0 or t + 1, ref)
      end
      x.value = value:sub(1, 9) .. string.char(#kept) .. table.concat(kept) .. table.concat(slots)
      rare.dropUnused(x)
    end
  end

  -- Returns a bucket with the checks of its records for another number. A damaged record keeps its check, which does
  -- not fit the new number either.
  function rare.resealed(leaf, number)
    local value, from = leaf.value, leaf.first
    local parts = { value:sub(1, from - 1) }
    for name in parts[1]:sub(16):gmatch('%z([^/]+)/') do
      local record = recordAt(value, from, name)
      parts[#parts + 1] = record and record .. recordCheck(number, name, record) or value:sub(from, from + STRIDE - 1)
      from = from + STRIDE
    end
    return table.concat(parts)
  end

  -- Removes all elements from n on in the subtree of one slot.
  function rare.truncate(up, slot, level, n)
    if n == 0 then
      nodes.setSlot(up, slot, 0)
      return
    end
    if level == 0 then return end
    local page = nodes.open(up, slot, 65)
    if not page then return end
    local span = FANOUT ^ (level - 1)
    local rest = n % span
    local last = math.floor(n / span) + (rest > 0 and 1 or 0)
    nodes.claim(page)
    local from = 11 + 33 * page.value:byte(10) + 9 * last
    if from <= #page.value then
      if page.own then
        for i = last, (#page.value - 10 - 33 * page.value:byte(10)) / 9 - 1 do
          if page.was[i] == nil then page.was[i] = objects.slotOfPage(page.value, i) end
        end
      end
      page.value = page.value:sub(1, from - 1)
      for i in pairs(page.kids) do if i >= last then page.kids[i] = nil end end
    end
    if rest > 0 then rare.truncate(page, last - 1, level - 1, rest) end
  end

  -- Changes an array's number of elements. New ones are empty.
  function rare.resize(owner, from, to)
    local level = objects.levels(from)
    if to < from then rare.truncate(owner, 0, level, to) end
    while level > objects.levels(to) do
      local page = nodes.open(owner, 0, 65)
      level = level - 1
      if page then
        local first, transform = objects.slotOfPage(page.value, 0)
        nodes.keepsAlso(page, first)
        nodes.setSlot(owner, 0, page.kids[0] or first, objects.compose(transform, page.pend))
      end
    end
    while level < objects.levels(to) do
      level = level + 1
      local root, transform = owner.root, owner.transform
      if root ~= 0 then
        local page = nodes.create('A', owner, 0, { value = 'A' .. ('\0'):rep(9) })
        nodes.setSlot(page, 0, root, transform)
      end
    end
  end

  -- Replaces a range of elements by those of another array of the same size, sharing its pages and chunks.
  local function take(up, slot, level, other, first, x)
    local span = FANOUT ^ level
    if other == 0 or first >= x.to or first + span <= x.from then return end
    if level == 0 or (first >= x.from and first + span <= x.to) then
      nodes.marked[other] = true
      nodes.setSlot(up, slot, other)
      return
    end
    local page = nodes.open(up, slot, 65) or nodes.create('A', up, slot, { value = 'A' .. ('\0'):rep(9) })
    local source = objects.of(65, other)
    for i = 0, FANOUT - 1 do
      local ref = objects.slotOfPage(source, i)
      take(page, i, level - 1, ref, first + i * span / FANOUT, x)
    end
  end

  function rare.takeElements(file, content)
    nodes.claim(file)
    take(file, 0, objects.levels(contents.chunksOf(content.size)), content.staged, 0, content)
  end

  local function move(from, to, name)
    local record, kid = nodes.takeRecord(from, name)
    nodes.addRecord(to, name, record)
    nodes.putKid(to, name, kid)
  end

  local function halfOf(n)
    local half = 1
    while half * 2 <= n do half = half * 2 end
    return half
  end

  function rare.splitBucket(directory)
    local n = directory.n
    rare.resize(directory, n, n + 1)
    directory.n = n + 1
    local from = nodes.leafAt(directory, n - halfOf(n))
    if not from then return end
    local to
    for _, name in ipairs(nodes.namesOf(from)) do
      if objects.bucketOf(name, n + 1) == n then
        to = to or nodes.leafToPut(directory, n)
        move(from, to, name)
      end
    end
  end

  -- Splits the only bucket for many names that are about to arrive. They arrive in the order of their buckets and would otherwise
  -- all go into one.
  function rare.makeRoom(directory, more)
    local n = math.ceil((directory.count + more) / GROW)
    if directory.n > 1 or n < 2 then return end
    nodes.claim(directory)
    local from = nodes.leafAt(directory, 0)
    rare.resize(directory, 1, n)
    directory.n = n
    for _, name in ipairs(from and nodes.namesOf(from) or {}) do
      local bucket = objects.bucketOf(name, n)
      if bucket > 0 then move(from, nodes.leafToPut(directory, bucket), name) end
    end
  end

  function rare.mergeBucket(directory)
    local n = directory.n - 1
    local from = nodes.leafAt(directory, n)
    if from and from.count > 0 then
      local to = nodes.leafToPut(directory, n - halfOf(n))
      for _, name in ipairs(nodes.namesOf(from)) do move(from, to, name) end
    end
    directory.leaves[n] = nil
    rare.resize(directory, n + 1, n)
    directory.n = n
  end

  return rare
end
`;
