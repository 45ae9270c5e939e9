import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Client, Sending } from '../harness/clients/client.ts';

/** What requests were answered during the upgrade. */
export interface Tally {
  /** Answers by status. */
  readonly statuses: Record<number, number>;
  /** Answers that the promise does not allow. */
  readonly failures: string[];
  /** Connections that were lost before the answer. */
  readonly cuts: { readonly request: string; readonly atMs: number }[];
}

const longestTries = 100;
const pauseMs = 200;

/**
 * Sends a request until it is answered. A refusal with `Retry-After` is repeated, as clients do. The tally notes every
 * other refusal, and every lost connection.
 */
export async function sendUntilAnswered(
  tally: Tally,
  client: Client,
  method: string,
  path: string,
  sending: Sending = {},
): Promise<Answer> {
  for (let tries = 1; tries <= longestTries; tries += 1) {
    const answer = await client.send(method, path, sending).catch((error: Error) => error);
    if (answer instanceof Error) {
      tally.cuts.push({ request: `${method} ${path}: ${answer.message}`, atMs: performance.now() });
    } else {
      const { status, headers, text } = answer;
      tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
      const mayWait = (status === 503 || status === 409) && headers['retry-after'] !== undefined;
      if (status >= 400 && !mayWait) tally.failures.push(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
      if (status < 500 && !mayWait) return answer;
    }
    // `Retry-After` is at least a second; the test asks sooner, so that it meets more of the upgrade.
    await pause(pauseMs);
  }
  throw new Error(`${method} ${path} was not answered after ${longestTries} tries`);
}
