import { lua } from '../lua.js';

/** Encodes the objects that a script has changed in memory, and then writes them. */
export const STORE = lua`
-- plain: by number, the sizes of chunks that no file needs any more; chunks refer to no other objects. taken: fields of
-- the head whose references a commit has taken over.
local store = { plain = {}, taken = {} }

function store.leaf(leaf, id)
  for name, kid in pairs(leaf.kids) do
    local ref = store.flush(kid)
    if kid.changed then
      kid.changed = nil
      local record = nodes.storedRecord(leaf, name)
      nodes.noteReference(leaf, name, record)
      if kid.k == 'D' then record = 'd' .. record:sub(2, 17) .. struct.pack('>d', ref) .. '\0' .. record:sub(27)
      else record = record:sub(1, 9) .. struct.pack('>dd', kid.size, ref) .. record:sub(26) end
      leaf.edits[name] = record
    end
  end
  if leaf.own then
    for name, old in pairs(leaf.was) do
      local record = nodes.storedRecord(leaf, name)
      local ref = record and struct.unpack('>d', record, 18) or 0
      if ref ~= old then
        refs.account(old, -1)
        refs.account(ref, 1)
      end
    end
  end
  return nodes.packLeaf(leaf, id)
end

function store.array(page, id)
  for slot, kid in pairs(page.kids) do
    local ref = store.flush(kid)
    if ref ~= objects.slotOfPage(page.value, slot) then
      if page.own and page.was[slot] == nil then page.was[slot] = objects.slotOfPage(page.value, slot) end
      local at = 11 + 33 * page.value:byte(10) + 9 * slot
      page.value = page.value:sub(1, at) .. struct.pack('>d', ref) .. page.value:sub(at + 9)
    end
  end
  if page.own then
    for slot, old in pairs(page.was) do
      local ref = objects.slotOfPage(page.value, slot)
      if ref ~= old then
        refs.account(old, -1)
        refs.account(ref, 1)
      end
    end
  end
  return 'A' .. struct.pack('>d', id) .. page.value:sub(10)
end

function store.directory(x, id)
  local root = type(x.root) == 'table' and store.flush(x.root) or x.root
  if x.own and root ~= x.old then
    refs.account(x.old, -1)
    refs.account(root, 1)
  end
  x.root = root
  return struct.pack(DIRECTORY, 'D', id, x.version, x.listing, x.tree, x.count, x.size, x.files, x.directories,
    x.linked, root, x.n, x.transform or ('\0'):rep(33), x.meta, x.node)
end

-- Encodes an object after those that it refers to. Returns its number.
function store.flush(x)
  local k = x.k
  if k == 'F' then
    if type(x.root) == 'table' then x.root = store.flush(x.root) end
    if x.dirty then x.dirty, x.changed = false, true end
    return x.root
  end
  if not x.dirty then return x.id end
  x.dirty = false
  local id = x.own and x.id or nodes.newId()
  if id ~= x.id then x.changed = true end
  x.id = id
  local value
  if k == 'L' then value = store.leaf(x, id)
  elseif k == 'A' then value = store.array(x, id)
  elseif k == 'D' then value = store.directory(x, id)
  else value = contents.numbered('C' .. x.body, id) end
  objects.fresh[id] = value
  -- A new object adds all of its references; one that was changed in place, only those that changed.
  if not x.own and k ~= 'C' then refs.each(value, function(ref) refs.account(ref, 1) end) end
  return id
end

-- Encodes everything. Afterwards no object is open, and all are found through the state again.
function store.flushAll()
  for i = 1, #nodes.dirty do store.flush(nodes.dirty[i]) end
  nodes.dirty = {}
  local state = now.state
  for key, old in pairs(state.refs) do
    local x = state[key]
    if type(x) == 'table' then
      local ref = store.flush(x)
      if ref ~= old then
        refs.account(old, -1)
        refs.account(ref, 1)
        state.refs[key], state.changed = ref, true
      end
      state[key] = ref
    end
  end
end

-- Drops new objects without references, and their references to others.
function store.forgetUnused()
  local pending = {}
  for id in pairs(objects.fresh) do
    if id > now.started and (refs.delta[id] or 0) <= 0 then pending[#pending + 1] = id end
  end
  while #pending > 0 do
    local id = table.remove(pending)
    local value = objects.fresh[id]
    objects.fresh[id] = nil
    refs.each(value, function(ref)
      refs.account(ref, -1)
      if ref > now.started and refs.delta[ref] <= 0 and objects.fresh[ref] then pending[#pending + 1] = ref end
    end)
  end
end

-- Writes the objects. Returns how many were queued to be freed.
function store.objects()
  store.forgetUnused()
  local fields, digests, outdated = {}, {}, {}
  for id, value in pairs(objects.fresh) do
    fields[#fields + 1] = id
    fields[#fields + 1] = isChunk(value) and value or value .. checkOf(value)
    if value:byte() == 66 then digests[#digests + 1], digests[#digests + 2] = digestField(id), value:sub(3, 18)
    elseif value:byte() == 67 and id <= now.started then outdated[#outdated + 1] = digestField(id) end
    if id > now.started then
      local by = refs.delta[id]
      refs.delta[id] = nil
      if by > 1 then redis.call('HSET', KEYS[3], id, by - 1) end
    end
  end
  inHundreds(fields, function(...) redis.call('HSET', KEYS[2], ...) end)
  inHundreds(digests, function(...) redis.call('HSET', KEYS[2], ...) end)
  inHundreds(outdated, function(...) redis.call('HDEL', KEYS[2], ...) end)
  local dead = refs.settle(store.plain)
  objects.fresh, nodes.marked, store.plain = {}, {}, {}
  now.started, now.further = now.counter, nil
  return dead
end
`;
