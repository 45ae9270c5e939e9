import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emailAddress } from './email-address.ts';

test('an address looks like local@domain.tld', () => {
  for (const address of ['a@b.c', 'first.last+tag@mail.example.com', 'ü@exämple.de'])
    assert.equal(emailAddress.parse(` ${address} `), address);
  for (const address of [
    '',
    'a',
    'a@b',
    '@b.c',
    'a@.',
    'a b@c.de',
    'a@@b.c',
    'a\0@b.c',
    '\ud800@b.c',
    `${'a'.repeat(251)}@b.c`,
  ])
    assert.equal(emailAddress.safeParse(address).success, false, JSON.stringify(address));
});
