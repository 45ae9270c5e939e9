import type { Received } from './receiver.ts';
import { verifyByHand, verifyWithStandardWebhooks } from './verify-delivery.ts';

/** A delivery and its verification's results. */
export interface CheckedDelivery {
  readonly event: string;
  readonly code: string;
  readonly name: string;
  /** Time from the change's request to the arrival, in milliseconds; undefined when it was not expected. */
  readonly latencyMs: number | undefined;
  readonly isSignedByHand: boolean;
  readonly isSignedByStandard: boolean;
}

/** The expected deliveries, and those that have arrived. */
interface AwaitedDeliveries {
  /** Expects an event whose change is sent now. */
  expect(event: string, code: string): void;
  receive(received: Received): CheckedDelivery;
  /** Returns the expected deliveries that have not arrived, as `<event> <code>`. */
  missing(): string[];
  /** Waits until nothing is missing. Returns false after the timeout. */
  allArrived(timeoutMs: number): Promise<boolean>;
}

interface EventBody {
  readonly event: string;
  readonly data: { readonly record: { readonly code: string; readonly name: string } };
}

/** Tracks deliveries that are signed with `secret`. */
export function awaitDeliveries(secret: string): AwaitedDeliveries {
  const sentAtMs = new Map<string, number>();
  const arrived = new Set<string>();
  let onArrival = () => {};
  const missing = () => [...sentAtMs.keys()].filter((key) => !arrived.has(key));

  return {
    missing,
    expect(event, code) {
      sentAtMs.set(`${event} ${code}`, performance.now());
    },
    receive({ headers, body, atMs }) {
      const { event, data } = JSON.parse(body) as EventBody;
      const { code, name } = data.record;
      const key = `${event} ${code}`;
      const sentMs = sentAtMs.get(key);
      const isSignedByHand = verifyByHand(headers, body, secret);
      const isSignedByStandard = verifyWithStandardWebhooks(headers, body, secret);
      // A delivery with a wrong signature does not count as arrived.
      if (isSignedByHand && isSignedByStandard) arrived.add(key);
      onArrival();
      const latencyMs = sentMs === undefined ? undefined : atMs - sentMs;
      return { event, code, name, latencyMs, isSignedByHand, isSignedByStandard };
    },
    allArrived(timeoutMs) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(resolve, timeoutMs, false);
      onArrival = () => missing().length === 0 && resolve(true);
      onArrival();
      return promise.finally(() => clearTimeout(timer));
    },
  };
}
