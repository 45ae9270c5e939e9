#!/bin/sh
# Writes .env for docker-compose.yml: new secrets and the size of the event stream. It keeps the lines of an existing
# .env and adds the missing ones.
set -eu
cd "$(dirname "$0")/../.."
umask 077
touch .env

# Adds a variable that .env lacks.
add() {
  # If the file does not end with a line break, the next line would join its last one.
  [ -z "$(tail -c 1 .env)" ] || echo >>.env
  echo "$1=$2" >>.env
  echo "added $1 to .env"
}
lacks() { ! grep -q "^$1=" .env; }

for name in SERVICE_JWT_SECRET SERVICE_ENCRYPTION_KEY POSTGRES_PASSWORD POSTGRES_OWNER_PASSWORD NATS_PASSWORD METRICS_TOKEN; do
  if lacks "$name"; then add "$name" "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')"; fi
done

# NATS does not report the size of its disk, so this takes a fifth of what is free here, 1 GiB to 50 GiB
# (docs/operations.md).
if lacks SERVICE_EVENTS_MAX_BYTES; then
  free_kib=$(df -Pk . | awk 'NR == 2 { print $4 }')
  fifth_kib=$((free_kib / 5))
  [ "$fifth_kib" -ge 1048576 ] || fifth_kib=1048576
  [ "$fifth_kib" -le 52428800 ] || fifth_kib=52428800
  add SERVICE_EVENTS_MAX_BYTES $((fifth_kib * 1024))
fi
