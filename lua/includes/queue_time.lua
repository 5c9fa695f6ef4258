--- @include server_time
-- For scripts that only read: the queue's time without taking a new one.
now = math.max(now + skew, clock + 0)
