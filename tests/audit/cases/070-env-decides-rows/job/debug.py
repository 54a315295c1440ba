import logging
import os

logging.basicConfig(level=os.getenv("LOG_LEVEL", "INFO"))
if os.getenv("CI"):
    print("no colours")
