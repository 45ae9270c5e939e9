import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { eventually } from '@recordbus/testing';
import { startReceiver, type TestReceiver } from '../../test/test-receiver.ts';
import { skip, startTestWebhooks, type TestWebhooks } from '../../test/test-webhooks.ts';
import { noteResults } from './note-results.ts';

interface Health {
  readonly enabled: boolean;
  readonly failures: number;
  readonly failing: boolean;
  readonly paused: boolean;
}

describe('a webhook whose receiver keeps failing', { skip }, () => {
  let stack: TestWebhooks;
  let receiver: TestReceiver;

  before(async () => {
    stack = await startTestWebhooks();
    await stack.startReplica();
    await stack.startReplica();
    receiver = await startReceiver();
    await eventually(async () => {
      try {
        await stack.emit('before.anything');
        return true;
      } catch {
        return false;
      }
    });
  });
  after(async () => {
    await receiver.close();
    await stack.stop();
  });
  afterEach(() => stack.database.query({ text: 'delete from system.webhooks', values: [] }));

  const run = <R>(text: string, ...values: unknown[]) => stack.database.query<R>({ text, values });

  async function healthOf(id: string): Promise<Health> {
    const [row] = await run<Health>(
      `select enabled, failures, failing_since is not null as failing, paused_until is not null as paused
        from system.webhooks where id = $1`,
      id,
    );
    return row ?? assert.fail('the webhook does not exist');
  }

  /** Makes the webhook one that has failed for an hour. */
  const failForAnHour = (id: string) =>
    run(`update system.webhooks set failures = 100, failing_since = now() - interval '1 hour' where id = $1`, id);
  const fails = () => {
    receiver.received.length = 0;
    receiver.answer = (response) => response.writeHead(500).end();
  };
  const works = () => {
    receiver.answer = (response) => response.writeHead(200).end();
  };

  it('counts as failing until a success', async () => {
    fails();
    const id = await stack.addWebhook({ url: receiver.url, retryMax: 1 });
    await stack.emit('a.b');
    await eventually(async () => (await healthOf(id)).failures === 2);
    assert.deepEqual(await healthOf(id), { enabled: true, failures: 2, failing: true, paused: false });
    works();
    await stack.emit('a.b');
    await eventually(async () => !(await healthOf(id)).failing);
    assert.deepEqual(await healthOf(id), { enabled: true, failures: 0, failing: false, paused: false });
  });

  it('is not failing after a success, even if the failure before it is written later', async () => {
    fails();
    const id = await stack.addWebhook({ url: receiver.url, retryMax: 1, retryDelayMs: 500 });
    await stack.emit('a.b');
    await eventually(async () => (await healthOf(id)).failures === 1);
    // The replica that makes the first attempt writes the failure while another one makes the second attempt.
    await run('update system.webhooks set failures = 0, failing_since = null where id = $1', id);
    receiver.answer = async (response) => {
      await run('update system.webhooks set failures = 1, failing_since = now() where id = $1', id);
      response.writeHead(200).end();
    };
    await eventually(async () => (await stack.deliveries(id))[0]?.status === 'success');
    await eventually(async () => !(await healthOf(id)).failing);
    assert.equal((await healthOf(id)).failures, 0);
  });

  it("ends its failure run by a success that waits for another replica's failure", async () => {
    const id = await stack.addWebhook({ url: receiver.url });
    const policy = { pauseAfterSec: 0, pauseSec: 0, disableAfterSec: 0 };
    const { noting } = await stack.database.transaction(async (query) => {
      await noteResults(query, [{ webhookId: id, succeeded: false, failures: 1 }], policy);
      const noting = noteResults(stack.database.query, [{ webhookId: id, succeeded: true, failures: 0 }], policy);
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await eventually(async () => (await run(waiting)).length > 0);
      return { noting };
    });
    await noting;
    assert.deepEqual(await healthOf(id), { enabled: true, failures: 0, failing: false, paused: false });
  });

  it('is paused and keeps its events; after the pause one is tried, and its success releases the rest', async () => {
    await stack.set({ 'webhooks.pause_after_seconds': '60', 'webhooks.pause_seconds': '3600' });
    fails();
    const id = await stack.addWebhook({ url: receiver.url, retryMax: 0 });
    await failForAnHour(id);
    await stack.emit('a.b');
    await eventually(async () => (await healthOf(id)).paused);
    const before = receiver.received.length;
    for (let count = 0; count < 10; count += 1) await stack.emit('a.b');
    const pending = async () => (await stack.deliveries(id)).filter(({ status }) => status === 'pending').length;
    await eventually(async () => (await pending()) === 10);

    // After the pause, two replicas try one of ten waiting deliveries, and the next pause begins.
    await run(`update system.webhooks set paused_until = now() where id = $1`, id);
    stack.bus.notify('webhooks');
    await eventually(async () => (await pending()) === 9);
    assert.equal(receiver.received.length, before + 1);
    await eventually(async () => (await healthOf(id)).failures === 102);

    works();
    await run(`update system.webhooks set paused_until = now() where id = $1`, id);
    stack.bus.notify('webhooks');
    await eventually(async () => (await pending()) === 0);
    assert.deepEqual(await healthOf(id), { enabled: true, failures: 0, failing: false, paused: false });
    assert.equal((await stack.deliveries(id)).filter(({ status }) => status === 'success').length, 9);
  });

  it('is not paused when pausing is disabled', async () => {
    await stack.set({ 'webhooks.pause_after_seconds': '0' });
    fails();
    const id = await stack.addWebhook({ url: receiver.url, retryMax: 0 });
    await failForAnHour(id);
    await stack.emit('a.b');
    await eventually(async () => (await healthOf(id)).failures === 101);
    assert.deepEqual(await healthOf(id), { enabled: true, failures: 101, failing: true, paused: false });
  });

  it('is disabled after failing for too long, with one audit row and one event', async () => {
    await stack.set({ 'webhooks.pause_after_seconds': '0', 'webhooks.disable_after_seconds': '1800' });
    fails();
    const id = await stack.addWebhook({ url: receiver.url, retryMax: 0, headers: { Authorization: 'secret' } });
    await failForAnHour(id);
    for (let count = 0; count < 20; count += 1) await stack.emit('a.b');
    await eventually(async () => !(await healthOf(id)).enabled);
    await eventually(async () => (await run('select 1 from system.outbox')).length > 0);
    const audited = await run(`select action, actor_type, target_id from system.audit where target_id = $1`, id);
    assert.deepEqual(audited, [{ action: 'webhooks.disable', actor_type: 'system', target_id: id }]);
    const events = await run<{ event: string; body: string }>('select event, body from system.outbox');
    assert.deepEqual(
      events.map(({ event }) => event),
      ['system.webhook.disabled'],
    );
    const { data, actor } = JSON.parse(events[0]?.body ?? '');
    assert.deepEqual(Object.keys(data.record).sort(), ['failing_since', 'failures', 'id', 'name', 'reason', 'url']);
    assert.deepEqual([data.record.id, actor], [id, { type: 'system', id: null }]);
  });

  it('stays enabled when disabling is turned off', async () => {
    await stack.set({ 'webhooks.disable_after_seconds': '0' });
    fails();
    const id = await stack.addWebhook({ url: receiver.url, retryMax: 0 });
    await failForAnHour(id);
    await stack.emit('a.b');
    await eventually(async () => (await healthOf(id)).failures === 101);
    assert.equal((await healthOf(id)).enabled, true);
  });
});
