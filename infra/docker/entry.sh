#!/bin/sh
# The image's entry: runs the given script on Node. Without one, runs the gateway or, with SERVICE_ALL_IN_ONE=1, the
# whole stack on one volume.
set -eu

# Some platforms mount volumes that only root may write.
if [ "$(id -u)" = 0 ]; then
  chown node:node "$SERVICE_DATA_DIR"
  exec setpriv --reuid node --regid node --init-groups "$0" "$@"
fi
[ $# = 0 ] || exec node "$@"
[ "${SERVICE_ALL_IN_ONE:-}" = 1 ] || exec node services/gateway/src/main.ts

# A platform may start the next container before it stops this one. Their process ids say nothing about each other, so
# the volume itself is locked, until this process ends.
exec 9<"$SERVICE_DATA_DIR"
if ! flock --nonblock 9; then
  echo 'Another container uses this volume. Waiting until it stops.' >&2
  trap 'exit 143' TERM INT
  until flock --timeout 1 9; do :; done
  trap - TERM INT
fi
exec node infra/local/src/main.ts
