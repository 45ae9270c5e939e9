import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventually } from '@recordbus/testing';
import type { WebhooksFixture } from './webhooks-fixture.ts';

/** Tests attempts that fail, and deliveries that get none. */
export function testFailures(fixture: () => WebhooksFixture): void {
  it('retries a failed attempt with the same delivery id and a doubling backoff', async () => {
    const { stack, receive, finished } = fixture();
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
    for (const [index, gapMs] of gaps.entries()) assert.ok(gapMs >= 200 * 2 ** index, `gap ${index} was ${gapMs} ms`);
  });

  it('gives up after retry_max retries', async () => {
    const { stack, receive, finished } = fixture();
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
    const { stack, receive, finished } = fixture();
    const receiver = await receive();
    receiver.answer = (response) => response.writeHead(410).end();
    const webhook = await stack.addWebhook({ url: receiver.url });
    await stack.emit('posts.create');
    const [row] = await finished(webhook, 1);
    assert.deepEqual([row?.status, row?.attempt, receiver.received.length], ['dead', 1, 1]);
  });

  it('waits as long as Retry-After demands', async () => {
    const { stack, receive, finished } = fixture();
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
    const { stack, receive, finished } = fixture();
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

  it('ends deliveries to a denied range at once, even those that wait for a retry', async () => {
    const { stack, receive, finished } = fixture();
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
    const { stack, receive, finished } = fixture();
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
}
