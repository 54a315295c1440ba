select gen_random_uuid() as region_sk, region_code, region_name
from {{ ref('stg_regions') }}
