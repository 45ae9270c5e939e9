import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '@recordbus/testing';
import { skip } from '../../test/test-admin.ts';
import { path, testWebhookRoutes } from '../../test/test-webhook-routes.ts';
import { deliveryJson } from '../webhooks/delivery-schema.ts';

describe("a webhook's deliveries", { skip }, () => {
  const { call, database, create, sendTest, endDelivery } = testWebhookRoutes();

  it("have a test's payload", async () => {
    const webhook = await create();
    const delivery = await sendTest(webhook.id);
    assert.equal(delivery.event, 'webhooks.test');
    assert.equal(delivery.status, 'pending');
    assert.deepEqual([delivery.attempt, delivery.attempts, delivery.completed_at], [0, [], null]);
    assert.ok(delivery.next_attempt_at);
    assert.equal(delivery.payload?.event, 'webhooks.test');
    assert.equal(delivery.payload?.id, delivery.event_id);
    const one = await call('GET', `${path}/${webhook.id}/deliveries/${delivery.id}`);
    assert.deepEqual(one.body.data, delivery);
  });

  it('are listed newest first, by page, status and event', async () => {
    const webhook = await create();
    const made = [await sendTest(webhook.id), await sendTest(webhook.id), await sendTest(webhook.id)];
    await endDelivery(made[0]?.id ?? '', 'dead');
    const list = async (search: string) => {
      const { status, body } = await call('GET', `${path}/${webhook.id}/deliveries${search}`);
      assert.equal(status, 200);
      return {
        ...body,
        data: (body.data as { id: string }[]).map(({ id }) => made.findIndex((one) => one.id === id)),
      };
    };
    assert.deepEqual(await list(''), { data: [2, 1, 0], page: 1, perPage: 30, totalItems: 3, totalPages: 1 });
    assert.deepEqual(await list('?page=2&perPage=2'), {
      data: [0],
      page: 2,
      perPage: 2,
      totalItems: 3,
      totalPages: 2,
    });
    assert.deepEqual((await list('?status=dead')).data, [0]);
    assert.deepEqual((await list('?event=webhooks.test')).data, [2, 1, 0]);
    assert.deepEqual(await list('?event=posts.create'), {
      data: [],
      page: 1,
      perPage: 30,
      totalItems: 0,
      totalPages: 0,
    });
    for (const bad of ['?page=x', '?perPage=1.5', '?status=done'])
      assert.equal((await call('GET', `${path}/${webhook.id}/deliveries${bad}`)).status, 400, bad);
  });

  it('are created again for the same event', async () => {
    const webhook = await create();
    const first = await sendTest(webhook.id);
    const { status, body } = await call('POST', `${path}/${webhook.id}/deliveries/${first.id}/redeliver`);
    assert.equal(status, 201);
    const second = deliveryJson.strict().parse(body.data);
    assert.notEqual(second.id, first.id);
    assert.equal(second.event_id, first.event_id);
    assert.deepEqual(second.payload, first.payload);
  });

  it('are replayed since a time, with each event once', async () => {
    const webhook = await create();
    const made = [await sendTest(webhook.id), await sendTest(webhook.id), await sendTest(webhook.id)];
    await endDelivery(made[0]?.id ?? '', 'dead');
    await endDelivery(made[1]?.id ?? '', 'success');
    const replay = async (body: object) => (await call('POST', `${path}/${webhook.id}/replay`, body)).body.data;
    assert.deepEqual(await replay({ since: 0, status: 'dead' }), { count: 1 });
    assert.deepEqual(await replay({ since: 0 }), { count: 2 });
    assert.deepEqual(await replay({ since: Math.floor(Date.now() / 1000) + 100 }), { count: 0 });
    for (const [field, body] of [
      ['since', {}],
      ['since', { since: 'yesterday' }],
      ['status', { since: 0, status: 'done' }],
    ] as const) {
      const answer = await call('POST', `${path}/${webhook.id}/replay`, body);
      assert.deepEqual([answer.status, Object.keys(answer.body.details ?? {})], [422, [field]]);
    }
  });

  it('are deleted with their webhook, without a deadlock, while an outcome is recorded', async () => {
    const webhook = await create();
    const { id } = await sendTest(webhook.id);
    let deleting: Promise<{ status: number }> | undefined;
    // Outcomes are recorded in this order: first the row in the queue, then the delivery.
    await database().transaction(async (query) => {
      await query({ text: 'delete from system.delivery_queue where delivery_id = $1', values: [id] });
      deleting ??= call('DELETE', `${path}/${webhook.id}`);
      await eventually(async () => {
        const waiting = await database().query({
          text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          values: [],
        });
        return waiting.length > 0;
      });
      // A transaction that waits for the queue must not hold the delivery.
      await query({ text: 'select 1 from system.deliveries where id = $1 for update nowait', values: [id] });
    });
    assert.equal((await deleting)?.status, 200);
  });

  it('are deleted with their webhook', async () => {
    const webhook = await create();
    await sendTest(webhook.id);
    await call('DELETE', `${path}/${webhook.id}`);
    const left = await database().query({
      text: 'select id from system.deliveries where webhook_id = $1 union select delivery_id from system.delivery_queue where webhook_id = $1',
      values: [webhook.id],
    });
    assert.deepEqual(left, []);
  });
});
