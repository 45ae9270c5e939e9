import { heartbeat } from '@recordbus/process/background';

/** The signal's reason when another replica holds the lease, or nobody. */
export class LostLease extends Error {}

interface LeaseOptions {
  /** How often the lease is renewed, in milliseconds; a third as long as it lasts is a good value. */
  readonly renewMs: number;
  /** Renews the lease. Returns false if this process no longer holds it. An error counts for nothing: it may still do. */
  renew(): Promise<unknown>;
  readonly ending?: AbortSignal;
}

/** Runs long work under a lease that it renews. The signal aborts when the lease is lost, or with `ending`. */
export async function underLease<T>(
  { renewMs, renew, ending }: LeaseOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const endRenewal = heartbeat(renewMs, async () => {
    if ((await renew()) === false) lost.abort(new LostLease('the lease is lost'));
  });
  try {
    return await work(ending ? AbortSignal.any([ending, lost.signal]) : lost.signal);
  } finally {
    endRenewal();
  }
}
