import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, textAt } from '../harness/json.ts';
import { differences, is } from '../harness/matching.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { verifyDelivery } from '../harness/signature.ts';
import { onEachTopology, type Target } from '../harness/target.ts';
import { allowLoopback, createWebhook, deliveriesOf, deliveryIn, webhooksPath as path } from '../harness/webhook.ts';
import { unknownId } from './blog.ts';

const webhookJson = (members: object = {}) => ({
  id: is.uuid,
  name: 'sink',
  url: 'https://receiver.example/hook',
  events: ['*'],
  secret: is.matching(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/),
  headers: {},
  enabled: true,
  retry_max: 3,
  retry_backoff: 'exponential',
  retry_delay_ms: 1000,
  timeout_ms: 30_000,
  created_at: is.now,
  updated_at: is.now,
  ...members,
});

const definition = { name: 'sink', url: 'https://receiver.example/hook', events: ['*'] };

onEachTopology('an admin defines webhooks', async (t, target) => {
  const admin = await target.admin();
  const first = await admin.post(path, definition);
  const create = (body: object): Pick<Scenario, 'as' | 'request' | 'body'> => ({
    as: 'admin',
    request: `POST ${path}`,
    body,
  });
  const given = {
    name: 'all set',
    url: 'http://receiver.example:8080/a?b=c',
    events: ['posts.create', 'posts.*'],
    headers: { Authorization: 'Bearer of-the-receiver' },
    enabled: false,
    retry_max: 0,
    retry_backoff: 'fixed',
    retry_delay_ms: 100,
    timeout_ms: 60_000,
  };
  const wrong: Record<string, readonly [field: string, value: unknown]> = {
    'no URL': ['url', undefined],
    'a URL that is none': ['url', 'receiver'],
    'a URL of another protocol': ['url', 'ftp://receiver.example'],
    'a URL with credentials': ['url', 'https://ada:secret@receiver.example'],
    'no events': ['events', undefined],
    'events that are no list': ['events', '*'],
    'a pattern that is none': ['events', ['posts.*.x*']],
    'a retry_max above 50': ['retry_max', 51],
    'a negative retry_max': ['retry_max', -1],
    'a backoff that is unknown': ['retry_backoff', 'random'],
    'a delay below 100 ms': ['retry_delay_ms', 99],
    'a timeout above 60 s': ['timeout_ms', 60_001],
    'a timeout that is no number': ['timeout_ms', 'long'],
    'an unknown key': ['colour', 'red'],
  };
  await runScenarios(t, target, [
    {
      name: 'with the defaults',
      ...create(definition),
      expect: { status: 201, json: { data: webhookJson() } },
      spec: 'webhooks §1.2',
    },
    {
      name: 'with all members',
      ...create(given),
      expect: { status: 201, json: { data: webhookJson(given) } },
      spec: 'webhooks §1.2',
    },
    {
      name: 'the list has the webhook',
      as: 'admin',
      request: `GET ${path}`,
      expect: { status: 200, json: is.containing({ data: is.listWith(webhookJson(given)) }) },
      spec: 'webhooks §1.1',
    },
    {
      name: 'a webhook is read',
      as: 'admin',
      request: `GET ${path}/${first.id}`,
      expect: { status: 200, json: { data: webhookJson({ id: first.id, secret: first.secret }) } },
      spec: 'webhooks §1.1',
    },
    {
      name: 'an unknown webhook',
      as: 'admin',
      request: `GET ${path}/${unknownId}`,
      expect: refused.notFound,
      spec: 'webhooks §1.1',
    },
    ...Object.entries(wrong).map(
      ([name, [field, value]]): Scenario => ({
        name,
        ...create({ ...definition, [field]: value }),
        expect: refused.naming(field),
        spec: 'webhooks §1.2',
      }),
    ),
    ...['Host', 'content-length', 'Content-Type', 'Connection', 'X-Service-Signature', 'webhook-signature'].map(
      (header): Scenario => ({
        name: `the header ${header} may not be set`,
        ...create({ ...definition, headers: { [header]: 'x' } }),
        expect: refused.naming(header),
        spec: 'webhooks §1.4',
      }),
    ),
    {
      name: 'a header with a line break',
      ...create({ ...definition, headers: { 'X-Key': 'a\r\nHost: b' } }),
      expect: refused.naming('X-Key'),
      spec: 'webhooks §1.4',
    },
  ]);
});

