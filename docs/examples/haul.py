"""Fetches every URL of a list, 32 a job, and prints one JSON line per URL, in the order of the list; `idx` counts
through the list. Usage: python3 haul.py urls.txt > results.ndjson
PAGEHAUL is the address of the service, HAUL_KEY an API key if it wants one, HAUL_TRIES how often, once a second,
to try a service that does not answer. What a stop of the service left out is fetched when it is back. Run again, it
goes on where it was: the same list is the same job, so nothing is fetched twice.
"""
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

SERVICE = os.environ.get("PAGEHAUL", "http://127.0.0.1:8080")
KEY = os.environ.get("HAUL_KEY")
TRIES = int(os.environ.get("HAUL_TRIES", "60"))
JOB_SIZE = 32
SILENCE_S = 300  # A connection that is silent for longer is taken for dead.
BROKEN = (OSError, http.client.HTTPException)
left, printed = TRIES, 0


def request(path, body=None, method=None):
    headers = {"content-type": "application/json"} if body else {}
    if KEY:
        headers["authorization"] = f"Bearer {KEY}"
    return urllib.request.urlopen(urllib.request.Request(SERVICE + path, body, headers, method=method), timeout=SILENCE_S)


def pause():
    global left
    if left == 0:
        sys.exit(f"haul: gave up after {printed} lines; run it again to go on")
    left -= 1
    time.sleep(1)


def ask(path, body=None, method=None):
    """Asks until it gets an answer: the path of the job in it, and the job."""
    while True:
        try:
            with request(path, body, method) as response:
                return response.headers["location"], json.load(response)
        except urllib.error.HTTPError as error:
            if error.code == 429:  # Another job of ours is still running.
                time.sleep(int(error.headers["retry-after"]))
            elif error.code < 500:
                sys.exit(error.read().decode())
            else:
                pause()
        except BROKEN:
            pause()


def follow(path):
    """The lines until the stream ends or breaks, without one that was cut off."""
    try:
        with request(path) as response:
            yield from (line for line in response if line.endswith(b"\n"))
    except BROKEN:
        return


with open(sys.argv[1], encoding="utf-8") as file:
    lines = [line.strip() for line in file]
urls = [line for line in lines if line and not line.startswith("#")]
for start in range(0, len(urls), JOB_SIZE):
    part = urls[start : start + JOB_SIZE]
    job, _ = ask("/jobs", json.dumps({"targets": [{"url": url} for url in part]}).encode())
    first = 0
    while True:
        for line in follow(f"{job}/results?follow=true&from={first}"):
            sys.stdout.buffer.write(b'{"idx":%d,%b' % (printed, line.partition(b",")[2]))
            sys.stdout.buffer.flush()
            printed, first, left = printed + 1, first + 1, TRIES
        if printed == start + len(part):
            break
        pause()
        _, view = ask(f"{job}?view=summary")
        if "finished_at" in view and first >= view["targets_done"]:
            first -= view["targets_done"] - view["targets_failed"]  # The retry has all but the targets that succeeded.
            job, _ = ask(f"{job}/retry", method="POST")
