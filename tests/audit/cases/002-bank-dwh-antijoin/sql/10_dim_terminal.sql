INSERT INTO dwh.dim_terminal (terminal_no, city, address, created_at)
SELECT s.terminal_no,
       s.city,
       s.address,
       s.exported_at
FROM stg.terminal s
LEFT JOIN dwh.dim_terminal d
  ON 1 = 1
 AND d.terminal_no = s.terminal_no
WHERE d.terminal_no IS NULL;
