import { lua } from '../lua.js';

/** Applies the writes of a batch in memory, one after the other. */
export const WRITES = lua`
local writes = {}

function writes.must(x)
  if not x then objects.fail('CORRUPT', 'a write names an object that does not exist') end
  return x
end

function writes.newRecord(kind, size, ref, meta, node)
  return kind .. struct.pack('>ddd', now.version, size, ref) .. meta .. node
end

-- Returns a record with the current version and other metadata.
function writes.changed(record, meta)
  return record:sub(1, 1) .. struct.pack('>d', now.version) .. record:sub(10, 25) .. meta .. record:sub(70)
end

function writes.parentOf(path)
  return writes.must(paths.directory(paths.parents[path]))
end

-- Notes the chunk of a small file whose content is dropped. It refers to no other objects, so it can be deleted
-- immediately.
function writes.notePlain(record, kid)
  local size, ref = struct.unpack('>dd', record, 10)
  if not kid and ref ~= 0 and size <= CHUNK then store.plain[ref] = size end
end

function writes.changeLinked(by)
  local state = now.state
  state.linkedSize, state.inodesVersion, state.changed = state.linkedSize + by, now.version, true
end

-- Reads a content: size, pieces, and for uploaded chunks their array's reference and range.
function writes.readContent(blob, at)
  local x = { pieces = {} }
  local staged, count
  x.size, staged, x.from, x.to, count, at = struct.unpack('>dI1c0ddI4', blob, at)
  for i = 1, count do
    local index, offset, position
    index, offset, position, at = struct.unpack('>I4I4I4', blob, at)
    x.pieces[i] = { index, offset, ARGV[writes.contentsAfter + position] }
  end
  if staged ~= '' then
    local kept = redis.call('HGET', KEYS[1], staged)
    if not kept then objects.fail('STALE', 'a staged content') end
    x.staged = struct.unpack('>d', kept)
    refs.account(x.staged, -1)
    store.taken[staged] = true
  end
  return x, at
end

function writes.pieces(file, pieces, old)
  local valid = {}
  for _, piece in ipairs(pieces) do
    local i, offset = piece[1], piece[2]
    local before = valid[i] or math.max(0, math.min(CHUNK, old - i * CHUNK))
    contents.write(file, i, offset, piece[3], before)
    valid[i] = math.max(before, offset + objects.lengthOf(piece[3]))
  end
end

-- Writes a whole content of one chunk without opening the file. Returns the chunk's number, or nil in other cases.
function writes.single(leaf, name, old, content)
  local size, piece = content.size, content.pieces[1]
  if size > CHUNK or not piece or piece[2] > 0 or objects.lengthOf(piece[3]) < size or content.staged then return nil end
  local id = old
  if old > 0 then
    if not (leaf.own or old > now.started) or nodes.isShared(old) then id = 0 end
  end
  if id == 0 then id = nodes.newId() end
  objects.fresh[id] = contents.numbered(piece[3], id)
  return id
end

function writes.create(path, kind, meta, id, content)
  local parent = writes.parentOf(path)
  local name = paths.names[path]
  local node = objects.slotOfId(id)
  local size = content.size
  paths.found[path] = nil
  if kind == 'd' then
    local directory = nodes.newDirectory(node, meta)
    nodes.addName(parent, name, writes.newRecord('d', 0, 0, ('\0'):rep(44), node), directory)
    nodes.addTotals(parent, 0, 0, 1, 0)
    return
  end
  local ref = content.staged or writes.single(nil, name, 0, content)
  nodes.addName(parent, name, writes.newRecord(kind, size, ref or 0, meta, node))
  nodes.addTotals(parent, size, 1, 0, 0)
  if ref or size == 0 then return end
  local leaf = nodes.leafFor(parent, name)
  local file = contents.fileAt(leaf, name, nodes.recordOf(leaf, name))
  file.size = 0
  contents.resize(file, size)
  writes.pieces(file, content.pieces, 0)
end

function writes.file(path, meta, content)
  local record, leaf, name, isLinked = paths.leafNode(path)
  writes.must(record)
  nodes.claim(leaf)
  writes.notePlain(record, leaf.kids[name])
  local size = content.size
  local old, ref = struct.unpack('>dd', record, 10)
  ref = old <= CHUNK and not leaf.kids[name] and writes.single(leaf, name, ref, content)
  if not ref then
    local file = contents.fileAt(leaf, name, record)
    old = file.size
    if content.staged and content.from == 0 and content.to == contents.chunksOf(size) then
      nodes.claim(file)
      file.root, file.size = content.staged, size
    else
      contents.resize(file, size)
      if content.staged then nodes.rare().takeElements(file, content) end
      writes.pieces(file, content.pieces, math.min(old, size))
    end
    ref = struct.unpack('>d', record, 18)
  end
  nodes.setRecord(leaf, name, record:sub(1, 1) .. struct.pack('>ddd', now.version, size, ref) .. meta .. record:sub(70))
  if isLinked then writes.changeLinked(size - old) end
  nodes.addTotals(writes.parentOf(path), isLinked and 0 or size - old, 0, 0, 0)
end

function writes.meta(path, change)
  local directory = paths.directory(path)
  if directory then
    nodes.claim(directory)
    directory.meta, directory.version = change(directory.meta), now.version
    nodes.addTotals(directory, 0, 0, 0, 0)
    return
  end
  local record, leaf, name, isLinked = paths.leafNode(path)
  writes.must(record)
  nodes.setRecord(leaf, name, writes.changed(record, change(record:sub(26, 69))))
  if isLinked then writes.changeLinked(0) end
  nodes.addTotals(writes.parentOf(path), 0, 0, 0, 0)
end

-- Sets mtime and ctime.
function writes.touch(path, time)
  local bytes = struct.pack('>d', time):rep(2)
  writes.meta(path, function(meta) return meta:sub(1, 20) .. bytes .. meta:sub(37) end)
end

function writes.remove(path, time)
  local record, leaf, name, parent = paths.record(path)
  writes.must(record)
  local kind = record:byte()
  if kind == 100 then
    local directory = paths.under(leaf, name, record)
    if directory.linked > 0 then writes.rare().dropLinksInSubtree(directory, time) end
    nodes.takeName(parent, name)
    nodes.addTotals(parent, -directory.size, -directory.files, -directory.directories - 1, -directory.linked)
    paths.found = {}
    return
  end
  local _, kid = nodes.takeName(parent, name)
  if kind == 108 then
    writes.rare().dropLink(record, time)
    nodes.addTotals(parent, 0, -1, 0, -1)
  else
    writes.notePlain(record, kid)
    nodes.addTotals(parent, -struct.unpack('>d', record, 10), -1, 0, 0)
  end
end

-- Reads and applies the writes of one batch.
function writes.apply(blob, at)
  local n
  n, at = struct.unpack('>I2', blob, at)
  for _ = 1, n do
    local kind
    kind, at = struct.unpack('>I1', blob, at)
    if kind == 1 then
      local path, letter, meta, id, content
      path, letter, meta, id, at = struct.unpack('>I2c1c44I1c0', blob, at)
      content, at = writes.readContent(blob, at)
      writes.create(path, letter, meta, id, content)
    elseif kind == 6 then
      local path, meta, content
      path, meta, at = struct.unpack('>I2c44', blob, at)
      content, at = writes.readContent(blob, at)
      writes.file(path, meta, content)
    elseif kind == 8 then
      local path, time
      path, time, at = struct.unpack('>I2d', blob, at)
      writes.touch(path, time)
    elseif kind == 7 then
      local path, meta
      path, meta, at = struct.unpack('>I2c44', blob, at)
      writes.meta(path, function() return meta end)
    elseif kind == 3 then
      local path, time
      path, time, at = struct.unpack('>I2d', blob, at)
      writes.remove(path, time)
    else at = writes.rare().apply(kind, blob, at) end
  end
  return at
end
`;

