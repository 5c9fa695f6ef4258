call('HSET', LEDGER, 'tick', at .. ' ' .. token .. ' ' .. finished .. ' ' .. skew, 'p:' .. person, holdings,
  'g:' .. id, done)
call('XADD', JOURNAL, at, 'finished', whom)
