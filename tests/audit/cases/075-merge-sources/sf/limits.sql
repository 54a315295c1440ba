merge into conf.symbol t
using (select column1 as symbol, column2 as lot from values ('AAA', 10), ('BBB', 100)) s
on t.symbol = s.symbol
when matched then update set t.lot = s.lot when not matched then insert (symbol, lot) values (s.symbol, s.lot);
