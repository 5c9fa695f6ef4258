--- @include queue
--[[ What a person holds, in the ledger's field `p:<person>`.

holdings = [request] [" idle=" time] TAB [\a TAB] *(assignment TAB)

request     the request id of the last reserve that granted them a lease
idle        when clear first found that they hold nothing; a week later it deletes the field
\a          they are stopped, and get no further one: it stands where an assignment would, so that the ordinary
            cases of reserve and finish see it in what they read anyway
assignment  oldest lease first; a lease may have run out ]]
local holdings = {}
-- What a person holds who holds one item only, for the ordinary cases of reserve and finish.
--- @constant ONE_HOLDING(request, id) request .. '\t' .. id .. '\t'

function holdings.parse(text)
  local request, words, rest = string.match(text or '\t', '^([^ \t]*)([^\t]*)\t(.*)$')
  local held_leases = { request = request, idle = string.match(words, ' idle=(%d+)'), is_stopped = string.byte(rest) == 7 }
  for member in string.gmatch(rest, '([^\t\a][^\t]*)\t') do held_leases[#held_leases + 1] = member end
  return held_leases
end

function holdings.format(held_leases)
  local idle, stop = held_leases.idle and ' idle=' .. held_leases.idle or '', held_leases.is_stopped and '\a\t' or ''
  return held_leases.request .. idle .. '\t' .. stop .. table.concat(held_leases, '\t') .. (held_leases[1] and '\t' or '')
end

function holdings.read(person) return holdings.parse(redis.call('HGET', keys.ledger, 'p:' .. person)) end

function holdings.write(person, held_leases) redis.call('HSET', keys.ledger, 'p:' .. person, holdings.format(held_leases)) end

function holdings.remove(held_leases, member)
  for i, other in ipairs(held_leases) do
    if other == member then return table.remove(held_leases, i) end
  end
end

-- Whether the person holds an assignment of the item.
function holdings.has_item(held_leases, id)
  for _, member in ipairs(held_leases) do
    if member == id or string.sub(member, 1, #id + 1) == id .. '\a' then return true end
  end
  return false
end
