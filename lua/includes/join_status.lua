status = at .. ' ' .. token .. ' ' .. finished .. ' ' .. skew .. ' ' .. soonest .. ' ' .. open .. ' '
  .. lease_seconds .. ' ' .. form_version .. shelves
