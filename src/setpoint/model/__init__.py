"""The words of Setpoint as data: windows, keys, tasks, plans. Pure; nothing here touches Spark."""
