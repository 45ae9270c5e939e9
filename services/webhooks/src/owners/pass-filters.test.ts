import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId, type Query } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import type { Collection } from '@recordbus/schema';
import { readDetails, readMessage } from '../fan-out/read-message.ts';
import { type FilteredDelivery, passFilters } from './pass-filters.ts';

const collection: Collection = {
  id: 'c1',
  name: 'orders',
  type: 'base',
  fields: [{ id: 'f1', name: 'total', type: 'number', required: false, system: false, options: {} }],
  viewQuery: null,
  rules: { list: null, view: null, create: null, update: null, delete: null, webhook: 'id != ""' },
  historyEnabled: false,
  createdAtSec: 0,
  updatedAtSec: 0,
};

let seq = 0;

function updateOf(total: number) {
  const data = `{"record":{"id":"a","total":${total}},"previous":{"id":"a","total":7},"changed":["total"]}`;
  const text =
    `{"id":"${newId()}","event":"orders.update","timestamp":1,"collection":"orders","version":"1","data":${data},` +
    '"actor":{"type":"guest","id":null},"request_id":null}';
  const message = {
    subject: 'events.record.orders.update',
    seq: ++seq,
    time: new Date(),
    data: new TextEncoder().encode(text),
    header: () => undefined,
  };
  const { received } = readMessage(message);
  return readDetails(message, received);
}

describe("owners' filters", { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let statements = 0;

  before(async () => {
    temporary = await openTemporaryDatabase();
  });
  after(() => temporary.remove());

  const query: Query = (statement) => {
    statements += 1;
    return temporary.database.query(statement);
  };
  const pass = (deliveries: readonly FilteredDelivery[]) => {
    statements = 0;
    return passFilters({ query, collation: () => undefined }, deliveries);
  };
  const delivery = (
    event: ReturnType<typeof updateOf>,
    webhookId: string,
    filter: string | null,
    body = event.body,
  ) => ({
    event,
    name: event.event,
    body,
    webhookId,
    filter,
    collection,
  });
  const entered = (event: ReturnType<typeof updateOf>) =>
    event.body.replace(/,"previous":.*?"changed":\["total"\]/, '');

  it('of a hundred webhooks are asked in one statement, each only about its own events', async () => {
    const [low, high] = [updateOf(10), updateOf(60)];
    const deliveries = Array.from({ length: 100 }, (_, n) =>
      delivery(n % 2 === 0 ? low : high, `w${n}`, n % 3 === 0 ? `record.total > ${n}` : `record.total >= ${n}`),
    );
    const passed = await pass(deliveries);
    assert.equal(statements, 1);
    const expected = deliveries.filter(({ event }, n) => {
      const total = event === low ? 10 : 60;
      return n % 3 === 0 ? total > n : total >= n;
    });
    assert.deepEqual(
      passed.map(({ webhookId }) => webhookId).sort(),
      expected.map(({ webhookId }) => webhookId).sort(),
    );
  });

  it('read only what their owner gets of an event', async () => {
    const event = updateOf(3);
    assert.notEqual(entered(event), event.body);
    const passed = await pass([
      delivery(event, 'whole', 'previous.total = 7'),
      delivery(event, 'entered', 'previous.total = 7', entered(event)),
      delivery(event, 'both', 'record.total = 3', entered(event)),
    ]);
    assert.equal(statements, 2, 'one for each body');
    assert.deepEqual(passed.map(({ webhookId }) => webhookId).sort(), ['both', 'whole']);
  });

  it('let a leaving pass, and what has no filter, without a statement', async () => {
    const event = updateOf(3);
    const left = { ...delivery(event, 'left', 'record.total = 1'), name: 'orders.leave' };
    assert.equal((await pass([left, delivery(event, 'plain', null)])).length, 2);
    assert.equal(statements, 0);
  });

  it('hold for no event that they cannot read, nor for an unknown field', async () => {
    const [good, bad] = [updateOf(3), updateOf(4)];
    const odd = bad.body.replace('"total":4', '"total":"many"');
    const passed = await pass([
      delivery(good, 'a', 'record.total = 3'),
      delivery(bad, 'a', 'record.total > 0', odd),
      delivery(good, 'b', 'record.sum = 3'),
    ]);
    assert.deepEqual(
      passed.map(({ webhookId, event }) => [webhookId, event.id]),
      [['a', good.id]],
    );
  });
});
