#!/usr/bin/env bash
# Fetches every URL of a list, 32 a job, and prints one JSON line per URL, in the order of the list.
# Usage: haul.sh urls.txt > results.ndjson
# PAGEHAUL is the address of the service, PAGEHAUL_KEY an API key if it wants one. Run again after a break, it goes on
# where it was: the same list is the same job, so nothing is fetched twice.
set -euo pipefail
service=${PAGEHAUL:-http://127.0.0.1:8080}
key=(${PAGEHAUL_KEY:+-H "authorization: Bearer $PAGEHAUL_KEY"})
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

header() { tr -d '\r' <"$work/headers" | sed -n "s/^$1: *//ip"; }

grep -v -E '^[[:space:]]*(#|$)' "$1" | split -l 32 - "$work/part."
for part in "$work"/part.*; do
  while true; do
    status=$(curl -sS "${key[@]}" -o "$work/answer" -D "$work/headers" -w '%{http_code}' \
      -H 'content-type: text/uri-list' --data-binary "@$part" "$service/jobs")
    [[ $status == 429 || $status == 503 ]] || break
    sleep "$(header retry-after)" # Another job of ours is still running.
  done
  if [[ $status != 20? ]]; then
    cat "$work/answer" >&2
    exit 1
  fi
  curl -sSN "${key[@]}" "$service$(header location)/results?follow=true"
done
