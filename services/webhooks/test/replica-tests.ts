import assert from 'node:assert/strict';
import { it } from 'node:test';
import { webhooksConsumer } from '@recordbus/bus';
import { managerOf } from '@recordbus/bus/testing';
import { readMetrics } from '@recordbus/process/metrics';
import { eventually } from '@recordbus/testing';
import type { WebhooksFixture } from './webhooks-fixture.ts';

const nanos = (ms: number): number => ms * 1_000_000;

/** Tests the replicas' metrics and load. */
export function testReplicas(fixture: () => WebhooksFixture): void {
  it('measures pending deliveries, attempts in progress and results', async () => {
    const { stack, replicas, receive, finished } = fixture();
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
    const { stack, replicas } = fixture();
    const { consumers } = await managerOf(stack.bus);
    const { name } = stack.stream;
    await consumers.update(name, webhooksConsumer, { max_ack_pending: 7, ack_wait: nanos(5000) });
    const { config: older } = await consumers.info(name, webhooksConsumer);
    assert.equal(older.max_ack_pending, 7);
    replicas.push(await stack.startReplica());
    await eventually(async () => (await consumers.info(name, webhooksConsumer)).config.max_ack_pending === 1000);
    assert.equal((await consumers.info(name, webhooksConsumer)).config.ack_wait, nanos(30_000));
  });

  it("delays only a hanging receiver's webhook", async () => {
    const { stack, receive, finished } = fixture();
    const hanging = await receive();
    hanging.answer = () => {};
    const healthy = await receive();
    const stalled: string[] = [];
    for (let index = 0; index < 20; index += 1)
      stalled.push(await stack.addWebhook({ url: hanging.url, events: ['load'], timeoutMs: 60_000, retryMax: 0 }));
    const webhook = await stack.addWebhook({ url: healthy.url, events: ['load'] });
    await Promise.all(Array.from({ length: 60 }, () => stack.emit('load')));
    await finished(webhook, 60);
    const stalledDeliveries = (await Promise.all(stalled.map((id) => stack.deliveries(id)))).flat();
    assert.ok(stalledDeliveries.length > 0 && stalledDeliveries.every(({ status }) => status === 'pending'));
  });

  it('drains a burst on both replicas, with one delivery for each event', async () => {
    const { stack, receive, finished } = fixture();
    const receiver = await receive();
    const webhook = await stack.addWebhook({ url: receiver.url });
    const count = 2000;
    for (let sent = 0; sent < count; sent += 100)
      await Promise.all(Array.from({ length: 100 }, () => stack.emit('burst')));
    assert.equal((await finished(webhook, count)).length, count);
    // Requests are not counted: on a busy machine leases can run out, and their deliveries are sent again.
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size, count);
  });
}
