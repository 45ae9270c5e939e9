import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountAddress, emailAddress } from './email-address.ts';

test('an address looks like local@domain.tld', () => {
  for (const address of ['a@b.c', 'a@b..c', 'first.last+tag@mail.example.com', 'ü@exämple.de']) {
    assert.equal(emailAddress.parse(address), address);
    if (address !== 'a@b..c') assert.equal(accountAddress.parse(` ${address}\n`), address);
    assert.equal(emailAddress.safeParse(` ${address}`).success, false);
    assert.equal(emailAddress.safeParse(`${address}\n`).success, false);
  }
  for (const address of [
    '',
    'a',
    'a@b',
    '@b.c',
    'a@.',
    'a@.c',
    'a@b.',
    'a b@c.de',
    'a@@b.c',
    'a\0@b.c',
    '\ud800@b.c',
    `${'a'.repeat(251)}@b.c`,
    `${'ä'.repeat(126)}@b.c`,
  ])
    assert.equal(emailAddress.safeParse(address).success, false, JSON.stringify(address));
});

test('a long text is refused before a pattern reads it [cost §4.1]', () => {
  const { error } = accountAddress.safeParse(`a@${'.'.repeat(250_000)}@`);
  assert.deepEqual(
    error?.issues.map(({ message }) => message),
    ['must have at most 254 characters'],
  );
});
