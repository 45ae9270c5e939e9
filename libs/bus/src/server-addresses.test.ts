import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readServerAddresses } from './server-addresses.ts';

describe('server URLs', () => {
  const cases: [urls: string, expected: object][] = [
    ['nats://a', { servers: ['a:4222'] }],
    ['nats://a:1, nats://b:2', { servers: ['a:1', 'b:2'] }],
    ['nats://me:123%40x@a:1', { servers: ['a:1'], user: 'me', pass: '123@x' }],
    ['nats://secret@a', { servers: ['a:4222'], token: 'secret' }],
    ['tls://[::1]:4443', { servers: ['[::1]:4443'], tls: {} }],
  ];
  for (const [urls, expected] of cases)
    it(`reads ${urls}`, () => assert.deepEqual(readServerAddresses(urls), expected));

  for (const urls of ['a b', 'nats://', 'nats://a,,nats://b', 'nats://me:100%@a'])
    it(`refuses ${urls} and names the variable`, () =>
      assert.throws(() => readServerAddresses(urls), { name: 'ConfigError', message: /^SERVICE_NATS_URL / }));
});
