merge into core.chain t
using (select * from (select c.*, row_number() over (partition by chain_id order by loaded_at desc) as r from raw.chain c) where r = 1) s
on s.chain_id = t.chain_id
when matched then update set t.title = s.title, t.etl_updated_at = current_timestamp()
when not matched then insert (chain_id, title, etl_created_at)
values (s.chain_id, s.title, current_timestamp());
