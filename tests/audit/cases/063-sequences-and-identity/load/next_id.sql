INSERT INTO dw.dim_plane (plane_key, tail_no)
SELECT NEXT VALUE FOR dw.plane_seq, s.tail_no
FROM stage.planes s
LEFT JOIN dw.dim_plane d ON d.tail_no = s.tail_no
WHERE d.tail_no IS NULL;
