INSERT INTO core.tag (tag)
SELECT tag FROM stage.tag
EXCEPT
SELECT tag FROM core.tag;
