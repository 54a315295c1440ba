CREATE TABLE role (id SERIAL PRIMARY KEY, name TEXT UNIQUE);
INSERT INTO role (name) VALUES ('admin'), ('reader');