interface Members {
  readonly events?: readonly string[];
  readonly [name: string]: unknown;
}

onEachTopology('a write is delivered to a receiver', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [{ name: 'title', type: 'text' }] });
  const webhook = ({ events = ['notes.*'], ...members }: Members = {}) =>
    createWebhook(admin, receiver.url, events, members);

  await t.test('signed, with the event in its body [webhooks §3.1]', async (t) => {
    const { id, secret } = await webhook({ headers: { Authorization: 'Bearer of-the-receiver' } });
    t.after(() => admin.delete(`${path}/${id}`));
    const from = receiver.deliveries.length;
    const record = await target.guest.create('notes', { title: 'Hello' });
    const delivery = (await receiver.received(from + 1))[from];
    assert.ok(delivery);
    verifyDelivery(delivery.headers, delivery.text, String(secret));
    assert.deepEqual(
      differences(delivery.json, {
        id: is.uuid,
        event: 'notes.create',
        timestamp: is.now,
        version: String(record.updated),
        data: { record: { ...record } },
      }),
      [],
    );
    const logged = await deliveryIn(admin, id, 'success');
    assert.deepEqual(
      differences(
        delivery.headers,
        is.containing({
          'x-service-event': 'notes.create',
          'x-service-delivery': logged.id,
          'x-service-timestamp': is.matching(/^\d+$/),
          'content-type': is.matching(/^application\/json/),
          authorization: 'Bearer of-the-receiver',
        }),
      ),
      [],
    );
    assert.deepEqual(differences(logged, loggedDelivery(id, delivery.json, { title: 'Hello' })), []);
  });

  await t.test('update and delete carry the changed fields and the previous record [webhooks §3.3]', async (t) => {
    const { id } = await webhook();
    t.after(() => admin.delete(`${path}/${id}`));
    const from = receiver.deliveries.length;
    const record = await admin.create('notes', { title: 'Before' });
    await admin.patch(`/api/v1/notes/${record.id}`, { title: 'After' });
    await admin.delete(`/api/v1/notes/${record.id}`);
    const bodies = (await receiver.received(from + 3)).slice(from).map(({ json }) => json);
    const dataOf = (event: string) => bodies.find((body) => body.event === event)?.data;
    const after = { ...record, title: 'After', updated: is.number };
    assert.deepEqual(
      differences(dataOf('notes.update'), { record: after, previous: { ...record }, changed: ['title'] }),
      [],
    );
    assert.deepEqual(differences(dataOf('notes.delete'), { record: after }), []);
  });

  await t.test('only the events that its patterns match [webhooks §1.3]', async (t) => {
    const { id } = await webhook({ events: ['notes.delete', 'other.*'] });
    t.after(() => admin.delete(`${path}/${id}`));
    const from = receiver.deliveries.length;
    const record = await admin.create('notes', {});
    await admin.delete(`/api/v1/notes/${record.id}`);
    const [first] = (await receiver.received(from + 1)).slice(from);
    assert.equal(first?.json.event, 'notes.delete');
    assert.equal((await deliveriesOf(admin, id)).length, 1);
  });

  await t.test('nothing while it is disabled [webhooks §1.6]', async (t) => {
    const disabled = await webhook({ enabled: false });
    const enabled = await webhook();
    t.after(() => Promise.all([disabled, enabled].map(({ id }) => admin.delete(`${path}/${id}`))));
    await admin.create('notes', {});
    await deliveryIn(admin, enabled.id, 'success');
    assert.deepEqual(await deliveriesOf(admin, disabled.id), []);
  });

  await t.test('again after a failure, with the same id and a new signature [webhooks §2.7]', async (t) => {
    const { id, secret } = await webhook({ timeout_ms: 300 });
    t.after(() => admin.delete(`${path}/${id}`));
    const from = receiver.deliveries.length;
    receiver.behave(
      { status: 500, body: 'out of order' },
      { status: 302, headers: { Location: '/elsewhere' } },
      'reset',
      {
        status: 204,
      },
    );
    await admin.create('notes', {});
    const attempts = (await receiver.received(from + 4)).slice(from);
    const { attempts: logged, attempt } = await deliveryIn(admin, id, 'success');
    assert.equal(attempt, 4);
    for (const { headers, text } of attempts) verifyDelivery(headers, text, String(secret));
    assert.equal(new Set(attempts.map(({ headers }) => headers['x-service-delivery'])).size, 1);
    assert.equal(new Set(attempts.map(({ text }) => text)).size, 1);
    assert.deepEqual(new Set(attempts.map(({ path }) => path)), new Set(['/hook']));
    const row = (response_code: unknown, error: unknown) => ({
      at: is.now,
      response_code,
      duration_ms: is.number,
      error,
    });
    assert.deepEqual(
      differences(logged, [row(500, is.anything), row(302, is.anything), row(null, is.text), row(204, null)]),
      [],
    );
    assertBackoff(
      attempts.map(({ atMs }) => atMs),
      100,
    );
  });

  await t.test('at most retry_max + 1 times, then the delivery is dead [webhooks §2.3]', async (t) => {
    const { id } = await webhook({ retry_max: 1, retry_backoff: 'fixed' });
    t.after(() => admin.delete(`${path}/${id}`));
    const from = receiver.deliveries.length;
    receiver.behave({ status: 503, body: 'x'.repeat(5000) });
    await admin.create('notes', {});
    const dead = await deliveryIn(admin, id, 'dead');
    assert.equal(receiver.deliveries.length - from, 2);
    assert.deepEqual(
      differences(
        dead,
        is.containing({
          attempt: 2,
          response_code: 503,
          response_body: 'x'.repeat(2048),
          next_attempt_at: null,
          completed_at: is.now,
        }),
      ),
      [],
    );
    receiver.behave({ status: 200 });
  });

  for (const behaviour of ['hang', 'drip'] as const) {
    await t.test(`a receiver that would ${behaviour} forever is cut off [webhooks §2.2]`, async (t) => {
      const { id } = await webhook({ retry_max: 0, timeout_ms: 200 });
      t.after(() => admin.delete(`${path}/${id}`));
      receiver.behave(behaviour);
      await admin.create('notes', {});
      assert.equal((await deliveryIn(admin, id, 'dead')).attempt, 1);
      receiver.behave({ status: 200 });
    });
  }

  await t.test('410 Gone ends it [webhooks §2.1]', async (t) => {
    const { id } = await webhook();
    t.after(() => admin.delete(`${path}/${id}`));
    receiver.behave({ status: 410 });
    await admin.create('notes', {});
    assert.equal((await deliveryIn(admin, id, 'dead')).attempt, 1);
    receiver.behave({ status: 200 });
  });

  await t.test('a test event reaches only its webhook [webhooks §4.3]', async (t) => {
    const [tested, other] = [await webhook({ events: ['*'] }), await webhook({ events: ['*'] })];
    t.after(() => Promise.all([tested, other].map(({ id }) => admin.delete(`${path}/${id}`))));
    const from = receiver.deliveries.length;
    const { id } = await admin.post(`${path}/${tested.id}/test`, {}, 200);
    const [delivery] = (await receiver.received(from + 1)).slice(from);
    assert.equal(delivery?.headers['x-service-delivery'], id);
    assert.equal(delivery?.json.event, 'webhooks.test');
    assert.deepEqual(await deliveriesOf(admin, other.id), []);
  });

  await t.test('an admin redelivers a delivery [webhooks §4.4]', async (t) => {
    const { id } = await webhook();
    t.after(() => admin.delete(`${path}/${id}`));
    const from = receiver.deliveries.length;
    await admin.create('notes', {});
    const first = await deliveryIn(admin, id, 'success');
    const again = await admin.post(`${path}/${id}/deliveries/${first.id}/redeliver`, {});
    const bodies = (await receiver.received(from + 2)).slice(from);
    assert.notEqual(again.id, first.id);
    assert.equal(again.event_id, first.event_id);
    assert.equal(bodies[1]?.headers['x-service-delivery'], again.id);
    assert.equal(bodies[1]?.json.id, bodies[0]?.json.id);
    await eventually('both are listed, newest first', async () => {
      const listed = await deliveriesOf(admin, id);
      return listed.length === 2 && listed[0]?.id === again.id && listed[1]?.id === first.id;
    });
    const read = await admin.get(`${path}/${id}/deliveries/${first.id}`);
    assert.equal(textAt(read.json, 'data.id'), first.id);
  });
});

