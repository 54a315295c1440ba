select lead_id, score from {{ source('ml', 'scores') }}
