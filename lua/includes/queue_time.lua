--- @include server_time
-- For scripts that only read: the queue's time without taking a new one.
now = math.max(now + (skew or 0), (clock or 0) + 0)
