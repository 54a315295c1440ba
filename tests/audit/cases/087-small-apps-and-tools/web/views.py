from django.db.models import F
from django.http import JsonResponse
from django.utils import timezone


def vote(request, poll_id):
    Choice = request.model
    Choice.objects.filter(pk=poll_id).update(votes=F("votes") + 1)
    return JsonResponse({"at": timezone.now().isoformat()})
