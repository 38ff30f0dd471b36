import { DIRECTORY_AT, NODE_BYTES, RECORD_FIELD } from '../layout.js';
import { lua } from '../lua.js';

/**
 * Serves load requests from one state. `ARGV[2]` is the processor time that the reply may take, in microseconds; the
 * body has the requests. `load.used` is the estimate so far by the costs below, `load.bytes` the size of the reply. The
 * cost is mostly in the number of objects read, however small, and of buckets scanned. Records and objects are returned
 * as they are stored, each with its transform; the client decodes them. If the reply is incomplete, the client asks for
 * the rest.
 */
export const LOAD = lua`
local load = { budget = tonumber(ARGV[2]), used = 0, bytes = 0 }
-- Microseconds: to read and verify an object, scan a bucket of a listing, open a directory, find the file of a content request,
-- return a piece, and for each byte.
local READ, BUCKET, OPEN, CONTENT, PIECE, BYTE = 6, 12, 4, 15, 1, 0.0005

function load.emit(out, text)
  out[#out + 1] = text
  load.bytes = load.bytes + #text + 16
  load.used = load.used + PIECE + BYTE * #text
end

local get = objects.get
function objects.get(id)
  local value = objects.fresh[id]
  if not value then
    value = get(id)
    load.used = load.used + READ + BYTE * #value
  end
  return value
end

function load.record(view, name)
  local bucket, from = views.find(view, name)
  if bucket then return bucket.value:sub(from, from + RECORD - 1), bucket.transform end
end

function load.under(record, transform)
  local own = objects.storedTransform(record:sub(26, 58))
  load.used = load.used + OPEN
  return views.open(struct.unpack('>d', record, 18), objects.compose(own, transform))
end

function load.target(record)
  local ref = struct.unpack('>d', record, 18)
  return ref == 0 and '' or objects.get(ref)
end

function load.inode(record)
  local inodes = struct.unpack('>d', head[3], 9)
  local inode = inodes > 0 and load.record(views.open(inodes), objects.idInSlot(record:sub(70)))
  if not inode then objects.fail('CORRUPT', 'a file with several names is not in their table') end
  return inode
end

-- Returns the extra data of a record: a directory's object, a link's target, or an inode; and the view of a directory.
function load.extra(record, transform)
  local kind = record:byte()
  if kind == 100 then
    local view = load.under(record, transform)
    return view.value, view
  elseif kind == 115 then return load.target(record)
  elseif kind == 108 then
    local inode = load.inode(record)
    return inode:byte() == 115 and inode .. load.target(inode) or inode
  end
  return ''
end

function load.chunks(out, record, from, to)
  local size, ref = struct.unpack('>dd', record, 10)
  local n = math.floor((size + CHUNK - 1) / CHUNK)
  local i = from
  while i < to and i < n do
    if load.used > load.budget and i > from then return i end
    local chunk = objects.element(ref, nil, n, i)
    load.emit(out, chunk == 0 and '' or objects.of(67, chunk))
    i = i + 1
  end
  return i
end

-- Views by path: many requests are in the same directory.
local walked = {}

function load.parent(names)
  local n = #names - 1
  local key = table.concat(names, '/', 1, n)
  local view = walked[key]
  if view == nil then
    local above = {}
    for i = 1, n do above[i] = names[i] end
    view = load.walk(above) or false
    walked[key] = view
  end
  return view
end

-- Walks a path from the root, and emits what it meets if out is given. Returns the view if the path leads to a
-- directory, then the record and its transform (none for the root). Returns nil if the path does not exist.
function load.walk(names, out)
  local view = views.open((struct.unpack('>d', head[3])))
  if out then load.emit(out, view.value) end
  local record, transform, extra
  for i = 1, #names do
    if not view then return nil end
    record, transform = load.record(view, names[i])
    if not record then
      if out then load.emit(out, '') end
      return nil
    end
    view = nil
    if out then
      load.emit(out, record)
      load.emit(out, transform or '')
      extra, view = load.extra(record, transform)
      load.emit(out, extra)
    elseif record:byte() == 100 then view = load.under(record, transform) end
  end
  return view, record, transform
end

-- Returns the directory at a path if it still has the given id.
function load.directoryAt(names, id)
  local view = load.walk(names)
  if not view then return nil end
  local slot = view.value:sub(${DIRECTORY_AT.node}, ${DIRECTORY_AT.node + NODE_BYTES - 1})
  if view.transform then slot = objects.copiedSlot(slot, view.transform) end
  return objects.idInSlot(slot) == id and view or nil
end

function load.path(names, _, limit)
  local out = {}
  local view, record = load.walk(names, out)
  if view or not record or limit < 0 then return out end
  if record:byte() == 108 then record = load.inode(record) end
  if record:byte() == 102 and struct.unpack('>d', record, 10) <= limit then
    load.emit(out, 'content')
    load.chunks(out, record, 0, math.floor(limit / CHUNK) + 1)
  end
  return out
end

function load.names(leaf)
  local names = {}
  local length = struct.unpack('>I4', leaf, 12)
  for name in leaf:sub(16, 15 + length):gmatch('%z([^/]+)/') do names[#names + 1] = name end
  return names
end

-- Emits the buckets of a directory from one on, until the budget is used. Returns the next bucket. Calls back with each
-- subdirectory's name and view. The client verifies the records.
function load.buckets(out, view, bucket, callback)
  local first = bucket
  while bucket < view.n do
    if load.used > load.budget and bucket > first then return bucket end
    local one = views.bucket(view, bucket)
    if one then
      local leaf = one.value
      load.used = load.used + BUCKET
      load.emit(out, leaf)
      load.emit(out, one.transform or '')
      local extras, names = {}, nil
      for i = 0, struct.unpack('>I2', leaf, 10) - 1 do
        local from = one.first + STRIDE * i
        if leaf:byte(from) ~= 102 then
          local extra, kid = load.extra(leaf:sub(from, from + RECORD - 1), one.transform)
          load.emit(extras, extra)
          if callback and kid then
            names = names or load.names(leaf)
            callback(names[i + 1], kid)
          end
        end
      end
      out[#out + 1] = extras
    end
    bucket = bucket + 1
  end
  return bucket
end

function load.list(names, id, bucket)
  local view = load.directoryAt(names, id)
  if not view then return { 'gone' } end
  local out = { view.value, view.transform or '', '' }
  local next = load.buckets(out, view, bucket)
  out[3] = next < view.n and tostring(next) or ''
  return out
end

-- Adds the contents of the listing's files that have one name and one chunk. If they do not all fit, returns false and
-- adds none, unless some are enough.
function load.contents(listing, maxBytes, someAreEnough)
  local found, cost, bytes = {}, 0, 0
  for at = 5, #listing, 3 do
    local leaf = listing[at]
    local names = load.names(leaf)
    local count, length = struct.unpack('>I2I4', leaf, 10)
    for i = 0, count - 1 do
      local from = 16 + length + STRIDE * i
      local size, ref = struct.unpack('>dd', leaf, from + ${RECORD_FIELD.size})
      if ref ~= 0 and size <= CHUNK and leaf:byte(from) == 102 then
        local name = names[i + 1]
        local moreCost, moreBytes = cost + READ + 2 * PIECE + 2 * BYTE * size, bytes + size + #name + 32
        if load.used + moreCost < load.budget and load.bytes + moreBytes < maxBytes then
          cost, bytes = moreCost, moreBytes
          found[#found + 1] = name
          found[#found + 1] = ref
        elseif not someAreEnough then return false end
      end
    end
  end
  for i = 1, #found, 2 do
    load.emit(listing[4], found[i])
    load.emit(listing[4], objects.of(67, found[i + 1]))
  end
  return true
end

-- Returns a directory and its subtree. A directory whose contents do not all fit is left out. If that is the top directory, there is
-- no reply to this request, unless it is the first of all.
function load.tree(names, id, budget, contents, isFirst)
  local top = load.directoryAt(names, id)
  if not top then return { 'gone' } end
  local maxBytes = load.bytes + budget
  local out = { top.value, top.transform or '' }
  local pending = { { view = top, parent = -1, name = '' } }
  local at = 1
  while pending[at] and (at == 1 or (load.used < load.budget and load.bytes < maxBytes)) do
    local one = pending[at]
    -- A directory is returned completely or not at all.
    if at > 1 and one.view.n * (READ + BUCKET + 3 * PIECE) > load.budget - load.used then break end
    local listing, subdirectories = { one.parent, one.name, '', {} }, {}
    local next = load.buckets(listing, one.view, 0, function(name, kid)
      subdirectories[#subdirectories + 1] = { view = kid, parent = at - 1, name = name }
    end)
    if next < one.view.n then
      -- The rest of the top directory is requested separately.
      listing[3] = tostring(next)
      if at == 1 then out[3] = listing end
      break
    end
    if contents > 0 and not load.contents(listing, maxBytes, isFirst and at == 1) then
      if at == 1 then return nil end
      break
    end
    for k = 1, #subdirectories do pending[#pending + 1] = subdirectories[k] end
    out[#out + 1] = listing
    at = at + 1
  end
  return out
end

function load.content(names, id, from, to)
  local view = #names > 0 and load.parent(names)
  if not view then return { 'gone' } end
  local record, transform = load.record(view, names[#names])
  if not record or record:byte() == 100 then return { 'gone' } end
  local out = { record, transform or '', (load.extra(record, transform)), '' }
  local seen = objects.copiedRecord(record, transform)
  if objects.idInSlot(seen:sub(70, 93)) ~= id then return { 'gone' } end
  if record:byte() == 108 then record = load.inode(record) end
  if record:byte() ~= 102 then return { 'gone' } end
  out[4] = tostring(load.chunks(out, record, from, to))
  return out
end

local kinds = { load.path, load.list, load.tree, load.content }
local blob = ARGV[1]
local answers = { 'K', decimal(counter), head[3] }
local requests, at = struct.unpack('>I2', blob, body)
for i = 1, requests do
  -- Requests that do not fit any more are sent again by the client.
  if i > 1 and load.used > load.budget then break end
  local kind, count, id, a, b
  kind, count, at = struct.unpack('>I1I2', blob, at)
  local names = {}
  for k = 1, count do names[k], at = struct.unpack('>I1c0', blob, at) end
  id, a, b, at = struct.unpack('>I1c0dd', blob, at)
  -- Small requests take time too.
  load.used = load.used + (kind == 4 and CONTENT or OPEN)
  local answer = kinds[kind](names, id, a, b, i == 1)
  if not answer then break end
  answers[i + 3] = answer
end
keepAlive()
return answers
`;
