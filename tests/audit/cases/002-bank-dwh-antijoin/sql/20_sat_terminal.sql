insert into dwh.sat_terminal (hk_terminal, owner_name, load_dt, load_src)
select h.hk_terminal,
       t.owner_name,
       now() as load_dt,
       'files' as load_src
from dwh.hub_terminal h
join stg.terminal t on t.terminal_no = h.terminal_no
where h.hk_terminal not in (select hk_terminal from dwh.sat_terminal);
