truncate table raw.usage_stage;

copy into raw.usage_stage
from (
  select s.$1, s.$2, metadata$filename, current_timestamp()
  from @landing/usage s
)
file_format = (type = csv);
