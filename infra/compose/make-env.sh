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

# A deployment that lost its encryption key must not get a new one: its values could not be read, and new ones would be
# encrypted under another key.
key_is_lost=
if lacks SERVICE_ENCRYPTION_KEY && ! lacks POSTGRES_PASSWORD; then key_is_lost=1; fi

for name in SERVICE_JWT_SECRET SERVICE_ENCRYPTION_KEY POSTGRES_PASSWORD POSTGRES_OWNER_PASSWORD NATS_PASSWORD METRICS_TOKEN; do
  if [ "$name$key_is_lost" = SERVICE_ENCRYPTION_KEY1 ]; then continue; fi
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

if [ -n "$key_is_lost" ]; then
  echo "SERVICE_ENCRYPTION_KEY is missing in .env. Put it back: without it, encrypted values read as empty." >&2
  echo "If this deployment never had a key, or the key is lost, make a new one:" >&2
  echo '  echo "SERVICE_ENCRYPTION_KEY=$(openssl rand -hex 32)" >>.env' >&2
fi
