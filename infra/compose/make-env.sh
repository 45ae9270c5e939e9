#!/bin/sh
# Writes .env with fresh secrets for docker-compose.yml; a file that is there already is kept.
set -eu
cd "$(dirname "$0")/../.."
[ -e .env ] && { echo ".env is there already" >&2; exit 0; }
secret() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
umask 077
cat >.env <<ENV
SERVICE_JWT_SECRET=$(secret)
POSTGRES_PASSWORD=$(secret)
NATS_PASSWORD=$(secret)
METRICS_TOKEN=$(secret)
ENV
echo "wrote .env"
