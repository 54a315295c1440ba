MERGE INTO lake.artist t
USING (SELECT artist_name, MAX(followers) AS followers FROM lake.artist_feed GROUP BY artist_name) s
ON t.artist_name = s.artist_name
WHEN MATCHED THEN UPDATE SET followers = s.followers
WHEN NOT MATCHED THEN INSERT (artist_name, followers) VALUES (s.artist_name, s.followers);
