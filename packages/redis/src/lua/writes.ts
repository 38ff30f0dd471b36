import { lua } from './lua.js';

/**
 * The writes of a batch, each applied in memory to what those before it made. That they can be applied was checked
 * before: paths mean what the batch expects.
 */
export const WRITES = lua`
local function must(x)
  if not x then fail('CORRUPT', 'a write is about something that is not there') end
  return x
end

local function newRecord(kind, size, ref, meta, node)
  return kind .. pack('>ddd', version, size, ref) .. meta .. node
end

-- The content of a small file is a single chunk, which refers to nothing.
local function notePlain(record, kid)
  local size, ref = unpack('>dd', record, 10)
  if not kid and ref ~= 0 and size <= CHUNK then plainChunks[ref] = true end
end

local function changeLinked(by)
  state.linkedSize = state.linkedSize + by
  state.inodesVersion = version
  state.changed = true
end

-- ── create ──

local function readContent(blob, at)
  local size, mode
  size, mode, at = unpack('>dI1', blob, at)
  if mode == 0 then
    local count
    local pieces = {}
    count, at = unpack('>I4', blob, at)
    for i = 1, count do
      local index, offset, digest, length
      index, offset, digest, length, at = unpack('>I4I4c16I4', blob, at)
      pieces[i] = { index, offset, sub(blob, at, at + length - 1), digest }
      at = at + length
    end
    return size, pieces, nil, at
  end
  local staged
  staged, at = unpack('>d', blob, at)
  return size, nil, staged, at
end

local function writePieces(file, pieces, old)
  local valid = {}
  for _, piece in ipairs(pieces) do
    local i, offset, bytes, digest = piece[1], piece[2], piece[3], piece[4]
    local before = valid[i]
    if not before then before = math.max(0, math.min(CHUNK, old - i * CHUNK)) end
    writePiece(file, i, offset, bytes, digest, before)
    valid[i] = math.max(before, offset + #bytes)
  end
end

local function createNode(path, kind, meta, id, size, pieces, staged)
  local parent = must(directoryAt(paths[path].parent))
  local name = paths[path].name
  local node = slotOfId(id)
  found[path] = nil
  if kind == 'd' then
    local directory = newDirectory(node, meta)
    addName(parent, name, newRecord('d', 0, 0, rep('\0', 44), node), directory)
    addTotals(parent, 0, 0, 1, 0)
    return
  end
  addName(parent, name, newRecord(kind, size, staged or 0, meta, node))
  addTotals(parent, size, 1, 0, 0)
  if staged or size == 0 then return end
  local leaf = leafFor(parent, name)
  local file = fileAt(leaf, name, recordOf(leaf, name))
  file.size = 0
  resizeFile(file, size)
  writePieces(file, pieces, 0)
end

-- ── remove ──

local function dropLink(record, time)
  local inode, leaf, name = inodeOf(record)
  local links = tonumber(idInSlot(sub(inode, 70, 93))) - 1
  if links > 0 then
    local meta = sub(inode, 26, 53) .. pack('>d', time) .. sub(inode, 62, 69)
    setRecord(leaf, name, sub(inode, 1, 1) .. pack('>d', version) .. sub(inode, 10, 25) .. meta .. slotOfId(tostring(links)))
    changeLinked(0)
  else
    notePlain(inode, leaf.kids[name])
    changeLinked(-unpack('>d', inode, 10))
    takeName(inodeTable(), name)
  end
end

-- Calls back with each name beneath a directory that leads to a file with several.
local function eachLinked(directory, callback)
  for bucket = 0, directory.n - 1 do
    local leaf = leafAt(directory, bucket)
    for name in string.gmatch(leaf and leaf.names or '', '%z([^/]+)/') do
      local record = recordOf(leaf, name)
      if byte(record) == 108 then callback(directory, leaf, name, record)
      elseif byte(record) == 100 then
        local kid = directoryUnder(leaf, name, record)
        if kid.linked > 0 then eachLinked(kid, callback) end
      end
    end
  end
end

local function removeName(path, time)
  local record, leaf, name, parent = recordAt(path)
  must(record)
  local kind = byte(record)
  if kind == 100 then
    local directory = directoryUnder(leaf, name, record)
    if directory.linked > 0 then
      eachLinked(directory, function(_, _, _, linked) dropLink(linked, time) end)
    end
    takeName(parent, name)
    addTotals(parent, -directory.size, -directory.files, -directory.directories - 1, -directory.linked)
    found = {}
  else
    local _, kid = takeName(parent, name)
    if kind == 108 then
      dropLink(record, time)
      addTotals(parent, 0, -1, 0, -1)
    else
      notePlain(record, kid)
      addTotals(parent, -unpack('>d', record, 10), -1, 0, 0)
    end
  end
end

-- ── metadata ──

local function setMeta(path, change)
  local directory = directoryAt(path)
  if directory then
    claim(directory)
    directory.meta, directory.version = change(directory.meta), version
    addTotals(directory, 0, 0, 0, 0)
    return
  end
  local record, leaf, name, isLinked = leafNodeAt(path)
  must(record)
  setRecord(leaf, name, sub(record, 1, 1) .. pack('>d', version) .. sub(record, 10, 25) .. change(sub(record, 26, 69))
    .. sub(record, 70))
  if isLinked then changeLinked(0) end
  addTotals(directoryAt(paths[path].parent), 0, 0, 0, 0)
end

local function setCtime(meta, time)
  return sub(meta, 1, 28) .. pack('>d', time) .. sub(meta, 37)
end

-- ── move, link, copy ──

local function moveName(from, to, time)
  local record, leaf, name, parent = recordAt(from)
  must(record)
  local size, files, directories, linked = 0, 1, 0, 0
  local kind = byte(record)
  if kind == 100 then
    local directory = directoryUnder(leaf, name, record)
    size, files, directories, linked = directory.size, directory.files, directory.directories + 1, directory.linked
  elseif kind == 108 then linked = 1
  else size = unpack('>d', record, 10) end
  local taken, kid = takeName(parent, name)
  addTotals(parent, -size, -files, -directories, -linked)
  found = {}
  local target = must(directoryAt(paths[to].parent))
  addName(target, paths[to].name, taken, kid)
  addTotals(target, size, files, directories, linked)
  setMeta(to, function(meta) return setCtime(meta, time) end)
end

local function linkName(from, path)
  local record, leaf, name, parent = recordAt(from)
  must(record)
  if byte(record) ~= 108 then
    local size = unpack('>d', record, 10)
    local kid = leaf.kids[name]
    if kid then
      -- Its content was changed by this very batch.
      record = sub(record, 1, 17) .. pack('>d', flush(kid)) .. sub(record, 26)
      leaf.kids[name] = nil
    end
    keepsAlso(leaf, unpack('>d', record, 18))
    local node = sub(record, 70, 93)
    addName(inodeTable(), idInSlot(node), sub(record, 1, 69) .. slotOfId('1'))
    setRecord(leaf, name, 'l' .. rep('\0', 68) .. node)
    addTotals(parent, -size, 0, 0, 1)
    changeLinked(size)
    record = recordOf(leaf, name)
  end
  local inode, inodeLeaf, inodeName = inodeOf(record)
  local links = tonumber(idInSlot(sub(inode, 70, 93))) + 1
  setRecord(inodeLeaf, inodeName, sub(inode, 1, 1) .. pack('>d', version) .. sub(inode, 10, 69) .. slotOfId(tostring(links)))
  changeLinked(0)
  local target = must(directoryAt(paths[path].parent))
  addName(target, paths[path].name, record)
  addTotals(target, 0, 1, 0, 1)
end

-- Names that lead to files with several are files of their own in a copy.
local function copyLinked(top, transform)
  eachLinked(top, function(directory, leaf, name, record)
    local inode = inodeOf(record)
    local size, ref = unpack('>dd', inode, 10)
    local node = copiedSlot(sub(record, 70, 93), transform)
    -- Two names of one file are two files, with numbers of their own.
    node = slotOfId(sub(sha1(idInSlot(directory.node) .. '/' .. name .. idInSlot(node)), 1, 20))
    if ref ~= 0 then marked[ref] = true end
    setRecord(leaf, name, sub(inode, 1, 25) .. copiedMeta(sub(inode, 26, 69), transform) .. node)
    addTotals(directory, size, 0, 0, -1)
  end)
end

local function copyName(from, to, id, meta, transform)
  local node = slotOfId(id)
  -- What is shared from now on must have a number, and must not be changed in place any more.
  flushAll()
  found = {}
  local target = must(directoryAt(paths[to].parent))
  local source = directoryAt(from)
  if source then
    local copy = newDirectory(node, meta)
    copy.count, copy.size, copy.files, copy.directories, copy.linked =
      source.count, source.size, source.files, source.directories, source.linked
    copy.root, copy.n, copy.transform = source.root, source.n, compose(source.transform, transform)
    if source.root ~= 0 then marked[source.root] = true end
    addName(target, paths[to].name, newRecord('d', 0, 0, rep('\0', 44), node), copy)
    addTotals(target, copy.size, copy.files, copy.directories + 1, copy.linked)
    if copy.linked > 0 then copyLinked(copy, transform) end
    return
  end
  local record = must(leafNodeAt(from))
  local size, ref = unpack('>dd', record, 10)
  if ref ~= 0 then marked[ref] = true end
  addName(target, paths[to].name, newRecord(sub(record, 1, 1), size, ref, meta, node))
  addTotals(target, size, 1, 0, 0)
end

-- ── write ──

local function writeFile(path, size, pieces, staged, meta)
  local record, leaf, name, isLinked = leafNodeAt(path)
  must(record)
  claim(leaf)
  notePlain(record, leaf.kids[name])
  local file = fileAt(leaf, name, record)
  local old = file.size
  if staged then
    claim(file)
    file.root, file.size = staged, size
  else
    resizeFile(file, size)
    writePieces(file, pieces, math.min(old, size))
  end
  setRecord(leaf, name, sub(record, 1, 1) .. pack('>dd', version, size) .. sub(record, 18, 25) .. meta .. sub(record, 70))
  if isLinked then changeLinked(size - old) end
  addTotals(directoryAt(paths[path].parent), isLinked and 0 or size - old, 0, 0, 0)
end

-- ── clear ──

local function clearAll(meta)
  local root = rootDirectory()
  claim(root)
  root.meta, root.version, root.listing, root.tree = meta, version, version, version
  root.count, root.size, root.files, root.directories, root.linked = 0, 0, 0, 0, 0
  root.root, root.n, root.transform, root.leaves = 0, 1, nil, {}
  state.inodes = 0
  if state.refs.inodes ~= 0 then
    account(state.refs.inodes, -1)
    state.refs.inodes = 0
  end
  changeLinked(-state.linkedSize)
  found = {}
end

-- Reads and applies the writes of one batch.
local function applyWrites(blob, at)
  local n
  n, at = unpack('>I2', blob, at)
  for _ = 1, n do
    local kind
    kind, at = unpack('>I1', blob, at)
    if kind == 1 then
      local path, letter, meta, id, size, pieces, staged
      path, letter, meta, id, at = unpack('>I2c1c44I1c0', blob, at)
      size, pieces, staged, at = readContent(blob, at)
      createNode(path, letter, meta, id, size, pieces, staged)
    elseif kind == 2 then
      local from, path
      from, path, at = unpack('>I2I2', blob, at)
      linkName(from, path)
    elseif kind == 3 then
      local path, time
      path, time, at = unpack('>I2d', blob, at)
      removeName(path, time)
    elseif kind == 4 then
      local from, to, time
      from, to, time, at = unpack('>I2I2d', blob, at)
      moveName(from, to, time)
    elseif kind == 5 then
      local from, to, id, meta, transform
      from, to, id, meta, transform, at = unpack('>I2I2I1c0c44c33', blob, at)
      copyName(from, to, id, meta, transform)
    elseif kind == 6 then
      local path, meta, size, pieces, staged
      path, meta, at = unpack('>I2c44', blob, at)
      size, pieces, staged, at = readContent(blob, at)
      writeFile(path, size, pieces, staged, meta)
    elseif kind == 7 then
      local path, meta
      path, meta, at = unpack('>I2c44', blob, at)
      setMeta(path, function() return meta end)
    elseif kind == 8 then
      local path, time
      path, time, at = unpack('>I2d', blob, at)
      local bytes = pack('>d', time)
      setMeta(path, function(meta) return sub(meta, 1, 20) .. bytes .. bytes .. sub(meta, 37) end)
    else
      local meta
      meta, at = unpack('>c44', blob, at)
      clearAll(meta)
    end
  end
  return at
end
`;
