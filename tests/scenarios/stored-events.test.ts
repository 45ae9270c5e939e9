import assert from 'node:assert/strict';
import { createWebhook, deliveryIn, webhooksPath } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';

const path = '/api/v1/admin/events';

onEachTopology("a record's events are listed with their deliveries", async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  const me = textAt((await admin.get('/api/v1/admin/me')).json, 'data.id');
  await admin.post('/api/v1/collections', { name: 'traced_parcels', fields: [{ name: 'to', type: 'text' }] });
  const good = await createWebhook(admin, receiver.url, ['traced_parcels.*'], { name: 'good' });
  const bad = await createWebhook(admin, `${receiver.url}bad`, ['traced_parcels.create'], {
    name: 'bad',
    retry_max: 0,
  });
  receiver.behave((to) => (to.endsWith('bad') ? { status: 500, body: '<script>' } : { status: 200 }));
  const since = Math.floor(Date.now() / 1000);
  const { id } = await admin.create('traced_parcels', { to: 'Ann' });
  const headers = { 'X-Request-Id': 'parcel-update' };
  await admin.send('PATCH', `/api/v1/traced_parcels/${id}`, { body: { to: 'Bob' }, headers });
  const { id: other } = await admin.create('traced_parcels', { to: 'Eve' });
  await deliveryIn(admin, bad.id, 'dead');
  const of = `${path}?record=${id}`;
  // No other file's events have this collection's name.
  await eventually('all deliveries ended', async () => {
    const listed = listAt((await admin.get(`${path}?event=traced_parcels.*`)).json, 'data');
    const counts = listed.map((event) => objectAt(event, 'counts'));
    return counts.length === 3 && counts.every((one) => one.pending === undefined);
  });

  const delivery = (webhook: { readonly id?: unknown; readonly name?: unknown }, status: string, code: number) => ({
    id: is.uuid,
    webhook_id: webhook.id,
    webhook_name: webhook.name,
    status,
    attempt: 1,
    response_code: code,
    created_at_ms: is.number,
    completed_at_ms: is.number,
  });
  const event = (name: string, requestId: unknown, counts: object, deliveries: unknown) => ({
    id: is.uuid,
    event: name,
    at_ms: is.number,
    record_id: id,
    version: is.version,
    actor: { type: 'admin', id: me },
    request_id: requestId,
    trace_id: is.matching(/^[0-9a-f]{32}$/),
    deliveries,
    counts,
  });
  const updated = event('traced_parcels.update', 'parcel-update', { success: 1 }, [delivery(good, 'success', 200)]);
  const created = event('traced_parcels.create', is.text, { success: 1, dead: 1 }, is.anything);
  const lists = (name: string, query: string, ...data: readonly object[]): Scenario => ({
    name,
    as: 'admin',
    request: `GET ${of}${query}`,
    expect: { status: 200, json: { data, perPage: 30, next: null } },
    spec: 'webhooks §8.1',
  });
  const isRefused = (name: string, query: string, parameter: string): Scenario => ({
    name,
    as: 'admin',
    request: `GET ${path}${query}`,
    expect: refused.malformedWith({ [parameter]: is.text }),
    spec: 'http §2.5',
  });
  await runScenarios(t, target, [
    lists('the events of a record, newest first', '', updated, created),
    lists('a pattern', '&event=traced_parcels.*', updated, created),
    lists('a name', '&event=traced_parcels.create', created),
    lists('a name that begins like one', '&event=traced_parcels.c'),
    lists('a webhook', `&webhook=${bad.id}`, created),
    lists('a status', '&status=dead', created),
    lists('a webhook and a status that another webhook has', `&webhook=${good.id}&status=dead`),
    lists('a request', '&request_id=parcel-update', updated),
    lists('a time', `&since=${since}&until=${since + 600}`, updated, created),
    lists('an earlier time', `&until=${since - 1}`),
    isRefused('a cursor that is none', '?cursor=x', 'cursor'),
    isRefused('an unknown status', '?status=lost', 'status'),
    {
      name: 'an unknown event',
      as: 'admin',
      request: `GET ${path}/${unknownId}`,
      expect: refused.notFound,
      spec: 'webhooks §8.3',
    },
    {
      name: 'an id that is none',
      as: 'admin',
      request: `GET ${path}/x`,
      expect: refused.notFound,
      spec: 'webhooks §8.3',
    },
    { name: 'a user', as: 'user', request: `GET ${path}`, expect: refused.forbidden, spec: 'http §6.3' },
    { name: 'a guest', request: `GET ${path}`, expect: refused.unauthenticated, spec: 'http §6.2' },
  ]);

  await t.test('pages by cursor return every event once [webhooks §8.1]', async () => {
    const seen: string[] = [];
    for (let cursor: unknown = ''; typeof cursor === 'string'; ) {
      const { json } = await admin.get(`${path}?event=traced_parcels.*&perPage=1&cursor=${cursor}`);
      seen.push(...listAt(json, 'data').map((one) => `${one.event} ${one.record_id}`));
      cursor = (json as { next: unknown }).next;
    }
    assert.deepEqual(seen, [
      `traced_parcels.create ${other}`,
      `traced_parcels.update ${id}`,
      `traced_parcels.create ${id}`,
    ]);
  });

  await t.test('one event has its body and every attempt [webhooks §8.3]', async () => {
    const [first] = listAt((await admin.get(`${of}&event=traced_parcels.create`)).json, 'data');
    const { json } = await admin.get(`${path}/${first?.id}`);
    assert.equal(textAt(json, 'data.body.data.record.to'), 'Ann');
    const failed = listAt(json, 'data.deliveries').find(({ webhook_id }) => webhook_id === bad.id);
    assert.deepEqual([failed?.status, failed?.response_body, failed?.next_attempt_at_ms], ['dead', '<script>', null]);
    const attempts = listAt(failed, 'attempts');
    assert.deepEqual(
      attempts.map(({ response_code }) => response_code),
      [500],
    );
    assert.ok(attempts.every(({ at_ms, duration_ms }) => Number(at_ms) > since * 1000 && Number(duration_ms) >= 0));
  });

  await t.test('the summary counts deliveries by status and webhook [webhooks §8.4]', async () => {
    const { json } = await admin.get(`/api/v1/admin/deliveries/summary?since=${since}&buckets=1`);
    const webhooks = listAt(json, 'data.webhooks').filter(({ id }) => id === good.id || id === bad.id);
    assert.deepEqual(
      webhooks.map(({ name, success, dead }) => [name, success, dead]),
      [
        ['good', 3, 0],
        ['bad', 0, 2],
      ],
    );
    assert.ok(listAt(json, 'data.buckets').some(({ success, dead }) => Number(success) >= 3 && Number(dead) >= 2));
  });
  for (const { id } of [good, bad]) await admin.delete(`${webhooksPath}/${id}`);
});
