import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, afterEach, before, describe, it } from 'node:test';
import { nanos } from '@nats-io/transport-node';
import { webhooksConsumer } from '@recordbus/bus';
import { newId } from '@recordbus/database';
import { readMetrics } from '@recordbus/shared/metrics';
import type { Service } from '@recordbus/shared/service';
import { eventually } from '@recordbus/shared/testing';
import { startReceiver, type TestReceiver } from '../test/test-receiver.ts';
import { secret, skip, startTestWebhooks, type TestWebhooks } from '../test/test-webhooks.ts';

describe('the webhooks service', { skip }, () => {
  let stack: TestWebhooks;
  const replicas: Service[] = [];
  const receivers: TestReceiver[] = [];

  before(async () => {
    stack = await startTestWebhooks();
    replicas.push(await stack.startReplica(), await stack.startReplica());
    // The service creates the stream itself.
    await eventually(async () => {
      try {
        await stack.emit('before.anything');
        return true;
      } catch {
        return false;
      }
    });
  });
  after(() => stack.stop());
  afterEach(async () => {
    for (const receiver of receivers.splice(0)) await receiver.close();
    await stack.database.query({ text: 'delete from system.webhooks', values: [] });
  });

  async function receive(): Promise<TestReceiver> {
    const receiver = await startReceiver();
    receivers.push(receiver);
    return receiver;
  }

  const finished = async (webhookId: string, count: number) => {
    await eventually(async () => {
      const rows = await stack.deliveries(webhookId);
      return rows.filter(({ status }) => status !== 'pending').length >= count;
    }, 60_000);
    return stack.deliveries(webhookId);
  };

  it('delivers a signed event with the text of its data unchanged', async () => {
    const receiver = await receive();
    const webhook = await stack.addWebhook({ url: receiver.url, headers: { Authorization: 'Bearer x' } });
    const id = await stack.emit('posts.create', '{"record":{"big":12345678901234567890, "one":1.0,"nul":"\\u0000"}}');
    const [row] = await finished(webhook, 1);
    assert.equal(row?.status, 'success');
    assert.equal(row.attempt, 1);
    assert.equal(row.attempts, 1);
    assert.equal(row.queued, 0);
    assert.equal(row.response_code, 200);
    assert.equal(row.response_body, 'thanks');
    const [request] = receiver.received;
    assert.ok(request);
    assert.match(
      request.body,
      new RegExp(
        `^\\{"id":"${id}","event":"posts.create","timestamp":\\d+,"data":\\{"record":\\{"big":12345678901234567890, "one":1.0,"nul":"\\\\u0000"\\}\\}\\}$`,
      ),
    );
    const { headers } = request;
    assert.equal(headers['x-service-event'], 'posts.create');
    assert.equal(headers['x-service-delivery'], row.id);
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers.authorization, 'Bearer x');
    const stamp = headers['x-service-timestamp'];
    const own = createHmac('sha256', secret).update(`${stamp}.${request.body}`).digest('hex');
    assert.equal(headers['x-service-signature'], `sha256=${own}`);
    const standard = createHmac('sha256', Buffer.alloc(24, 7))
      .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${request.body}`)
      .digest('base64');
    assert.equal(headers['webhook-signature'], `v1,${standard}`);
  });

  it('sends an event to the webhooks whose patterns match, once each', async () => {
    const receiver = await receive();
    const patterns: [pattern: string, expected: number][] = [
      ['posts.create', 1],
      ['posts.*', 2],
      ['*', 3],
      ['post.*', 0],
      ['posts.delete', 0],
    ];
    const webhooks = await Promise.all(
      patterns.map(([events]) => stack.addWebhook({ url: receiver.url, events: [events, events] })),
    );
    const events = ['posts.create', 'posts.update', 'tags.create'];
    const ids = await Promise.all(events.map((event) => stack.emit(event)));
    await stack.emit('posts.create', '{}', ids[0]);
    await eventually(() => receiver.received.length >= 6);
    for (const [index, webhook] of webhooks.entries()) {
      const rows = await finished(webhook, patterns[index]?.[1] ?? 0);
      assert.equal(rows.length, patterns[index]?.[1]);
    }
    assert.equal(receiver.received.length, 6);
  });

  it('sends no events from before a webhook was created or while it was disabled', async () => {
    const receiver = await receive();
    const known = await stack.addWebhook({ url: receiver.url, events: ['mark'] });
    await stack.emit('posts.create');
    const webhook = await stack.addWebhook({ url: receiver.url });
    const setActive = (operator: '+' | '-') =>
      stack.database.query({
        text: `update system.webhooks set active = active ${operator} tstzmultirange(tstzrange(now(), null)) where id = $1`,
        values: [webhook],
      });
    await stack.emit('posts.first');
    await finished(webhook, 1);
    await setActive('-');
    await stack.emit('posts.second');
    await setActive('+');
    await stack.emit('posts.third');
    await stack.emit('mark');
    await finished(known, 1);
    const rows = await finished(webhook, 3);
    assert.deepEqual(rows.map(({ event }) => event).sort(), ['mark', 'posts.first', 'posts.third']);
  });

  it('retries a failed attempt with the same delivery id and a doubling backoff', async () => {
    const receiver = await receive();
    receiver.answer = (response) => response.writeHead(receiver.received.length < 4 ? 503 : 204).end();
    const webhook = await stack.addWebhook({ url: receiver.url, retryDelayMs: 200 });
    await stack.emit('posts.create');
    const [row] = await finished(webhook, 1);
    assert.equal(row?.status, 'success');
    assert.equal(row.attempt, 4);
    assert.equal(row.attempts, 4);
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size, 1);
    const gaps = receiver.received.slice(1).map(({ atMs }, index) => atMs - (receiver.received[index]?.atMs ?? 0));
    for (const [index, gapMs] of gaps.entries()) {
      assert.ok(gapMs >= 200 * 2 ** index && gapMs < 200 * 2 ** index + 1500, `gap ${index} was ${gapMs} ms`);
    }
  });

  it('gives up after retry_max retries', async () => {
    const receiver = await receive();
    receiver.answer = (response) => response.writeHead(302, { Location: '/other' }).end(Buffer.from([0x61, 0, 0xff]));
    const webhook = await stack.addWebhook({ url: receiver.url, retryMax: 1 });
    await stack.emit('posts.create');
    const [row] = await finished(webhook, 1);
    assert.equal(row?.status, 'dead');
    assert.equal(row.attempt, 2);
    assert.equal(row.response_code, 302);
    assert.equal(row.response_body, 'a\ufffd\ufffd');
    assert.equal(receiver.received.length, 2);
  });

  it('gives up at once on 410', async () => {
    const receiver = await receive();
    receiver.answer = (response) => response.writeHead(410).end();
    const webhook = await stack.addWebhook({ url: receiver.url });
    await stack.emit('posts.create');
    const [row] = await finished(webhook, 1);
    assert.deepEqual([row?.status, row?.attempt, receiver.received.length], ['dead', 1, 1]);
  });

  it('waits as long as Retry-After says', async () => {
    const receiver = await receive();
    receiver.answer = (response) =>
      response.writeHead(receiver.received.length === 1 ? 429 : 200, { 'Retry-After': '1' }).end();
    const webhook = await stack.addWebhook({ url: receiver.url });
    await stack.emit('posts.create');
    await finished(webhook, 1);
    const [first, second] = receiver.received;
    assert.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= 1000);
  });

  it('counts a timeout and a refused connection as attempts', async () => {
    const receiver = await receive();
    receiver.answer = () => {};
    const slow = await stack.addWebhook({ url: receiver.url, retryMax: 0, timeoutMs: 200 });
    const closed = await stack.addWebhook({ url: 'http://127.0.0.1:9/', retryMax: 0 });
    await stack.emit('posts.create');
    const [[late], [refused]] = [await finished(slow, 1), await finished(closed, 1)];
    assert.deepEqual([late?.status, late?.attempt, late?.response_code], ['dead', 1, null]);
    assert.match(late?.error ?? '', /timeout/);
    assert.deepEqual([refused?.status, refused?.attempt], ['dead', 1]);
  });

  it('ends deliveries to a denied range at once, also those that have to wait', async () => {
    const receiver = await receive();
    const webhook = await stack.addWebhook({ url: receiver.url });
    const unknown = await stack.addWebhook({ url: 'http://no-such-name.invalid/' });
    await stack.database.query({
      text: `update system.webhooks set paused_until = now() + interval '1 hour', failing_since = now(), failures = 9`,
      values: [],
    });
    await stack.emit('posts.create');
    await eventually(async () => (await stack.deliveries(webhook)).length === 1);
    await stack.setDenied('127.0.0.0/8');
    const [row] = await finished(webhook, 1);
    await stack.setDenied('off');
    assert.deepEqual([row?.status, row?.attempt, row?.attempts, row?.queued], ['dead', 0, 0, 0]);
    assert.match(row?.error ?? '', /^egress blocked:/);
    assert.equal(receiver.received.length, 0);
    // A name that does not resolve is not denied: its delivery waits for the attempt.
    assert.deepEqual(
      (await stack.deliveries(unknown)).map(({ status, queued }) => [status, queued]),
      [['pending', 1]],
    );
  });

  it('sends no request to a denied range', async () => {
    const receiver = await receive();
    await stack.setDenied('127.0.0.0/8');
    const webhook = await stack.addWebhook({ url: receiver.url });
    await stack.emit('posts.create');
    const [row] = await finished(webhook, 1);
    await stack.setDenied('off');
    assert.deepEqual([row?.status, row?.attempt, row?.attempts], ['dead', 0, 0]);
    assert.match(row?.error ?? '', /^egress blocked:/);
    assert.equal(receiver.received.length, 0);
  });

  it('parks a message that is not an event and continues', async () => {
    const receiver = await receive();
    const webhook = await stack.addWebhook({ url: receiver.url });
    const nested = '['.repeat(200_000) + ']'.repeat(200_000);
    await stack.publish('bad.json', '{');
    await stack.publish('bad.bytes', new Uint8Array([0xff, 0xfe]));
    await stack.publish('bad.shape', '{"id":1}');
    await stack.publish(
      'bad.depth',
      `{"id":"${newId()}","event":"bad","timestamp":1,"data":${nested},"actor":{"type":"guest","id":null},"request_id":null}`,
    );
    await stack.emit('posts.create');
    const rows = await finished(webhook, 1);
    assert.deepEqual(
      rows.map(({ event }) => event),
      ['posts.create'],
    );
    const parked = await stack.database.query<{ subject: string }>({
      text: 'select subject from system.parked_messages order by id',
      values: [],
    });
    assert.equal(parked.length, 4);
  });

  it('sends all of an event that the stream only refers to', async () => {
    const receiver = await receive();
    const webhook = await stack.addWebhook({ url: receiver.url });
    const id = newId();
    const rest = '"actor":{"type":"guest","id":null},"request_id":null';
    await stack.database.query({
      text: 'insert into system.large_events (id, body) values ($1, $2)',
      values: [id, `{"id":"${id}","event":"big.create","timestamp":5,"data":{"record":{"t":1}},${rest}}`],
    });
    await stack.publish(
      'big.create',
      `{"id":"${id}","event":"big.create","timestamp":5,"data":null,${rest},"reference":{"type":"large_event","id":"${id}","bytes":9}}`,
    );
    await finished(webhook, 1);
    assert.equal(
      receiver.received[0]?.body,
      `{"id":"${id}","event":"big.create","timestamp":5,"data":{"record":{"t":1}}}`,
    );
  });

  it('repeats the attempt of a process that died, and gives up after three', async () => {
    const receiver = await receive();
    const webhook = await stack.addWebhook({ url: receiver.url });
    const disable = `update system.webhooks set active = '{}' where id = $1`;
    await stack.database.query({ text: disable, values: [webhook] });
    const enqueue = async (lostLeases: number) => {
      const id = newId();
      await stack.database.query({
        text: `with event as (insert into system.events (id, occurred_at, event, body) values ($1, now(), 'a.b', '{}')),
          delivery as (
            insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status)
            values ($1, now(), $1, $2, 'a.b', 'pending')
          )
          insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id, lease_until, lease_token, lost_leases)
          values ($1, now(), $1, $2, now() - interval '1 second', gen_random_uuid(), $3)`,
        values: [id, webhook, lostLeases],
      });
    };
    await enqueue(0);
    await enqueue(2);
    await stack.database.query({
      text: `update system.webhooks set active = tstzmultirange(tstzrange(now(), null)) where id = $1`,
      values: [webhook],
    });
    stack.bus.notify('webhooks');
    const rows = await finished(webhook, 2);
    assert.deepEqual(
      rows.map(({ status, attempt, error }) => [status, attempt, error]),
      [
        ['success', 1, null],
        ['dead', 0, 'delivery interrupted'],
      ],
    );
    assert.equal(receiver.received.length, 1);
  });

  it('measures waiting deliveries, attempts under way and results', async () => {
    const receiver = await receive();
    const webhook = await stack.addWebhook({ url: receiver.url, retryMax: 0 });
    const values = async () => {
      const families = (await Promise.all(replicas.map(({ metrics }) => metrics && readMetrics(metrics)))).flat();
      return (name: string, label = '') =>
        families
          .filter((family) => family?.name === name)
          .flatMap((family) => family?.samples ?? [])
          .filter(({ labels }) => label === '' || Object.values(labels).includes(label))
          .reduce((sum, { value }) => sum + value, 0);
    };
    const before = await values();
    receiver.answer = (response) => response.writeHead(receiver.received.length === 1 ? 500 : 200).end();
    await stack.emit('posts.create');
    await finished(webhook, 1);
    await stack.emit('posts.create');
    await finished(webhook, 2);
    const counted = async (result: string) => (await values())('recordbus_webhook_attempts_total', result);
    const name = 'recordbus_webhook_attempts_total';
    await eventually(async () => (await counted('success')) === before(name, 'success') + 1);
    await eventually(async () => (await counted('refused')) === before(name, 'refused') + 1);
    const after = await values();
    assert.equal(after('recordbus_webhook_deliveries_pending'), 0);
    assert.equal(after('recordbus_webhook_attempts_under_way'), 0);
    await eventually(async () => (await values())('recordbus_stream_lag') === 0);
  });

  it('updates a consumer that an older version created', async () => {
    const { consumers } = await stack.bus.jetstreamManager();
    const { name } = stack.stream;
    await consumers.update(name, webhooksConsumer, { max_ack_pending: 7, ack_wait: nanos(5000) });
    const { config: wanted } = await consumers.info(name, webhooksConsumer);
    assert.equal(wanted.max_ack_pending, 7);
    replicas.push(await stack.startReplica());
    await eventually(async () => (await consumers.info(name, webhooksConsumer)).config.max_ack_pending === 1000);
    assert.equal((await consumers.info(name, webhooksConsumer)).config.ack_wait, nanos(30_000));
  });

  it('lets a receiver that hangs delay only its own webhook', async () => {
    const hanging = await receive();
    hanging.answer = () => {};
    const healthy = await receive();
    const stalled: string[] = [];
    for (let index = 0; index < 20; index += 1)
      stalled.push(await stack.addWebhook({ url: hanging.url, events: ['load'], timeoutMs: 60_000, retryMax: 0 }));
    const webhook = await stack.addWebhook({ url: healthy.url, events: ['load'] });
    await Promise.all(Array.from({ length: 60 }, () => stack.emit('load')));
    await finished(webhook, 60);
    const ofStalled = (await Promise.all(stalled.map((id) => stack.deliveries(id)))).flat();
    assert.ok(ofStalled.length > 0 && ofStalled.every(({ status }) => status === 'pending'));
  });

  it('drains a burst, one delivery for each event, by both replicas', async () => {
    const receiver = await receive();
    const webhook = await stack.addWebhook({ url: receiver.url });
    const count = 2000;
    for (let sent = 0; sent < count; sent += 100)
      await Promise.all(Array.from({ length: 100 }, () => stack.emit('burst')));
    assert.equal((await finished(webhook, count)).length, count);
    // Requests are not counted: on a busy machine leases can run out, and their deliveries are sent again.
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size, count);
  });
});
