select review_id, listing_id, reviewed_on, loaded_seq, score
from {{ source('airrent', 'reviews') }}
