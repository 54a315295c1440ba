select * from {{ source('switch', 'sms') }}
