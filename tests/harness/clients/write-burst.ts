import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { eventually } from '../eventually.ts';
import { listAt, textAt } from '../json.ts';
import { type Receiver, receivedRecordIds } from '../servers/receiver.ts';
import type { Client } from './client.ts';

interface BurstOptions {
  readonly url: string;
  readonly collection: string;
  readonly count: number;
  /** How many creates run at once. */
  readonly parallel?: number;
  readonly body?: object;
  /** Called with how many creates have been answered, successfully or not. */
  readonly onAnswered?: (answered: number) => void;
}

/**
 * Sends creates as fast as they are answered, and returns how many were answered with 201. Other answers and lost
 * connections are not failures here: `committedIds` reads later what was committed.
 */
export async function writeBurst(options: BurstOptions): Promise<number> {
  const { url, collection, count, parallel = 50, body = {}, onAnswered = () => {} } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: parallel });
  const payload = JSON.stringify(body);
  let [left, answered, created] = [count, 0, 0];
  async function worker(): Promise<void> {
    while (left > 0) {
      left -= 1;
      if ((await post(`${url}/api/v1/${collection}`, payload, agent)) === 201) created += 1;
      answered += 1;
      onAnswered(answered);
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker));
  agent.destroy();
  return created;
}

/** Returns the answer's status; undefined when there was none. */
const post = (url: string, payload: string, agent: Agent): Promise<number | undefined> =>
  new Promise((resolve) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload) };
    const outgoing = request(url, { agent, method: 'POST', headers }, (response) => {
      response.resume();
      response.once('close', () => resolve(response.statusCode));
    });
    outgoing.setTimeout(20_000, () => outgoing.destroy());
    outgoing.once('error', () => resolve(undefined));
    outgoing.end(payload);
  });

const perPage = 1000;

/** Returns the ids of a collection's committed records. */
export async function committedIds(admin: Client, collection: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let page = 1; ; page += 1) {
    const answer = await admin.get(`/api/v1/${collection}?perPage=${perPage}&page=${page}&skipTotal=true`);
    const rows = listAt(answer.json, 'data');
    for (const row of rows) ids.add(textAt(row, 'id'));
    if (rows.length < perPage) return ids;
  }
}

const arrivalPatience = { timeoutMs: 180_000, intervalMs: 50 };

/**
 * Waits until every committed record in a collection has been delivered, and asserts that no other was. Returns the
 * records that were delivered more than once.
 */
export async function everyRecordArrives(admin: Client, receiver: Receiver, collection: string): Promise<string[]> {
  const committed = await committedIds(admin, collection);
  await eventually(
    'every committed record is delivered',
    () => {
      const received = new Set(receivedRecordIds(receiver));
      const missing = [...committed].filter((id) => !received.has(id));
      if (missing.length > 0) throw new Error(`${missing.length} of ${committed.size} are missing`);
      return true;
    },
    arrivalPatience,
  );
  const counts = new Map<string, number>();
  for (const id of receivedRecordIds(receiver)) counts.set(id, (counts.get(id) ?? 0) + 1);
  assert.deepEqual(
    [...counts.keys()].filter((id) => !committed.has(id)),
    [],
    'nothing is delivered that was not committed',
  );
  return [...counts].flatMap(([id, count]) => (count > 1 ? [id] : []));
}
