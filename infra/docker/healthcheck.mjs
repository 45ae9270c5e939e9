// Exit code 0 when the service in this container is ready for requests.
const response = await fetch(`http://127.0.0.1:${process.env.SERVICE_PORT}/readyz`, {
  signal: AbortSignal.timeout(8000),
});
process.exit(response.ok ? 0 : 1);
