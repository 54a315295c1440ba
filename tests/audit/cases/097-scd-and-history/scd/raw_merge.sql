merge into core.dim_rate t
using stage.rate_change s
on t.rate_code = s.rate_code
when matched then update set t.rate = s.rate, t.changed_at = s.changed_at
when not matched then insert (rate_code, rate, changed_at) values (s.rate_code, s.rate, s.changed_at);
