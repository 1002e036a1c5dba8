#!/usr/bin/env bash
# Fetches every URL of a list, 32 a job, and prints one JSON line per URL, in the order of the list; `idx` counts through
# the list. Usage: haul.sh urls.txt > results.ndjson
# PAGEHAUL is the address of the service, HAUL_KEY an API key if it wants one, HAUL_TRIES how often, once a second,
# to try a service that does not answer. What a stop of the service left out is fetched when it is back. Run again, it
# goes on where it was: the same list is the same job, so nothing is fetched twice.
set -euo pipefail
export LC_ALL=C
service=${PAGEHAUL:-http://127.0.0.1:8080}
tries=${HAUL_TRIES:-60}
left=$tries
printed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Silent for five minutes, a connection is taken for dead.
request() { curl -sS --speed-limit 1 --speed-time 300 ${HAUL_KEY:+-H "authorization: Bearer $HAUL_KEY"} "$@"; }
header() { tr -d '\r' <"$work/headers" | sed -n "s/^$1: *//ip"; }
count() { sed -E "s/.*\"targets_$1\":([0-9]+).*/\1/" "$work/answer"; }

pause() {
  if ((left-- == 0)); then
    echo "haul: gave up after $printed lines; run it again to go on" >&2
    exit 1
  fi
  sleep 1
}

# Asks until it gets an answer, which is then in $work.
ask() {
  while true; do
    status=$(request -o "$work/answer" -D "$work/headers" -w '%{http_code}' "$@") || status=000
    case $status in
      2??) return ;;
      429) sleep "$(header retry-after)" ;; # Another job of ours is still running.
      000 | 5??) pause ;;
      *) cat "$work/answer" >&2 && exit 1 ;;
    esac
  done
}

sed -E 's/^[[:space:]]+|[[:space:]]+$//g' "$1" | { grep -v -E '^(#|$)' || true; } | split -l 32 - "$work/part."
shopt -s nullglob
for part in "$work"/part.*; do
  ask -H 'content-type: text/uri-list' --data-binary "@$part" "$service/jobs"
  job=$service$(header location) from=0 end=$((printed + $(wc -l <"$part")))
  while true; do
    while IFS= read -r line; do # Leaves out a line that was cut off.
      printf '{"idx":%d,%s\n' "$printed" "${line#*,}"
      printed=$((printed + 1)) from=$((from + 1)) left=$tries
    done < <(request -fN "$job/results?follow=true&from=$from")
    ((printed < end)) || break
    pause
    ask "$job?view=summary"
    if grep -q '"finished_at"' "$work/answer" && ((from >= $(count "done"))); then
      from=$((from - $(count "done") + $(count failed))) # The retry has all but the targets that succeeded.
      ask -X POST "$job/retry"
      job=$service$(header location)
    fi
  done
done
