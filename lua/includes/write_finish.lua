-- A finish alone. Needs: the status, at, person, holdings, id, done (its grant), whom (its event).
--- @include join_status
call('HSET', LEDGER, 'status', status, 'p:' .. person, holdings, 'g:' .. id, done)
call('XADD', JOURNAL, at, 'finished', whom)
