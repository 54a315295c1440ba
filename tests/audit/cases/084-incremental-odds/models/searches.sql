select session_id, search_no, term
from {{ source('web', 'searches') }}
