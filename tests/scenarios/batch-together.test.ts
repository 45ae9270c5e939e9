import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { countOf, openShop, sendBatch } from './batch-shop.ts';

const key = 'Idempotency-Key';

onEachTopology('nothing remains from a refused batch', async (t, target) => {
  await openShop(target, 'none');
  const { guest } = target;
  const admin = await target.admin();
  const kept = await admin.create('none_orders', { title: 'kept', slug: 'kept' });
  const many = (n: number) =>
    Array.from({ length: n }, (_, index) =>
      index < n / 4
        ? { op: 'create', collection: 'none_lines', data: { name: `n${index}` } }
        : { op: 'create', collection: 'none_orders', data: { title: `t${index}` } },
    );
  const operations = [
    { op: 'update', collection: 'none_orders', id: kept.id, data: { title: 'changed' } },
    ...many(998),
    { op: 'create', collection: 'none_orders', data: { title: 'x', slug: 'kept' } },
  ];
  const headers = { [key]: randomUUID(), 'X-Request-Id': randomUUID() };

  await t.test('the last of 1,000 operations is refused [batch §4.2, §5.2]', async () => {
    const { status, json, text } = await sendBatch(guest, operations, headers);
    assert.deepEqual([status, at(json, 'details.index'), typeof at(json, 'details.slug')], [422, 999, 'string'], text);
    assert.equal(await countOf(guest, 'none_orders'), 1);
    assert.equal(await countOf(guest, 'none_lines'), 0);
    assert.equal(at((await guest.get(`/api/v1/none_orders/${kept.id}`)).json, 'data.title'), 'kept');
    const history = await admin.get(`/api/v1/none_orders/${kept.id}/history`);
    assert.equal(listAt(history.json, 'data.data').length, 1);
  });

  await t.test("its key stays free, and a completed batch's answer is repeated [batch §1.3]", async () => {
    const first = await sendBatch(guest, many(4), headers);
    assert.equal(first.status, 200, first.text);
    const again = await sendBatch(guest, many(4), headers);
    assert.deepEqual([again.status, again.json, again.headers['idempotency-replayed']], [200, first.json, 'true']);
    assert.equal(await countOf(guest, 'none_orders'), 4);
    const other = await sendBatch(guest, many(5), headers);
    assert.deepEqual([other.status, at(other.json, 'code')], [422, 'idempotency_key_reused']);
  });

  await t.test('it has no event [batch §4.2]', async () => {
    if (target.natsUrl === undefined) return;
    await using bus = await openBusReader(target.natsUrl);
    const label = textAt(await admin.post('/api/v1/none_tags', { name: 'marker' }), 'id');
    await eventually('the event of a later write', () =>
      bus.events.some(({ body }) => at(body, 'data.record.id') === label),
    );
    const ofRequest = bus.events.filter(({ body }) => body.request_id === headers['X-Request-Id']);
    assert.equal(ofRequest.length, 4);
  });
});

onEachTopology("a batch's events have their place in it", async (t, target) => {
  if (target.natsUrl === undefined) return;
  await openShop(target, 'placed');
  await using bus = await openBusReader(target.natsUrl, { isFromNow: true });
  const create = (collection: string, data: object, more: object = {}) => ({
    op: 'create',
    collection: `placed_${collection}`,
    data,
    ...more,
  });
  const requestId = randomUUID();
  const operations = [
    create('tags', { name: 'a' }, { id: 'tag' }),
    create('orders', { title: 'x', tags: ['tag'] }, { id: 'order' }),
    ...Array.from({ length: 40 }, (_, n) => create('lines', { name: `l${n}`, order: 'order' })),
    { op: 'update', collection: 'placed_orders', id: 'order', data: { title: 'y' } },
    { op: 'delete', collection: 'placed_tags', id: 'tag' },
    { op: 'delete', collection: 'placed_orders', id: 'order' },
  ];
  const { status, text, json } = await sendBatch(target.guest, operations, { 'X-Request-Id': requestId });
  assert.equal(status, 200, text);
  const ofBatch = () => bus.events.filter(({ body }) => body.request_id === requestId).map(({ body }) => body);
  await eventually('86 events', () => ofBatch().length >= 86);

  await t.test('each write has one event [batch §4.4]', () => {
    const places = ofBatch().map(({ batch }) => Number(at(batch, 'index')));
    assert.equal(places.length, 86);
    const counts = operations.map((_, index) => places.filter((place) => place === index).length);
    // Deleting the tag clears the order, and deleting the order deletes its lines.
    assert.deepEqual(counts, [...Array(43).fill(1), 2, 41]);
    assert.deepEqual([...new Set(ofBatch().map(({ batch }) => `${at(batch, 'id')} ${at(batch, 'size')}`))].length, 1);
    assert.equal(at(ofBatch()[0], 'batch.size'), operations.length);
  });

  await t.test("a record's events are in the operations' order [batch §4.4]", () => {
    const ofOrder = ofBatch().filter(({ data }) => at(data, 'record.id') === 'order');
    assert.deepEqual(
      ofOrder.map(({ event }) => event),
      ['create', 'update', 'update', 'delete'].map((verb) => `placed_orders.${verb}`),
    );
    const revisions = ofOrder.map(({ version }) => Number(String(version).split('.')[1] ?? 0));
    assert.deepEqual(revisions, [0, 1, 2, 3]);
    assert.equal(at(json, 'data.1.etag'), `W/"${ofOrder[0]?.version}"`);
  });

  await t.test("a single write's event has no batch [batch §4.4]", async () => {
    const { id } = await target.guest.post('/api/v1/placed_tags', { name: 'single' });
    const find = () => bus.events.find(({ body }) => at(body, 'data.record.id') === id);
    await eventually('its event', () => find() !== undefined);
    assert.equal(find()?.body.batch, undefined);
  });
});

