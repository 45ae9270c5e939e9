import type { Duplex } from 'node:stream';

/** How long the last bytes may take to be sent, in milliseconds. */
const lingerMs = 10_000;

/** Joins two connections: each gets what the other sends, at its own pace. Calls `onEnd` when both are closed. */
export function splice(one: Duplex, other: Duplex, onEnd: () => void): void {
  let open = 2;
  const join = (from: Duplex, to: Duplex): void => {
    // An error is followed by the close.
    from.on('error', () => {});
    from.once('close', () => {
      open -= 1;
      if (open === 0) onEnd();
      else closeSoon(to);
    });
    from.pipe(to);
  };
  join(one, other);
  join(other, one);
}

/** Closes a connection once its last bytes are sent. */
export function closeSoon(stream: Duplex): void {
  if (stream.destroyed) return;
  const timer = setTimeout(() => stream.destroy(), lingerMs);
  stream.once('close', () => clearTimeout(timer));
  if (stream.writableFinished) stream.destroy();
  else stream.end(() => stream.destroy());
}
