#!/bin/sh
# Fails when a nats-server refuses every event since a write failed, and its disk has room again. Then it needs a restart:
# nats-server 2.14 and 2.15 refuse events until they start again. Compose and the Helm chart run this in the server's
# container, whose tools are BusyBox.
set -eu
monitor=${1:-8222} store=${2:-/data}

# No answer is another check's matter. wget would not print an answer 503.
health=$(printf 'GET /healthz HTTP/1.0\r\n\r\n' | nc -w 5 127.0.0.1 "$monitor") || exit 0
case $health in *' write error: '*) ;; *) exit 0 ;; esac
# What a server needs to start, and to store some messages.
[ "$(df -Pk "$store" | awk 'NR == 2 { print $4 }')" -lt 16384 ]
