import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { at, textAt } from '../json.ts';
import type { BusEvent } from './bus-reader.ts';
import type { Client } from './client.ts';
import { committedIds } from './write-burst.ts';

/** One write's result. */
interface WriteResult {
  readonly tookMs: number;
  /** The answer's status; undefined without an answer. */
  readonly status: number | undefined;
}

/** Writers that create records and count up one record each, at a steady pace. */
export interface SteadyWrites extends AsyncDisposable {
  readonly results: readonly WriteResult[];
  /** How many writes were answered with success so far. */
  readonly succeeded: number;
  stop(): Promise<Written>;
}

/** The successful writes. */
export interface Written {
  readonly created: ReadonlySet<string>;
  /** The values that each counter was set to. A refused or lost write may have set others in between. */
  readonly counts: ReadonlyMap<string, readonly number[]>;
}

interface WriterOptions {
  readonly clients: readonly Client[];
  readonly collection: string;
  readonly writers?: number;
  readonly paceMs?: number;
}

/** Starts the writers, in a collection with a number field `value`. They use the clients in turn. */
export function startSteadyWrites({ clients, collection, writers = 4, paceMs = 40 }: WriterOptions): SteadyWrites {
  const results: WriteResult[] = [];
  const created = new Set<string>();
  const counts = new Map<string, number[]>();
  let isOver = false;

  async function send(client: Client, method: string, path: string, value: number) {
    const startedAtMs = performance.now();
    const answer = await client.send(method, path, { body: { value } }).catch(() => undefined);
    results.push({ tookMs: performance.now() - startedAtMs, status: answer?.status });
    return answer;
  }

  async function create(client: Client, value: number): Promise<string | undefined> {
    const answer = await send(client, 'POST', `/api/v1/${collection}`, value);
    if (answer?.status !== 201) return undefined;
    const id = textAt(answer.json, 'data.id');
    created.add(id);
    return id;
  }

  async function write(client: Client): Promise<void> {
    let counter: string | undefined;
    for (let value = 1; !isOver; value += 1) {
      if (counter === undefined) counter = await create(client, 0);
      else if (value % 4 === 0) await create(client, value);
      else {
        const answer = await send(client, 'PATCH', `/api/v1/${collection}/${counter}`, value);
        if (answer?.status === 200) counts.set(counter, [...(counts.get(counter) ?? []), value]);
      }
      await pause(paceMs);
    }
  }

  const running = Promise.all(
    Array.from({ length: writers }, (_, index) => write(clients[index % clients.length] ?? assert.fail('no client'))),
  );
  const stop = async (): Promise<Written> => {
    isOver = true;
    await running;
    return { created, counts };
  };
  return {
    results,
    get succeeded() {
      return results.filter(({ status }) => status === 200 || status === 201).length;
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

/** Asserts that every write that succeeded is in the database. */
export async function everyWriteIsThere(admin: Client, collection: string, { created, counts }: Written) {
  const committed = await committedIds(admin, collection);
  assert.deepEqual(
    [...created].filter((id) => !committed.has(id)),
    [],
    'a created record is gone',
  );
  for (const [id, values] of counts) {
    const stored = Number(at((await admin.get(`/api/v1/${collection}/${id}`)).json, 'data.value'));
    assert.ok(stored >= (values.at(-1) ?? 0), `the record ${id} lost the value ${values.at(-1)}`);
  }
}

/**
 * Throws while a successful write's event is missing, and fails when a record's events are out of order. An event may
 * be published twice, with the same id.
 */
export function eventsAreWhole(events: readonly BusEvent[], { created, counts }: Written): true {
  const seen = new Set<unknown>();
  const values = new Map<string, number[]>();
  for (const { body } of events) {
    if (seen.has(body.id)) continue;
    seen.add(body.id);
    const id = textAt(body, 'data.record.id');
    values.set(id, [...(values.get(id) ?? []), Number(at(body, 'data.record.value'))]);
  }
  for (const [id, of] of values)
    for (const [index, value] of of.entries())
      assert.ok(index === 0 || value > (of[index - 1] ?? 0), `the events of ${id} are out of order: ${of.join(' ')}`);
  const missing = [...created].filter((id) => !values.has(id));
  for (const [id, written] of counts) {
    const published = new Set(values.get(id));
    missing.push(...written.filter((value) => !published.has(value)).map((value) => `${id} = ${value}`));
  }
  if (missing.length > 0) throw new Error(`${missing.length} events are missing, such as ${missing[0]}`);
  return true;
}
