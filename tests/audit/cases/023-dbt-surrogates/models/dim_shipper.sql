select {{ dbt_utils.generate_surrogate_key(['shipper_no']) }} as shipper_sk,
       shipper_no, shipper_name
from {{ ref('stg_shippers') }}
