import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type EventMessage, eventStream } from '@recordbus/bus';
import { type Database, newId, type Query } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createLogger } from '@recordbus/process/logging';
import { createEventDays } from './event-days.ts';
import { createFilterPlans } from './filter-plans.ts';
import { createMatchedEvents } from './matched-events.ts';
import { processBatch } from './process-batch.ts';

describe('a batch of events', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  let process: (messages: readonly EventMessage[]) => Promise<number>;
  /** The names of the statements that the last batch ran. */
  let statements: string[] = [];
  /** Runs before the next batch reads the filters. */
  let meanwhile: (() => Promise<unknown>) | undefined;

  before(async () => {
    temporary = await openTemporaryDatabase();
    const query: Query = async (statement) => {
      statements.push(statement.name ?? statement.text.trim().split(/\s/)[0] ?? '');
      if (statement.name === 'fan-out.filters') {
        const change = meanwhile;
        meanwhile = undefined;
        await change?.();
      }
      return temporary.database.query(statement);
    };
    database = { ...temporary.database, query };
    const log = createLogger('test', 'silent');
    const days = createEventDays(temporary.database.query);
    const matched = createMatchedEvents(query);
    const filters = createFilterPlans(query);
    const readLife = async () => 1;
    const erased = { isErased: () => false, refresh: async () => {} };
    process = (messages) => {
      statements = [];
      const deps = { database, stream: eventStream, days, matched, filters, owners: noOwners, erased, readLife, log };
      return processBatch(deps, messages);
    };
    await run(
      `insert into system.collections (id, name, type, fields, created_at, updated_at)
       values ('c1', 'orders', 'base', $1, 0, 0)`,
      JSON.stringify([{ id: 'f1', name: 'total', type: 'number', required: false, options: {} }]),
    );
  });
  after(() => temporary.remove());
  beforeEach(() => run('delete from system.webhooks'));

  const run = <R>(text: string, ...values: unknown[]) => temporary.database.query<R>({ text, values });

  async function addWebhook(filter: string | null, events = '{orders.*}'): Promise<string> {
    const id = newId();
    await run(
      `insert into system.webhooks
         (id, name, url, events, secret, retry_max, retry_backoff, retry_delay_ms, timeout_ms, filter, active)
       values ($1, 'w', 'http://a.example', $3, 's', 3, 'fixed', 1000, 1000, $2, '{(,)}')`,
      id,
      filter,
      events,
    );
    return id;
  }

  const deliveriesOf = async (id: string) =>
    (await run<{ event: string }>('select event from system.deliveries where webhook_id = $1 order by event', id)).map(
      ({ event }) => event,
    );

  it('needs one statement, and with filters four', async () => {
    const plain = await addWebhook(null);
    assert.equal(await process([order('create', 5)]), 1);
    assert.deepEqual(statements, ['fan-out']);
    const filtered = await addWebhook('record.total > 3');
    await process([order('create', 5)]);
    await process([order('create', 5), order('update', 2)]);
    assert.deepEqual(statements, ['fan-out', 'fan-out.filters', 'with', 'fan-out.passed']);
    assert.deepEqual(await deliveriesOf(plain), ['orders.create', 'orders.create', 'orders.create', 'orders.update']);
    assert.deepEqual(await deliveriesOf(filtered), ['orders.create', 'orders.create']);
  });

  it('is judged for a hundred webhooks at once, also with several plans', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) {
      ids.push(await addWebhook(`record.total > ${n}`));
      await addWebhook(`record.total = ${n} ${`|| record.total = ${n}`.repeat(n)}`);
    }
    assert.equal(await process([order('create', 10), order('create', 20)]), 10 + 20 + 2);
    assert.equal(statements.length, 4);
    assert.equal((await deliveriesOf(ids[15] ?? '')).length, 1);
    await process([order('create', 10)]);
    assert.deepEqual(await process([order('delete', 0)]), 1);
  });

  it('is judged without an event that the schema cannot read', async () => {
    const over = await addWebhook('record.total > 3');
    const guests = await addWebhook('actor.type = "guest"');
    const bad = { ...order('update', 1), data: bytes('orders.update', '{"record":{"id":"a","total":"many"}}') };
    await process([order('create', 5), bad]);
    assert.deepEqual(await deliveriesOf(over), ['orders.create']);
    assert.equal((await deliveriesOf(guests)).includes('orders.create'), true);
  });

  it('adds nothing when it is processed again', async () => {
    await addWebhook('record.total > 3');
    const batch = [order('create', 5)];
    assert.deepEqual([await process(batch), await process(batch)], [1, 0]);
  });

  it('reaches a webhook whose filter is removed meanwhile, also one with an order', async () => {
    const ids = [await addWebhook('record.total > 3'), await addWebhook('record.total > 4')];
    const kept = await addWebhook('record.total > 3');
    await run("update system.webhooks set ordering = 'record' where id = $1", ids[1]);
    meanwhile = () => run('update system.webhooks set filter = null where id = any($1)', ids);
    assert.equal(await process([order('create', 1), order('update', 5)]), 5);
    for (const id of ids) assert.deepEqual(await deliveriesOf(id), ['orders.create', 'orders.update']);
    assert.deepEqual(await deliveriesOf(kept), ['orders.update']);
    meanwhile = () => run('delete from system.webhooks where id = any($1)', [ids[0]]);
    await run("update system.webhooks set filter = 'record.total > 9' where id = $1", ids[0]);
    assert.equal(await process([order('create', 1)]), 1);
  });

  it('with another collection passes no filter that names its fields', async () => {
    const id = await addWebhook('record.total > 3 || actor.type = "guest"', '{*}');
    const message = { ...order('create', 5), data: bytes('returns.create', '{"record":{"id":"a"}}', 'returns') };
    await process([message]);
    assert.deepEqual(await deliveriesOf(id), []);
  });
});

/** No records own webhooks. */
const noOwners = { findMatches: async () => [], fanOut: async () => 0, end: async () => {} };

let seq = 0;

const order = (verb: string, total: number): EventMessage => ({
  subject: `events.record.orders.${verb}`,
  seq: ++seq,
  time: new Date(),
  data: bytes(
    `orders.${verb}`,
    `{"record":{"id":"a","total":${total}},"previous":{"id":"a","total":1},"changed":["total"]}`,
  ),
  header: () => undefined,
});

const bytes = (event: string, data: string, collection = 'orders'): Uint8Array =>
  new TextEncoder().encode(
    `{"id":"${newId()}","event":"${event}","timestamp":1,"collection":"${collection}","version":"1","data":${data},` +
      '"actor":{"type":"guest","id":null},"request_id":null}',
  );
