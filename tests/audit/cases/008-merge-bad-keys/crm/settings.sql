MERGE INTO crm.scoring_runs t
USING (SELECT segment, AVG(score) AS score FROM landing.scores GROUP BY segment) s
ON 1 = 1
WHEN MATCHED THEN UPDATE SET score = s.score;
