import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { createClient } from '../harness/clients/client.ts';
import { at } from '../harness/json.ts';

/** Reads by callers who read what they have just written. */
export interface OwnReads {
  readonly reads: number;
  /** Those that were answered while the replica could not have the write yet. */
  readonly early: number;
  /** Those that missed the write. */
  readonly stale: number;
  /** Those that were refused because the product was busy. They are not among the others. */
  readonly refused: number;
}

interface OwnReadsOptions {
  readonly collection: string;
  /** The callers' tokens; all write at once. */
  readonly tokens: readonly string[];
  /** The gateway for the writes. Reads there need no header. */
  readonly url: string;
  /** Another gateway. Reads there send the write's header. */
  readonly otherUrl: string;
  /** How long the replica waits before it applies a commit, in milliseconds. */
  readonly delayMs: number;
  /** How many writes each caller makes. */
  readonly rounds: number;
}

/** Writes as each caller, and reads each write in several ways at once, again and again until the replica may have it. */
export async function readOwnWrites(options: OwnReadsOptions): Promise<OwnReads> {
  const { collection, tokens, url, otherUrl, delayMs, rounds } = options;
  const counted = { reads: 0, early: 0, stale: 0, refused: 0 };
  const agent = new Agent({ keepAlive: true });

  async function write(token: string): Promise<void> {
    const client = createClient(url, token);
    const { id } = await client.create(collection, { value: 0 });
    const ownFilter = `?filter=id%3D%22${id}%22`;
    const paths = [`/${id}`, `/${id}?fields=value`, ownFilter, `${ownFilter}&skipTotal=1`];
    for (let value = 1; value <= rounds; value += 1) {
      const sentAtMs = performance.now();
      const { status, headers } = await client.send('PATCH', `/api/v1/${collection}/${id}`, { body: { value } });
      assert.equal(status, 200);
      const authorization = `Bearer ${token}`;
      const state = String(headers['x-service-consistency']);
      const sendings: readonly (readonly [to: string, headers: Readonly<Record<string, string>>])[] = [
        [url, { authorization }],
        [otherUrl, { authorization, 'x-service-consistency': state }],
      ];
      do {
        const ways = sendings.flatMap(([to, headers]) =>
          paths.map(async (path) => {
            const found = await readValue(`${to}/api/v1/${collection}${path}`, headers, agent);
            if (found === busy) {
              counted.refused += 1;
              return;
            }
            counted.reads += 1;
            if (performance.now() < sentAtMs + delayMs) counted.early += 1;
            if (found !== value) counted.stale += 1;
          }),
        );
        await Promise.all(ways);
      } while (performance.now() < sentAtMs + delayMs);
    }
  }

  try {
    await Promise.all(tokens.map(write));
  } finally {
    agent.destroy();
  }
  return counted;
}

const busy = Symbol('busy');

/** Reads a record, or a list with one record, over a connection that stays open. Returns its value, or `busy` for 503. */
const readValue = (url: string, headers: Readonly<Record<string, string>>, agent: Agent): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, { agent, headers }, (answer) => {
      json(answer).then((body) => {
        if (answer.statusCode === 200) resolve(valueAt(body));
        else if (answer.statusCode === 503) resolve(busy);
        else reject(new Error(`${url}: ${answer.statusCode} ${JSON.stringify(body)}`));
      }, reject);
    });
    outgoing.once('error', reject);
    outgoing.end();
  });

/** Returns the value in a record, or in a list's first record. */
export const valueAt = (body: unknown): unknown => at(body, 'data.value') ?? at(body, 'data.0.value');
