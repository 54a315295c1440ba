import time

from prometheus_client import CollectorRegistry, Gauge, push_to_gateway

registry = CollectorRegistry()
Gauge("last_success", "last success", registry=registry).set(time.time())
push_to_gateway("gw:9091", job="elt", registry=registry)
