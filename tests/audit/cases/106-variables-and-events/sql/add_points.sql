CREATE PROC add_points (@member INT, @points INT)
AS
BEGIN
    UPDATE loyalty.members
    SET points += @points
    WHERE member_id = @member;

    UPDATE loyalty.members
    SET level = @points
    WHERE member_id = @member;
END
