import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../harness/clients/client.ts';
import { committedIds } from '../harness/clients/write-burst.ts';
import { at, textAt } from '../harness/json.ts';
import { sendUntilAnswered, type Tally } from './requests.ts';

const perSecond = 200;
/** More would only wait for the product. */
const mostAtOnce = 64;
const counterCount = 40;

/** An acknowledged create, with the key that repeats it. */
interface Created {
  readonly id: string;
  readonly key: string;
  readonly body: object;
}

/** Acknowledged writes. */
export interface Writes {
  readonly created: Created[];
  /** Each counter's acknowledged values, by the record's id. */
  readonly counts: Map<string, number[]>;
  /** Answers to a repeated key that differ from the first. */
  readonly differing: string[];
  readonly answered: number;
  stop(): Promise<void>;
}

/** Starts 200 writes a second, in a collection with a number field `value`: two creates, then a counter's update. */
export async function startWrites(tally: Tally, clients: readonly Client[], collection: string): Promise<Writes> {
  const created: Created[] = [];
  const counts = new Map<string, number[]>();
  const differing: string[] = [];
  const running = new Set<Promise<void>>();
  const path = `/api/v1/${collection}`;
  let [isOver, number, answered] = [false, 0, 0];
  const clientFor = (index: number): Client => clients[index % clients.length] ?? assert.fail('no client');

  const idle: string[] = [];
  for (let index = 0; index < counterCount; index += 1)
    idle.push((await clientFor(0).create(collection, { value: 0 })).id);

  async function create(index: number): Promise<void> {
    const [key, body] = [`create-${index}`, { value: index }];
    const sending = { body, headers: { 'Idempotency-Key': key } };
    const client = clientFor(index);
    const first = await sendUntilAnswered(tally, client, 'POST', path, sending);
    answered += 1;
    if (first.status !== 201) return;
    created.push({ id: textAt(first.json, 'data.id'), key, body });
    if (index % 10 !== 0) return;
    const again = await sendUntilAnswered(tally, client, 'POST', path, sending);
    if (again.text !== first.text) differing.push(`${key}: ${again.text} after ${first.text}`);
  }

  async function count(id: string, index: number): Promise<void> {
    const values = counts.get(id) ?? [];
    counts.set(id, values);
    const value = (values.at(-1) ?? 0) + 1;
    const answer = await sendUntilAnswered(tally, clientFor(index), 'PATCH', `${path}/${id}`, { body: { value } });
    answered += 1;
    if (answer.status === 200) values.push(value);
    idle.push(id);
  }

  function startOne(): void {
    number += 1;
    const counter = number % 3 === 0 ? idle.shift() : undefined;
    const write = counter === undefined ? create(number) : count(counter, number);
    const noted = write
      .catch((error: Error) => void tally.failures.push(error.message))
      .finally(() => running.delete(noted));
    running.add(noted);
  }

  async function run(): Promise<void> {
    let dueAtMs = performance.now();
    while (!isOver) {
      for (; dueAtMs <= performance.now(); dueAtMs += 1000 / perSecond) if (running.size < mostAtOnce) startOne();
      await pause(5);
    }
    await Promise.all(running);
  }

  const whole = run();
  return {
    created,
    counts,
    differing,
    get answered() {
      return answered;
    },
    stop() {
      isOver = true;
      return whole;
    },
  };
}

/** Returns which acknowledged writes are not in the database. */
export async function findLost(admin: Client, collection: string, { created, counts }: Writes): Promise<string[]> {
  const committed = await committedIds(admin, collection);
  const lost = created.filter(({ id }) => !committed.has(id)).map(({ id }) => id);
  for (const [id, values] of counts) {
    const stored = at((await admin.get(`/api/v1/${collection}/${id}`)).json, 'data.value');
    if (stored !== (values.at(-1) ?? 0)) lost.push(`${id} has ${stored} instead of ${values.at(-1)}`);
  }
  return lost;
}
