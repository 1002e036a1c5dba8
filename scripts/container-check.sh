#!/usr/bin/env bash
# Builds the container image and tries it out where no Docker engine runs. Needs root on a Debian machine.
#
# buildah builds it with chroot isolation. Its base is a stand-in for node:24-bookworm-slim: this machine's own Debian
# release, Node from node_modules/node (set NODE_BINARY for another) and this machine's npm. The service then runs as a
# hardened container does: process 1, the image's user, no capabilities, read-only root, only /data and /tmp writable.
# Packages come from where this machine's apt and npm get theirs; the stand-in carries that set-up, so never publish it.
set -euo pipefail

readonly BASE=localhost/pagehaul-check-base
readonly IMAGE=localhost/pagehaul-check
readonly START_S=30 JOB_S=60 STOP_S=15 REQUEST_S=10
# What the pages say that the service is to fetch.
readonly PHRASE='Lighthouses were lit with whale oil until the kerosene lamp replaced it.'

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
node=${NODE_BINARY:-$root/node_modules/node/bin/node}
work=
container=
fixture_pid=
unshare_pid=
service_pid=

step() { printf '\n== %s\n' "$*"; }
ok() { printf '   ok: %s\n' "$*"; }
fail() {
  printf '   FAILED: %s\n' "$*" >&2
  exit 1
}
assert_equal() { # what, expected, actual
  [[ $3 == "$2" ]] || fail "$1: '$3' instead of '$2'"
  ok "$1: ${3:-none}"
}
assert_absent() { [[ ! -e $1 && ! -L $1 ]] || fail "${1#"$tree"} is in the image"; }

