import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { signatureHeaders } from './sign.ts';

const secretOf = (byte: number) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`;
const signable = {
  deliveryId: '01890000-0000-7000-8000-000000000001',
  event: 'posts.create',
  body: '{"n":1}',
  timestamp: Math.floor(Date.now() / 1000),
};

test("during the overlap both secrets verify with Standard Webhooks' library", () => {
  const headers = Object.fromEntries(
    signatureHeaders({ ...signable, secret: secretOf(1), previousSecret: secretOf(2) }),
  );
  assert.equal(headers['webhook-signature']?.split(' ').length, 2);
  for (const byte of [1, 2]) assert.deepEqual(new Webhook(secretOf(byte)).verify(signable.body, headers), { n: 1 });
  assert.throws(() => new Webhook(secretOf(3)).verify(signable.body, headers));
});

test('after the overlap only the new secret verifies', () => {
  const headers = Object.fromEntries(signatureHeaders({ ...signable, secret: secretOf(1), previousSecret: null }));
  assert.throws(() => new Webhook(secretOf(2)).verify(signable.body, headers));
});

test('any event name can be read from its header', () => {
  const headers = Object.fromEntries(
    signatureHeaders({ ...signable, event: 'größe\r\nx: y', secret: secretOf(1), previousSecret: null }),
  );
  assert.equal(decodeURIComponent(headers['X-Service-Event'] ?? ''), 'größe\r\nx: y');
  assert.match(headers['X-Service-Event'] ?? '', /^[\x21-\x7e]+$/);
});
