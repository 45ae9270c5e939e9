import type { Socket } from 'node:net';

/** Passes on what two sockets send, each to the other, until either closes. Keeps them in `open` until then. */
export function joinSockets(client: Socket, server: Socket, open: Set<Socket>): void {
  for (const [end, other] of [
    [client, server],
    [server, client],
  ] as const) {
    open.add(end);
    end.setNoDelay(true);
    end.on('error', () => other.destroy());
    end.on('close', () => {
      open.delete(end);
      other.destroySoon();
    });
    end.pipe(other);
  }
}