in_store() { buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"; }

# json FILE EXPRESSION: the value of a JavaScript expression over `it`, the parsed file; arrays a line per element.
json() {
  "$node" -e '
    const it = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"))
    const value = new Function("it", "return " + process.argv[2])(it)
    console.log(Array.isArray(value) ? value.join("\n") : String(value))' "$1" "$2"
}

cleanup() {
  local code=$?
  set +e
  if ((code != 0)) && [[ -s $work/service.log ]]; then
    printf '\nThe service wrote last:\n'
    tail -n 20 "$work/service.log"
  fi
  [[ -n $fixture_pid ]] && kill "$fixture_pid" 2>/dev/null
  [[ -n $unshare_pid ]] && kill -KILL "$unshare_pid" 2>/dev/null # Takes the whole PID namespace along.
  [[ -n $work ]] || exit "$code"
  [[ -n $container ]] && in_store rm "$container" >/dev/null
  rm -rf "$work"
  exit "$code"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

check_tools() {
  step 'Tools'
  ((EUID == 0)) || fail 'this must run as root'
  local missing=() tool
  for tool in buildah mmdebstrap curl; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  command -v pgrep >/dev/null || missing+=(procps)
  if ((${#missing[@]} > 0)); then
    apt-get -q update
    DEBIAN_FRONTEND=noninteractive apt-get -q install --yes --no-install-recommends "${missing[@]}"
  fi
  command -v npm >/dev/null || fail 'npm is not on the PATH'
  [[ -x $node ]] || fail "there is no $node: run npm ci, or set NODE_BINARY to a Node 24"
  assert_equal 'major version of Node' v24 "$("$node" --version | cut -d. -f1)"
  ok "$(buildah --version)"
}

build_base() {
  step 'Base: Debian from the apt sources of this machine, with Node and npm'
  local codename sources=() npm ca base
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && printf %s "$VERSION_CODENAME")
  mapfile -t sources < <(find /etc/apt -name '*.sources' -o -name sources.list -size +0 | sort)
  ((${#sources[@]} > 0)) || fail 'apt has no sources'
  apt-config dump | grep -E '^Acquire::(Check-|https?::)' >"$work/apt.conf" || true
  # shellcheck disable=SC2016 # The hook is a shell script of its own.
  mmdebstrap --quiet --variant=minbase --aptopt="$work/apt.conf" \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook='chroot "$1" useradd --uid 1000 --user-group --create-home --shell /bin/bash node' \
    "$codename" "$work/base.tar" "${sources[@]}"

  npm=$(dirname "$(dirname "$(realpath "$(command -v npm)")")") # Not `npm root`: that follows whichever node comes first.
  mkdir -p "$work/base/bin" "$work/base/lib/node_modules" "$work/base/etc"
  cp "$node" "$work/base/bin/node"
  cp -RL "$npm" "$work/base/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/base/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$work/base/bin/npx"
  printf 'registry=%s\n' "$(npm config get registry)" >"$work/base/etc/npmrc"
  ca=$(npm config get cafile)
  if [[ -f $ca ]]; then
    cp "$ca" "$work/base/etc/npm-ca.pem"
    printf 'cafile=/usr/local/etc/npm-ca.pem\n' >>"$work/base/etc/npmrc"
  fi

  base=$(in_store from scratch)
  in_store add --quiet "$base" "$work/base.tar" / >/dev/null
  in_store add --quiet "$base" "$work/base" /usr/local >/dev/null
  in_store commit --quiet --rm "$base" "$BASE" >/dev/null
  rm -rf "$work/base" "$work/base.tar"
  ok "Debian $codename, Node $("$node" --version), npm $(json "$npm/package.json" it.version)"
}

build_image() {
  step 'Image'
  in_store bud --isolation chroot --format docker --pull-never --build-arg "NODE_IMAGE=$BASE" --tag "$IMAGE" "$root"
  in_store inspect --type image "$IMAGE" >"$work/image.json"
  container=$(in_store from --pull-never "$IMAGE")
  tree=$(in_store mount "$container")
}

check_config() {
  step 'Configuration of the image'
  local config=$work/config.json
  json "$work/image.json" 'JSON.stringify(it.Docker.config)' >"$config"
  user=$(json "$config" it.User)
  [[ $user =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || fail "the user '$user' is not a numeric one other than root"
  ok "user: $user"
  workdir=$(json "$config" it.WorkingDir)
  assert_equal 'working directory' /app "$workdir"
  assert_equal entrypoint '' "$(json "$config" 'it.Entrypoint ?? []')"
  mapfile -t command < <(json "$config" it.Cmd)
  assert_equal command 'node src/main.ts' "${command[*]}"
  assert_equal volumes /data "$(json "$config" 'Object.keys(it.Volumes)')"
  assert_equal ports 8080/tcp "$(json "$config" 'Object.keys(it.ExposedPorts)')"
  assert_equal 'stop signal' SIGTERM "$(json "$config" it.StopSignal)"
  assert_equal 'kind of health check' CMD "$(json "$config" 'it.Healthcheck.Test[0]')"
  mapfile -t healthcheck < <(json "$config" 'it.Healthcheck.Test.slice(1)')
  mapfile -t environment < <(json "$config" it.Env)
  local variable
  for variable in NODE_ENV=production HOST=0.0.0.0 DATABASE_URL=file:/data/pagehaul.db; do
    [[ " ${environment[*]} " == *" $variable "* ]] || fail "$variable is not set"
    ok "$variable"
  done
}

check_files() {
  step 'Files in the image'
  local prebuilds path
  assert_equal 'content of /app' 'node_modules package.json scripts src' "$(cd "$tree/app" && echo *)"
  for path in vitest typescript node; do assert_absent "$tree/app/node_modules/$path"; done
  json "$root/package-lock.json" \
    'Object.keys(it.packages).filter((path) => it.packages[path].dev && path.startsWith("node_modules/"))' >"$work/dev"
  while read -r path; do assert_absent "$tree/app/$path"; done <"$work/dev"
  ok "none of the $(wc -l <"$work/dev") development packages of the lockfile"
  prebuilds=$(cd "$tree/app/node_modules" && find . -name '*.node')
  assert_equal 'native binaries' 1 "$(wc -l <<<"$prebuilds")"
  ok "$prebuilds"
  for path in build deps src; do assert_absent "$tree/app/node_modules/better-sqlite3/$path"; done
  for path in npm npx corepack yarn; do assert_absent "$tree/usr/local/bin/$path"; done
  assert_absent "$tree/usr/local/lib/node_modules"
  ok 'no sources of better-sqlite3, no npm, npx, corepack or yarn'
  assert_equal 'files in /app that root does not own or others may write' '' \
    "$(find "$tree/app" ! -type l \( ! -uid 0 -o -perm /022 \) | head -n 5)"
  assert_equal 'owner of /data' "$user" "$(stat -c %u:%g "$tree/data")"

  printf '   size: image %s MiB, of it /app %s MiB, node_modules %s MiB, node %s MiB\n' \
    "$(mib "$tree")" "$(mib "$tree/app")" "$(mib "$tree/app/node_modules")" "$(mib "$tree/usr/local/bin/node")"
  in_store images --format '   {{.Name}}: {{.Size}}' | grep localhost/
}
mib() { du -sxm "$1" | cut -f1; }

# A page and a text on a free port, for the service to fetch.
# shellcheck disable=SC2016 # This is JavaScript.
start_fixture() {
  "$node" -e '
    const { createServer } = require("node:http")
    const { writeFileSync } = require("node:fs")
    const [file, phrase] = process.argv.slice(1)
    const page = `<!doctype html><html lang="en"><title>Lamps</title><body><nav><a href="/">Home</a></nav>
      <main><article><h1>Lamps</h1>${`<p>${phrase}</p>`.repeat(5)}</article></main></body></html>`
    const server = createServer((request, response) => {
      const html = request.url === "/page"
      response.setHeader("content-type", html ? "text/html; charset=utf-8" : "text/plain; charset=utf-8")
      response.end(html ? page : phrase)
    })
    server.listen(0, "127.0.0.1", () => writeFileSync(file, String(server.address().port)))
  ' "$work/fixture.port" "$PHRASE" &
  fixture_pid=$!
  wait_until 5 'the fixture server' test -s "$work/fixture.port"
  fixture=http://127.0.0.1:$(<"$work/fixture.port")
}

wait_until() { # seconds, what, command...
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || fail "$what: not within the time allowed"
    sleep 0.1
  done
}

# Runs in its own mount and PID namespace; arguments: tree, data folder, user, then a program and its arguments.
# shellcheck disable=SC2016
readonly CONTAINER='
  set -euo pipefail
  tree=$1 data=$2 user=$3 view=$4
  shift 4
  mount --make-rprivate /
  mount --bind "$tree" "$view"
  mount -o remount,bind,ro "$view"
  mount -t proc -o nosuid,nodev,noexec proc "$view/proc"
  mount -t tmpfs -o mode=755,nosuid tmpfs "$view/dev"
  for device in null zero full random urandom; do
    touch "$view/dev/$device"
    mount --bind "/dev/$device" "$view/dev/$device"
  done
  mount -t tmpfs -o size=64m,mode=1777,nosuid,nodev,noexec tmpfs "$view/tmp"
  mount --bind "$data" "$view/data"
  mount -o remount,bind,nosuid,nodev,noexec "$view/data"
  exec chroot "$view" setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups \
    --bounding-set=-all --inh-caps=-all --no-new-privs "$@"
'

start_service() {
  unshare --mount --pid --fork --kill-child \
    bash -c "$CONTAINER" container "$tree" "$work/data" "$user" "$work/view" \
    env --ignore-environment --chdir="$workdir" "${environment[@]}" "${settings[@]}" "${command[@]}" \
    >>"$work/service.log" 2>&1 &
  unshare_pid=$!
  wait_until "$START_S" 'GET /livez' answers_or_ended
  kill -0 "$unshare_pid" 2>/dev/null || fail 'the service ended at its start'
  service_pid=$(pgrep --parent "$unshare_pid")
  ok 'GET /livez answers'
}
answers_or_ended() { request "$url/livez" || ! kill -0 "$unshare_pid"; }

# Runs a program where the service runs and as what it runs.
in_service() {
  nsenter --target "$service_pid" --mount --pid --root --wd="/proc/$service_pid/cwd" \
    setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs \
    env --ignore-environment "${environment[@]}" "${settings[@]}" "$@"
}

stop_service() {
  local code=0 began=$SECONDS
  kill -TERM "$service_pid"
  wait_until "$STOP_S" 'the end after SIGTERM' eval "! kill -0 $service_pid"
  wait "$unshare_pid" || code=$?
  unshare_pid=
  assert_equal 'exit code after SIGTERM' 0 "$code"
  ok "within $((SECONDS - began + 1)) s"
}

request() { curl -sS --fail-with-body --max-time "$REQUEST_S" "$@"; }
post_job() {
  request -o "$work/job.json" -w '%{http_code}' -H 'content-type: application/json' -d "$body" "$url/jobs" || cat "$work/job.json" >&2
}
get_job() { request -o "$work/job.json" "$url/jobs/$job"; }
job_ended() { get_job && [[ $(json "$work/job.json" 'typeof it.finished_at') == string ]]; }

check_processes() {
  local status=/proc/$service_pid/status
  assert_equal 'uid and gid' "$user" "$(awk '/^Uid/ {u = $2} /^Gid/ {g = $2} END {print u ":" g}' "$status")"
  assert_equal 'PID in the container' 1 "$(awk '/^NSpid/ {print $NF}' "$status")"
  assert_equal capabilities 0000000000000000,0000000000000000 \
    "$(awk '/^Cap(Prm|Bnd)/ {print $2}' "$status" | paste -sd,)"
  assert_equal 'no new privileges' 1 "$(awk '/^NoNewPrivs/ {print $2}' "$status")"
  printf '   processes (uid, state, threads, KiB resident, command):\n'
  ps -o uid=,stat=,nlwp=,rss=,args= --pid "$service_pid" --ppid "$service_pid" | cut -c1-150 | sed 's/^/   /'
  assert_equal zombies '' "$(pgrep --runstates Z --parent "$service_pid" || true)"
}

run_image() {
  step 'First run'
  mkdir "$work/data" "$work/view"
  chown "$user" "$work/data"
  chmod 700 "$work/data"
  start_fixture
  local port
  port=$("$node" -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
  url=http://127.0.0.1:$port
  settings=("PORT=$port" PAGEHAUL_GUARD_ALLOW=127.0.0.0/8 "PAGEHAUL_GUARD_PORTS=${fixture##*:}")
  start_service

  body="{\"targets\":[{\"url\":\"$fixture/page\"},{\"url\":\"$fixture/text\"}]}"
  assert_equal 'status of POST /jobs' 202 "$(post_job)"
  job=$(json "$work/job.json" it.id)
  wait_until "$JOB_S" 'the end of the job' job_ended
  assert_equal job 'done' "$(json "$work/job.json" it.status)"
  json "$work/job.json" 'it.targets.map((target) => target.result.content)' >"$work/content"
  assert_equal 'times the phrase is in the contents' 6 "$(grep -o "$PHRASE" "$work/content" | wc -l)"
  grep -q '<p>' "$work/content" && fail 'the page was not converted'
  check_processes

  in_service "${healthcheck[@]}" || fail 'the health check fails'
  ok 'the health check passes'
  ! in_service env PORT=1 "${healthcheck[@]}" 2>/dev/null || fail 'the health check passes without a service'
  ok 'the health check fails without a service'
  ! in_service touch /app/src/x /usr/x /x 2>/dev/null || fail 'the root is writable'
  ok 'nothing outside /data and /tmp is writable'
  stop_service

  step 'Second run over the same data'
  start_service
  get_job || fail 'the job is gone'
  assert_equal job 'done' "$(json "$work/job.json" it.status)"
  assert_equal 'status of POST /jobs' 200 "$(post_job)"
  assert_equal 'reused' true "$(json "$work/job.json" it.reused)"
  stop_service
  ! grep -E '"level":[56]0|EROFS|EACCES|EPERM|ERR_ACCESS_DENIED' "$work/service.log" || fail 'the log has errors'
  ok 'no errors in the log'
}

work=$(mktemp -d "${TMPDIR:-/var/tmp}/container-check.XXXXXX")
check_tools
build_base
build_image
check_config
check_files
run_image
step 'All checks passed'
