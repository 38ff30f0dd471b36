import { lua } from './lua.js';

/**
 * Answers wants, all of one moment. `ARGV[5]` is how many bytes the answers may have in all, about; `ARGV[6]` the wants.
 * Nothing is decoded here that the script itself need not know: records and objects go out as they are stored, each with
 * the transform it is seen through. What did not fit is told by where to go on.
 */
export const LOAD = lua`
enterState(head[3])
local budget = tonumber(ARGV[5])
local used = 0

local function emit(out, text)
  out[#out + 1] = text
  used = used + #text + 16
end

local function viewOf(ref, transform)
  local value = get(ref)
  expect(byte(value) == 68 and unpack('>d', value, 2) == ref, ref)
  local root, n = unpack('>dI4', value, 74)
  return {
    value = value, transform = transform, root = root, n = n,
    beneath = compose(storedTransform(sub(value, 86, 118)), transform),
  }
end

local function leafOf(view, bucket)
  local ref, transform = element(view.root, view.beneath, view.n, bucket)
  if ref == 0 then return nil end
  local leaf = get(ref)
  expect(byte(leaf) == 76 and unpack('>d', leaf, 2) == ref, ref)
  return leaf, transform
end

local function findRecord(view, name)
  local leaf, transform = leafOf(view, bucketOf(name, view.n))
  if not leaf then return nil end
  local length = unpack('>I4', leaf, 12)
  local at = find(leaf, '\0' .. name .. '/', 16, true)
  if not at or at > 15 + length then return nil end
  local index = 0
  if at > 16 then
    local _
    _, index = gsub(sub(leaf, 16, at - 1), '%z', '')
  end
  local from = 16 + length + RECORD * index
  return sub(leaf, from, from + RECORD - 1), transform
end

local inodes
local function inodeFor(record)
  if not inodes then
    if state.inodes == 0 then fail('CORRUPT', 'there is no table of files with several names') end
    inodes = viewOf(state.inodes)
  end
  local inode = findRecord(inodes, idInSlot(sub(record, 70)))
  if not inode then fail('CORRUPT', 'a file with several names is not in their table') end
  return inode
end

local function under(record, transform)
  return viewOf(unpack('>d', record, 18), compose(storedTransform(sub(record, 26, 58)), transform))
end

local function targetOf(record)
  local ref = unpack('>d', record, 18)
  return ref == 0 and '' or get(ref)
end

-- What goes out beside a record: a directory's object, a link's target, a file's place in the table of inodes.
local function besides(record, transform)
  local kind = byte(record)
  if kind == 100 then
    return under(record, transform).value
  elseif kind == 115 then return targetOf(record)
  elseif kind == 108 then
    local inode = inodeFor(record)
    if byte(inode) == 115 then return inode .. targetOf(inode) end
    return inode
  end
  return ''
end

local function emitNode(out, record, transform)
  emit(out, record)
  emit(out, transform or '')
  emit(out, besides(record, transform))
end

local function emitChunks(out, record, from, to)
  local size, ref = unpack('>dd', record, 10)
  local n = floor((size + CHUNK - 1) / CHUNK)
  local i = from
  while i < to and i < n do
    if used > budget and i > from then return i end
    local chunk = element(ref, nil, n, i)
    emit(out, chunk == 0 and '' or get(chunk))
    i = i + 1
  end
  return i
end

-- Walks names from the root; answers the view of a directory, or the record of anything else.
local function walk(names, out)
  local view = viewOf(state.root)
  if out then emit(out, view.value) end
  local record, transform
  for i = 1, #names do
    if not view then return nil end
    record, transform = findRecord(view, names[i])
    if not record then
      if out then emit(out, '') end
      return nil
    end
    if out then emitNode(out, record, transform) end
    view = byte(record) == 100 and under(record, transform) or nil
    if not view and i < #names then return nil end
  end
  return view, record, transform
end

local function idOf(view)
  local slot = sub(view.value, 163, 186)
  return idInSlot(view.transform and copiedSlot(slot, view.transform) or slot)
end

local function loadPath(names, limit)
  local out = {}
  local view, record = walk(names, out)
  if view or not record or limit < 0 then return out end
  if byte(record) == 108 then record = inodeFor(record) end
  if byte(record) == 102 and unpack('>d', record, 10) <= limit then
    emit(out, 'content')
    emitChunks(out, record, 0, floor(limit / CHUNK) + 1)
  end
  return out
end

local function place(names, id)
  local view = walk(names)
  if not view or idOf(view) ~= id then return nil end
  return view
end

-- Buckets of a directory, from one on.
local function emitBuckets(out, view, bucket, each)
  local first = bucket
  while bucket < view.n do
    if used > budget and bucket > first then return bucket end
    local leaf, transform = leafOf(view, bucket)
    if leaf then
      emit(out, leaf)
      emit(out, transform or '')
      local count, length = unpack('>I2I4', leaf, 10)
      local beside = {}
      for i = 0, count - 1 do
        local from = 16 + length + RECORD * i
        local kind = byte(leaf, from)
        if kind ~= 102 then
          emit(beside, besides(sub(leaf, from, from + RECORD - 1), transform))
        end
        if each then each(leaf, i, from, kind, transform) end
      end
      out[#out + 1] = beside
    end
    bucket = bucket + 1
  end
  return bucket
end

local function loadList(names, id, bucket)
  local view = place(names, id)
  if not view then return { 'gone' } end
  local out = { view.value, view.transform or '', '' }
  local next = emitBuckets(out, view, bucket)
  out[3] = next < view.n and tostring(next) or ''
  return out
end

local function nameAt(leaf, index)
  local length = unpack('>I4', leaf, 12)
  local i = 0
  for name in string.gmatch(sub(leaf, 16, 15 + length), '%z([^/]+)/') do
    if i == index then return name end
    i = i + 1
  end
end

local function loadTree(names, id, most, contents)
  local top = place(names, id)
  if not top then return { 'gone' } end
  local out = { top.value, top.transform or '' }
  local pending = { { view = top, parent = -1, name = '' } }
  local at = 1
  while pending[at] and (at == 1 or (used < budget and used < most)) do
    local one = pending[at]
    -- A directory goes out whole or not at all.
    if at > 1 and one.view.n * 1200 > budget - used then break end
    local listing = { one.parent, one.name, '', {} }
    local bodies = listing[4]
    listing[3] = tostring(emitBuckets(listing, one.view, 0, function(leaf, i, from, kind, transform)
      if kind == 100 then
        local record = sub(leaf, from, from + RECORD - 1)
        pending[#pending + 1] = { view = under(record, transform), parent = at - 1, name = nameAt(leaf, i) }
      elseif contents and kind == 102 then
        local size, ref = unpack('>dd', leaf, from + 9)
        if ref ~= 0 and size <= CHUNK and used + size < budget and used + size < most then
          emit(bodies, nameAt(leaf, i))
          emit(bodies, get(ref))
        end
      end
    end))
    if tonumber(listing[3]) < one.view.n then
      -- Of the directory itself the rest is asked for.
      if at == 1 then out[#out + 1] = listing else listing[3] = '' end
      break
    end
    listing[3] = ''
    out[#out + 1] = listing
    at = at + 1
  end
  return out
end

local function loadContent(names, id, from, to)
  local _, record, transform = walk(names)
  if not record or byte(record) == 100 then return { 'gone' } end
  local out = { record, transform or '', besides(record, transform), '' }
  local slot = sub(record, 70)
  if transform and byte(record) ~= 108 then slot = copiedSlot(slot, transform) end
  if idInSlot(slot) ~= id then return { 'gone' } end
  if byte(record) == 108 then record = inodeFor(record) end
  if byte(record) ~= 102 then return { 'gone' } end
  out[4] = tostring(emitChunks(out, record, from, to))
  return out
end

local blob = ARGV[6]
local at = 1
local function readNames()
  local n
  n, at = unpack('>I2', blob, at)
  local names = {}
  for i = 1, n do names[i], at = unpack('>I1c0', blob, at) end
  return names
end

local answers = { 'K', ('%.0f'):format(counter), head[3] }
local wants
wants, at = unpack('>I2', blob, at)
for i = 1, wants do
  -- What does not fit any more is asked for again, alone.
  if i > 1 and used > budget then break end
  local kind, id, a, b
  kind, at = unpack('>I1', blob, at)
  local names = readNames()
  id, a, b, at = unpack('>I1c0dd', blob, at)
  if kind == 1 then answers[i + 3] = loadPath(names, a)
  elseif kind == 2 then answers[i + 3] = loadList(names, id, a)
  elseif kind == 3 then answers[i + 3] = loadTree(names, id, a, b == 1)
  else answers[i + 3] = loadContent(names, id, a, b) end
end
if tonumber(ARGV[4]) > 0 then keepAlive() end
return answers
`;
