import assert from 'node:assert/strict';
import { it } from 'node:test';
import { newId } from '@recordbus/database';
import type { WebhooksFixture } from './webhooks-fixture.ts';

/** Tests unusual stream messages, and deliveries whose process died. */
export function testMessages(fixture: () => WebhooksFixture): void {
  it('parks a message that is not an event and continues', async () => {
    const { stack, receive, finished } = fixture();
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

  it('sends a whole event that the stream only refers to', async () => {
    const { stack, receive, finished } = fixture();
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

  it("repeats a dead process's attempt, and gives up after three lost leases", async () => {
    const { stack, receive, finished } = fixture();
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
}
