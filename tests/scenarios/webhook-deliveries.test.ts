import assert from 'node:assert/strict';
import { createWebhook, deliveriesOf, deliveryIn, webhooksPath as path } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import type { JsonObject } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';

onEachTopology('deliveries are listed and replayed', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'letters', type: 'base', fields: [] });
  const { id } = await createWebhook(admin, receiver.url, ['letters.*'], { retry_max: 1, retry_backoff: 'fixed' });
  const since = Math.floor(Date.now() / 1000) - 1;
  receiver.behave({ status: 500, body: 'no' });
  await admin.create('letters', {});
  const dead = await deliveryIn(admin, id, 'dead');
  receiver.behave({ status: 200 });
  const { id: letter } = await admin.create('letters', {});
  await admin.delete(`/api/v1/letters/${letter}`);
  await eventually(
    'two events are delivered',
    async () => (await deliveriesOf(admin, id, '?status=success')).length === 2,
  );

  const attempt = { at: is.now, response_code: 500, duration_ms: is.number, error: is.text };
  const list = (query: string, ...events: readonly string[]) => ({
    as: 'admin' as const,
    request: `GET ${path}/${id}/deliveries${query}`,
    expect: {
      status: 200,
      json: is.containing({ data: events.map((event) => is.containing({ event })) }),
    },
    spec: 'webhooks §4.1',
  });
  await runScenarios(t, target, [
    { name: 'all deliveries, newest first', ...list('', 'letters.delete', 'letters.create', 'letters.create') },
    { name: 'deliveries with a status', ...list('?status=dead', 'letters.create') },
    { name: 'deliveries of an event', ...list('?event=letters.delete', 'letters.delete') },
    { name: 'a page of deliveries', ...list('?perPage=2&page=2', 'letters.create') },
    {
      name: 'a page without payloads',
      as: 'admin',
      request: `GET ${path}/${id}/deliveries?perPage=1&skipPayload=1`,
      expect: {
        status: 200,
        json: is.containing({ data: [is.containing({ payload: undefined, response_code: 200 })] }),
      },
      spec: 'webhooks §4.1',
    },
    {
      name: 'a page without totals',
      as: 'admin',
      request: `GET ${path}/${id}/deliveries?perPage=1&skipTotal=1`,
      expect: {
        status: 200,
        json: {
          data: [is.containing({ event: 'letters.delete' })],
          page: 1,
          perPage: 1,
          totalItems: -1,
          totalPages: -1,
        },
      },
      spec: 'webhooks §4.1',
    },
    {
      name: 'an unknown status',
      as: 'admin',
      request: `GET ${path}/${id}/deliveries?status=lost`,
      expect: refused.malformedWith({ status: is.text }),
      spec: 'http §2.5',
    },
    {
      name: 'one delivery with its attempts',
      as: 'admin',
      request: `GET ${path}/${id}/deliveries/${dead.id}`,
      expect: {
        status: 200,
        json: {
          data: {
            id: dead.id,
            webhook_id: id,
            event_id: is.uuid,
            event: 'letters.create',
            status: 'dead',
            attempt: 2,
            response_code: 500,
            response_body: 'no',
            error: is.text,
            payload: is.containing({ id: dead.event_id, event: 'letters.create' }),
            attempts: [attempt, attempt],
            next_attempt_at: null,
            created_at: is.now,
            updated_at: is.now,
            completed_at: is.now,
            batch_id: null,
          },
        },
      },
      spec: 'webhooks §4.2',
    },
    {
      name: 'an unknown delivery',
      as: 'admin',
      request: `GET ${path}/${id}/deliveries/${unknownId}`,
      expect: refused.notFound,
      spec: 'webhooks §4.2',
    },
    ...[{}, { since: 'yesterday' }, { since: -1 }].map((body) => ({
      name: `a replay with ${JSON.stringify(body)}`,
      as: 'admin' as const,
      request: `POST ${path}/${id}/replay`,
      body,
      expect: refused.naming('since'),
      spec: 'webhooks §4.5',
    })),
    ...[
      { body: { since, until: since - 1 }, count: 0 },
      { body: { since: 0, until: since + 3600 }, count: 3 },
      { body: { since, status: 'dead' }, count: 1 },
    ].map(({ body, count }) => ({
      name: `a count of what a replay would send, ${JSON.stringify(Object.keys(body))}`,
      as: 'admin' as const,
      request: `POST ${path}/${id}/replay`,
      body: { ...body, dry_run: true },
      expect: { status: 200, json: { data: { count } } },
      spec: 'webhooks §4.5',
    })),
    {
      name: 'a replay until a time before the first delivery',
      as: 'admin',
      request: `POST ${path}/${id}/replay`,
      body: { since: 0, until: since - 1 },
      expect: { status: 200, json: { data: { count: 0 } } },
      spec: 'webhooks §4.5',
    },
    {
      name: 'a replay since a future time',
      as: 'admin',
      request: `POST ${path}/${id}/replay`,
      body: { since: since + 3600 },
      expect: { status: 200, json: { data: { count: 0 } } },
      spec: 'webhooks §4.5',
    },
    {
      name: 'a replay by a user',
      as: 'user',
      request: `POST ${path}/${id}/replay`,
      body: { since },
      expect: refused.forbidden,
      spec: 'http §6.3',
    },
  ]);

  const idsOf = (deliveries: readonly JsonObject[]) => new Set(deliveries.map((delivery) => delivery.event_id));
  await t.test('dead deliveries are replayed [webhooks §4.5]', async () => {
    const from = receiver.deliveries.length;
    assert.equal(from, 4, 'a count sends nothing');
    assert.deepEqual(await admin.post(`${path}/${id}/replay`, { since, status: 'dead' }, 200), { count: 1 });
    const [again] = (await receiver.received(from + 1)).slice(from);
    assert.equal(again?.json.id, dead.event_id);
    assert.notEqual(again?.headers['x-service-delivery'], dead.id);
    await eventually(
      'the replay is logged',
      async () => (await deliveriesOf(admin, id, '?status=success')).length === 3,
    );
  });
  await t.test('without a status all events are replayed, each once [webhooks §4.5]', async () => {
    const from = receiver.deliveries.length;
    assert.deepEqual(await admin.post(`${path}/${id}/replay`, { since }, 200), { count: 3 });
    const again = (await receiver.received(from + 3)).slice(from);
    assert.equal(again.length, 3);
    assert.deepEqual(new Set(again.map(({ json }) => json.id)), idsOf(await deliveriesOf(admin, id)));
  });
});