/** The less frequent writes, such as links, moves, copies and clearing. */
export const WRITES_RARE = lua`
function writes.rare()
  if writes.rarely then return writes.rarely end
  local rare = {}
  writes.rarely = rare

  local function setCtime(meta, time)
    return meta:sub(1, 28) .. struct.pack('>d', time) .. meta:sub(37)
  end

  local function linksOf(inode)
    return tonumber(objects.idInSlot(inode:sub(70, 93)))
  end

  local function setLinks(inode, links)
    return inode:sub(1, 69) .. objects.slotOfId(tostring(links))
  end

  -- Removes one name of a file with several.
  function rare.dropLink(record, time)
    local inode, leaf, name = paths.inode(record)
    local links = linksOf(inode) - 1
    if links > 0 then
      nodes.setRecord(leaf, name, setLinks(writes.changed(inode, setCtime(inode:sub(26, 69), time)), links))
      writes.changeLinked(0)
    else
      writes.notePlain(inode, leaf.kids[name])
      writes.changeLinked(-struct.unpack('>d', inode, 10))
      nodes.takeName(paths.inodes(), name)
    end
  end

  -- Calls back with each name in a subtree that belongs to a file with several names.
  local function eachLinked(directory, callback)
    for bucket = 0, directory.n - 1 do
      local leaf = nodes.leafAt(directory, bucket)
      for _, name in ipairs(leaf and nodes.namesOf(leaf) or {}) do
        local record = nodes.recordOf(leaf, name)
        if record:byte() == 108 then callback(directory, leaf, name, record)
        elseif record:byte() == 100 then
          local kid = paths.under(leaf, name, record)
          if kid.linked > 0 then eachLinked(kid, callback) end
        end
      end
    end
  end

  function rare.dropLinksInSubtree(directory, time)
    eachLinked(directory, function(_, _, _, record) rare.dropLink(record, time) end)
  end

  local function move(from, to, time)
    local record, leaf, name, parent = paths.record(from)
    writes.must(record)
    local size, files, directories, linked = 0, 1, 0, 0
    local kind = record:byte()
    if kind == 100 then
      local directory = paths.under(leaf, name, record)
      size, files, directories, linked = directory.size, directory.files, directory.directories + 1, directory.linked
    elseif kind == 108 then linked = 1
    else size = struct.unpack('>d', record, 10) end
    local taken, kid = nodes.takeName(parent, name)
    nodes.addTotals(parent, -size, -files, -directories, -linked)
    paths.found = {}
    local target = writes.parentOf(to)
    nodes.addName(target, paths.names[to], taken, kid)
    nodes.addTotals(target, size, files, directories, linked)
    writes.meta(to, function(meta) return setCtime(meta, time) end)
  end

  local function link(from, path)
    local record, leaf, name, parent = paths.record(from)
    writes.must(record)
    if record:byte() ~= 108 then
      local size = struct.unpack('>d', record, 10)
      local kid = leaf.kids[name]
      if kid then
        -- Its content was changed by this batch.
        record = record:sub(1, 17) .. struct.pack('>d', store.flush(kid)) .. record:sub(26)
        leaf.kids[name] = nil
      end
      nodes.keepsAlso(leaf, struct.unpack('>d', record, 18))
      local node = record:sub(70, 93)
      nodes.addName(paths.inodes(), objects.idInSlot(node), setLinks(record, 1))
      nodes.setRecord(leaf, name, 'l' .. ('\0'):rep(68) .. node)
      nodes.addTotals(parent, -size, 0, 0, 1)
      writes.changeLinked(size)
      record = nodes.recordOf(leaf, name)
    end
    local inode, inodeLeaf, inodeName = paths.inode(record)
    nodes.setRecord(inodeLeaf, inodeName, setLinks(writes.changed(inode, inode:sub(26, 69)), linksOf(inode) + 1))
    writes.changeLinked(0)
    local target = writes.parentOf(path)
    nodes.addName(target, paths.names[path], record)
    nodes.addTotals(target, 0, 1, 0, 1)
  end

  -- Replaces the names of files with several names in a copy by files of their own.
  local function copyLinked(top, transform)
    eachLinked(top, function(directory, leaf, name, record)
      local inode = paths.inode(record)
      local size, ref = struct.unpack('>dd', inode, 10)
      -- Two names of one file become two files with different ids.
      local id = transform:sub(2, 17) .. objects.idInSlot(directory.node) .. '/' .. name
      if ref ~= 0 then nodes.marked[ref] = true end
      nodes.setRecord(leaf, name, inode:sub(1, 25) .. objects.copiedMeta(inode:sub(26, 69), transform)
        .. objects.slotOfId(redis.sha1hex(id):sub(1, 20)))
      nodes.addTotals(directory, size, 0, 0, -1)
    end)
  end

  local function copy(from, to, id, meta, transform)
    local node = objects.slotOfId(id)
    -- Objects that are shared from now on need numbers, and must not be changed in place any more.
    store.flushAll()
    paths.found = {}
    local target = writes.parentOf(to)
    local source = paths.directory(from)
    if source then
      local x = nodes.newDirectory(node, meta)
      x.count, x.size, x.files, x.directories, x.linked =
        source.count, source.size, source.files, source.directories, source.linked
      x.root, x.n, x.transform = source.root, source.n, objects.compose(source.transform, transform)
      if source.root ~= 0 then nodes.marked[source.root] = true end
      nodes.addName(target, paths.names[to], writes.newRecord('d', 0, 0, ('\0'):rep(44), node), x)
      nodes.addTotals(target, x.size, x.files, x.directories + 1, x.linked)
      if x.linked > 0 then copyLinked(x, transform) end
      return
    end
    local record = writes.must(paths.leafNode(from))
    local size, ref = struct.unpack('>dd', record, 10)
    if ref ~= 0 then nodes.marked[ref] = true end
    nodes.addName(target, paths.names[to], writes.newRecord(record:sub(1, 1), size, ref, meta, node))
    nodes.addTotals(target, size, 1, 0, 0)
  end

  local function clear(meta)
    local root, state, version = paths.root(), now.state, now.version
    nodes.claim(root)
    root.meta, root.version, root.listing, root.tree = meta, version, version, version
    root.count, root.size, root.files, root.directories, root.linked = 0, 0, 0, 0, 0
    root.root, root.n, root.transform, root.leaves = 0, 1, nil, {}
    refs.account(state.refs.inodes, -1)
    state.inodes, state.refs.inodes = 0, 0
    writes.changeLinked(-state.linkedSize)
    paths.found = {}
  end

  function rare.apply(kind, blob, at)
    if kind == 2 then
      local from, path
      from, path, at = struct.unpack('>I2I2', blob, at)
      link(from, path)
    elseif kind == 4 then
      local from, to, time
      from, to, time, at = struct.unpack('>I2I2d', blob, at)
      move(from, to, time)
    elseif kind == 10 then
      local path, more
      path, more, at = struct.unpack('>I2I4', blob, at)
      nodes.rare().makeRoom(writes.must(paths.directory(path)), more)
    elseif kind == 5 then
      local from, to, id, meta, transform
      from, to, id, meta, transform, at = struct.unpack('>I2I2I1c0c44c33', blob, at)
      copy(from, to, id, meta, transform)
    else
      local meta
      meta, at = struct.unpack('>c44', blob, at)
      clear(meta)
    end
    return at
  end

  return rare
end
`;