onEachTopology('deliveries do not reach internal addresses', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '' });
  await admin.post('/api/v1/collections', { name: 'letters', type: 'base', fields: [] });
  await t.test('a loopback address is denied unless it is allowed [webhooks §7.1]', async () => {
    await assertBlocked(target, receiver, receiver.url);
  });
  await t.test('other notations of the address are denied [webhooks §7.2]', async () => {
    const { port } = new URL(receiver.url);
    for (const host of ['localhost', '2130706433', '127.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0'])
      await assertBlocked(target, receiver, `http://${host}:${port}/hook`);
  });
  await t.test('an allowed address gets the delivery [webhooks §7.1]', async () => {
    await allowLoopback(admin);
    const { id } = await admin.post(path, { ...definition, events: ['letters.*'], url: receiver.url });
    await admin.create('letters', {});
    await receiver.received(1);
    await admin.delete(`${path}/${id}`);
  });
});

async function assertBlocked(target: Target, receiver: Receiver, url: string): Promise<void> {
  const admin = await target.admin();
  const { id } = await admin.post(path, { ...definition, events: ['letters.*'], url });
  await admin.create('letters', {});
  const [delivery] = await eventually(`a delivery to ${url} is dead`, async () => {
    const listed = await deliveriesOf(admin, id, '?status=dead');
    return listed.length > 0 && listed;
  });
  assert.deepEqual(
    differences(delivery, is.containing({ attempt: 0, error: is.matching(/^egress blocked:/), attempts: [] })),
    [],
  );
  assert.equal(receiver.deliveries.length, 0);
  await admin.delete(`${path}/${id}`);
}

const loggedDelivery = (webhookId: unknown, payload: JsonObject, { title }: { title: string }) => ({
  id: is.uuid,
  webhook_id: webhookId,
  event_id: payload.id,
  event: 'notes.create',
  status: 'success',
  attempt: 1,
  response_code: 200,
  response_body: '',
  error: null,
  payload: is.containing({ id: payload.id, data: { record: is.containing({ title }) } }),
  attempts: [{ at: is.now, response_code: 200, duration_ms: is.number, error: null }],
  next_attempt_at: null,
  created_at: is.now,
  updated_at: is.now,
  completed_at: is.now,
});

/** 1, 2, 4 … times the delay (webhooks §2.4). A slow machine makes it longer, nothing makes it shorter. */
function assertBackoff(timesMs: readonly number[], delayMs: number): void {
  timesMs.slice(1).forEach((atMs, index) => {
    const gapMs = atMs - Number(timesMs[index]);
    const leastMs = delayMs * 2 ** index;
    // Both times are rounded to milliseconds.
    assert.ok(gapMs >= leastMs - 2, `attempt ${index + 2} came after ${gapMs} ms instead of ${leastMs}`);
  });
}
