import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientKey } from './client-key.ts';

test('an IPv4 address is one client', () => {
  assert.equal(clientKey('203.0.113.7'), '203.0.113.7');
});

test("a /64's addresses are one client in any notation", () => {
  for (const address of ['2001:db8:1:2::1', '2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2:3::%eth0'])
    assert.equal(clientKey(address), '2001:db8:1:2::/64', address);
  assert.equal(clientKey('::1'), '0:0:0:0::/64');
  assert.equal(clientKey('fe80::'), 'fe80:0:0:0::/64');
});

test('a text that is not an address stays unchanged', () => {
  assert.equal(clientKey(''), '');
  assert.equal(clientKey('unknown'), 'unknown');
});
