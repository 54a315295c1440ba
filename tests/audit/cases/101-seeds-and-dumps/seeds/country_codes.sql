INSERT INTO ref.country (code, title) VALUES ('NO', 'Norway'), ('SE', 'Sweden')
ON CONFLICT (code) DO NOTHING;
