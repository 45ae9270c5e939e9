import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EgressFailedError } from '@recordbus/egress';
import { type Answer, onesignal, startNotifier } from './test-providers.ts';

const message = { title: 'Hello', body: 'from the bus' };
const a = 'a1b2c3d4-0000-4000-8000-00000000000a';
const b = 'A1B2C3D4-0000-4000-8000-00000000000B';

describe('sending with OneSignal [notifications §2]', () => {
  const notSubscribed = 'All included players are not subscribed';
  const outcomes: [string, Answer, [string, string], RegExp?][] = [
    ['a message that OneSignal accepted', [200, { id: 'm1', external_id: null }], ['sent', 'sent']],
    [
      'a target that is not subscribed',
      [200, { id: 'm1', errors: { invalid_player_ids: [b.toLowerCase()] } }],
      ['sent', 'invalid'],
    ],
    [
      'such a target under the newer name',
      [200, { id: 'm1', errors: { invalid_subscription_ids: [b] } }],
      ['sent', 'invalid'],
    ],
    ['no subscribed target, as a sentence', [200, { id: '', errors: [notSubscribed] }], ['invalid', 'invalid']],
    ['no subscribed target, by id', [200, { errors: { invalid_player_ids: [a, b] } }], ['invalid', 'invalid']],
    [
      'no message and one target that is not subscribed',
      [200, { id: '', errors: { invalid_player_ids: [b] } }],
      ['failed', 'invalid'],
    ],
    [
      'a warning with a message',
      [200, { id: 'm1', errors: ['You must configure iOS notifications'] }],
      ['sent', 'sent'],
    ],
    [
      'no message, for another reason',
      [200, { id: '', errors: ['Message Notifications must have English language content'] }],
      ['failed', 'failed'],
      /English/,
    ],
    ['a wrong key', [403, { errors: ['Access denied.'] }], ['failed', 'failed'], /^Access denied\.$/],
    ['errors with titles', [400, { errors: [{ code: 'x-1', title: 'Too long' }] }], ['failed', 'failed'], /^Too long$/],
    [
      'an error that is one sentence',
      [400, { errors: 'app_id not found' }],
      ['failed', 'failed'],
      /^app_id not found$/,
    ],
    ['errors of another shape', [400, { errors: [7] }], ['failed', 'failed'], /^OneSignal answered 400$/],
    ['HTML', [200, '<html>'], ['failed', 'failed'], /^OneSignal answered 200$/],
    ['no connection', new EgressFailedError('connect ECONNREFUSED', 'ECONNREFUSED'), ['failed', 'failed'], /REFUSED/],
  ];
  for (const [what, answer, [ofA, ofB], words = /^/] of outcomes)
    it(`reports ${what} as ${ofA} and ${ofB}`, async () => {
      const { notifier } = startNotifier(onesignal, { answers: [answer] });
      const { results } = await notifier.send({ to: [a, b, a], ...message });
      assert.deepEqual(
        results.map(({ target, status }) => [target, status]),
        [
          [a, ofA],
          [b, ofB],
        ],
      );
      assert.match(results[1]?.error ?? '', words);
    });

  it('leaves out targets that are not ids, because OneSignal would refuse the whole message', async () => {
    const { notifier, requests } = startNotifier(onesignal, { answers: [[200, { id: 'm' }]] });
    const { results } = await notifier.send({ to: ['phone', a, ''], ...message });
    assert.deepEqual(
      results.map(({ status }) => status),
      ['invalid', 'sent', 'invalid'],
    );
    assert.deepEqual(JSON.parse(requests[0]?.body ?? '').include_subscription_ids, [a]);
    await notifier.send({ to: 'phone', ...message });
    assert.equal(requests.length, 1);
  });

  it('repeats a request with the same idempotency key', async () => {
    const answers: Answer[] = [
      [503, ''],
      [429, '', { 'retry-after': '7' }],
      [429, '', { 'retry-after': new Date(1_800_000_015_000).toUTCString() }],
      [200, { id: 'm' }],
    ];
    const { notifier, requests, waits } = startNotifier(onesignal, { answers });
    assert.equal((await notifier.send({ to: a, ...message })).sent, 1);
    assert.equal(new Set(requests.map(({ body }) => body)).size, 1);
    assert.match(JSON.parse(requests[0]?.body ?? '').idempotency_key, /^[0-9a-f-]{36}$/);
    assert.equal(requests.length, 4);
    assert.equal(waits[1], 7000);
    assert.equal(Math.round(waits.reduce((sum, ms) => sum + ms)), 15_000);
    await notifier.send({ to: a, ...message });
    assert.equal(new Set(requests.map(({ body }) => body)).size, 2);
  });

  it("does not wait longer than the call's time", async () => {
    const hour = startNotifier(onesignal, { answers: [[429, { errors: ['Rate limit'] }, { 'retry-after': '3600' }]] });
    assert.equal((await hour.notifier.send({ to: a, ...message })).results[0]?.error, 'Rate limit');
    assert.equal(hour.requests.length, 1);
    const unspecified = startNotifier(onesignal, { answers: [[429, { errors: ['Rate limit'] }]] });
    await unspecified.notifier.send({ to: a, ...message });
    assert.equal(unspecified.requests.length, 1);
    const busy = startNotifier(onesignal, { answers: [[503, '']] });
    await busy.notifier.send({ to: a, ...message });
    assert.equal(busy.requests.length, 4);
  });
});
