CREATE OR REPLACE TABLE star.dim_agent (
    agent_key NUMBER AUTOINCREMENT PRIMARY KEY,
    agent_no VARCHAR
);
