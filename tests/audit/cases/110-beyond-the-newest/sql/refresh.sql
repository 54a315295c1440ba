CREATE TABLE report_fleet AS SELECT * FROM v_report_fleet LIMIT 0;

DELIMITER //
CREATE PROCEDURE refresh_report_fleet()
BEGIN
INSERT INTO report_fleet SELECT * FROM v_report_fleet;
END;
//
DELIMITER ;
