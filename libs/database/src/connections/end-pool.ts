import { setTimeout } from 'node:timers/promises';
import type { Pool } from 'pg';

/** The longest wait for connections to close, in milliseconds: a silent server never closes them. */
const closePatienceMs = 2000;

/** Ends a pool and waits until its connections are closed. The driver's own `end` does not wait. */
export async function endPool(pool: Pool): Promise<void> {
  const allClosed = new Promise<void>((resolve) => {
    let open = pool.totalCount;
    if (open === 0) resolve();
    pool.on('remove', () => {
      open -= 1;
      if (open === 0) resolve();
    });
  });
  await pool.end();
  await Promise.race([allClosed, setTimeout(closePatienceMs, undefined, { ref: false })]);
}
