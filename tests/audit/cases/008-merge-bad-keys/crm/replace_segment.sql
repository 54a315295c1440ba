MERGE INTO crm.segment_members t
USING (SELECT segment, contact_id FROM landing.members WHERE segment = @segment) s
ON FALSE
WHEN NOT MATCHED BY SOURCE AND t.segment = @segment THEN DELETE
WHEN NOT MATCHED BY TARGET THEN
  INSERT (segment, contact_id) VALUES (s.segment, s.contact_id);
