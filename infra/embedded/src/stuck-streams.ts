import { statfs } from 'node:fs/promises';

const healthTimeoutMs = 2_000;

/** What the server needs to start again, and to store some messages. */
const roomBytes = 16 * 1024 ** 2;

/**
 * Returns the server's sentence about a stream that refuses every message since a write failed; undefined when there is
 * none, or the server does not answer. nats-server 2.14 refuses them until it starts again, even if the disk has room.
 */
export async function findStuckStream(monitorPort: number): Promise<string | undefined> {
  const signal = AbortSignal.timeout(healthTimeoutMs);
  const answer = await fetch(`http://127.0.0.1:${monitorPort}/healthz`, { signal })
    .then((response) => response.text())
    .catch(() => '{}');
  const { error }: { readonly error?: string } = JSON.parse(answer);
  return error?.includes(' write error: ') ? error : undefined;
}

/** Whether the disk of a directory has room for a server that starts. */
export async function hasRoom(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize >= roomBytes;
}
