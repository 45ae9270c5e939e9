import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { it } from 'node:test';
import { eventually } from '@recordbus/testing';
import { secret } from './test-webhooks.ts';
import type { WebhooksFixture } from './webhooks-fixture.ts';

/** Tests what a delivery contains, and which events a webhook gets. */
export function testDeliveries(fixture: () => WebhooksFixture): void {
  it("delivers a signed event with its data's text unchanged", async () => {
    const { stack, receive, finished } = fixture();
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
    const expected = createHmac('sha256', secret).update(`${stamp}.${request.body}`).digest('hex');
    assert.equal(headers['x-service-signature'], `sha256=${expected}`);
    const standard = createHmac('sha256', Buffer.alloc(24, 7))
      .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${request.body}`)
      .digest('base64');
    assert.equal(headers['webhook-signature'], `v1,${standard}`);
  });

  it('sends an event once to each webhook with a matching pattern', async () => {
    const { stack, receive, finished } = fixture();
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
    const { stack, receive, finished } = fixture();
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
}
