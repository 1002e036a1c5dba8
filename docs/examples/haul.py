"""Fetches every URL of a list, 32 a job, and prints one JSON line per URL, in the order of the list.

Usage: python3 haul.py urls.txt > results.ndjson
PAGEHAUL is the address of the service, PAGEHAUL_KEY an API key if it wants one. Run again after a break, it goes on
where it was: the same list is the same job, so nothing is fetched twice.
"""
import json
import os
import sys
import time
import urllib.error
import urllib.request

SERVICE = os.environ.get("PAGEHAUL", "http://127.0.0.1:8080")
KEY = os.environ.get("PAGEHAUL_KEY")
JOB_SIZE = 32


def call(path, body=None):
    headers = {"content-type": "application/json"}
    if KEY:
        headers["authorization"] = f"Bearer {KEY}"
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(SERVICE + path, data, headers))


def submit(urls):
    """The path of the job; waits while another job of ours is running."""
    while True:
        try:
            with call("/jobs", {"targets": [{"url": url} for url in urls]}) as response:
                return response.headers["location"]
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                sys.exit(error.read().decode())
            time.sleep(int(error.headers["retry-after"]))


with open(sys.argv[1], encoding="utf-8") as file:
    lines = [line.strip() for line in file]
urls = [line for line in lines if line and not line.startswith("#")]
for start in range(0, len(urls), JOB_SIZE):
    job = submit(urls[start : start + JOB_SIZE])
    with call(f"{job}/results?follow=true") as results:
        for line in results:
            print(line.decode(), end="", flush=True)