onEachTopology('batches at once exclude each other', async (t, target) => {
  await openShop(target, 'cas');
  const { guest } = target;
  const [a, b] = ['a', 'b'];
  for (const id of [a, b]) await guest.send('PUT', `/api/v1/cas_orders/${id}`, { body: { title: 'x' } });
  const etagOf = async (id: string) => String((await guest.get(`/api/v1/cas_orders/${id}`)).headers.etag);
  const set = (id: string, ifMatch: string | undefined, data: object) => ({
    op: 'update',
    collection: 'cas_orders',
    id,
    if_match: ifMatch,
    data,
  });

  await t.test('among 20 clients that compare and set two records, one wins each round [batch §4.5]', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [first, second] = [await etagOf(a), await etagOf(b)];
      const attempt = (n: number) => {
        const operations = [set(a, first, { title: `${round} ${n}` }), set(b, second, { title: `${round} ${n}` })];
        // Half the batches use the other order, so that they could deadlock.
        return sendBatch(guest, n % 2 ? operations : operations.reverse());
      };
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => attempt(n)));
      const statuses = answers.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [200, ...Array(19).fill(412)]);
      const titles = [a, b].map(async (id) => at((await guest.get(`/api/v1/cas_orders/${id}`)).json, 'data.title'));
      const [left, right] = await Promise.all(titles);
      assert.equal(left, right);
    }
  });

  await t.test('batches that lock records in different orders all succeed [batch §4.6]', async () => {
    const add = (id: string) => set(id, undefined, { total: { $add: 1 } });
    const lines = Array.from({ length: 20 }, (_, n) => ({
      op: 'create',
      collection: 'cas_lines',
      data: { name: `${n}` },
    }));
    const crossing = (n: number) => sendBatch(guest, n % 2 ? [add(a), ...lines, add(b)] : [add(b), ...lines, add(a)]);
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => crossing(n)));
    for (const { status, text } of answers) assert.equal(status, 200, text);
    for (const id of [a, b]) assert.equal(at((await guest.get(`/api/v1/cas_orders/${id}`)).json, 'data.total'), 12);
  });

  await t.test('batches that deadlock are repeated [batch §4.6]', async () => {
    const put = (slug: string) => ({ op: 'upsert', collection: 'cas_orders', on: 'slug', data: { slug, title: slug } });
    const crossing = (n: number) => sendBatch(guest, n % 2 ? [put('x'), put('y')] : [put('y'), put('x')]);
    const answers = await Promise.all([0, 1].map(crossing));
    for (const { status, text } of answers) assert.equal(status, 200, text);
  });

  await t.test('when 20 upsert a value at once, one creates the record [batch §2.2]', async () => {
    const upsert = {
      op: 'upsert',
      collection: 'cas_orders',
      on: 'slug',
      data: { slug: 's', title: 't', total: { $add: 1 } },
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => sendBatch(guest, [upsert])));
    for (const { status, text } of answers) assert.equal(status, 200, text);
    const created = answers.filter(({ json }) => at(json, 'data.0.status') === 201);
    assert.equal(created.length, 1);
    const found = await guest.get(`/api/v1/cas_orders?filter=${encodeURIComponent('slug = "s"')}`);
    assert.equal(at(listAt(found.json, 'data')[0], 'total'), 20);
  });
});
