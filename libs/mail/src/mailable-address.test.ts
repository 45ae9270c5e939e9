import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMailableAddress, mailedForm } from './mailable-address.ts';

test('ordinary and international addresses are mailable', () => {
  for (const address of ['ada@example.com', "o'brien+tag@sub.example.co.uk", 'zoë@exämple.org', 'x@localhost'])
    assert.equal(isMailableAddress(address), true, address);
});

test('a text that could be read as anything but one address is not mailable [mail §2.6]', () => {
  const bad = [
    'ada',
    'a@b@c.d',
    'a@b.c\r\nBcc: eve@example.com',
    'a@b.c\nRCPT TO:<eve@example.com>',
    'a,eve@example.com',
    'a@b.c,eve@example.com',
    'a@b.c>, <eve@example.com',
    '<eve@example.com>',
    '"a b"@example.com',
    'group:a@b.c;',
    '(comment)a@b.c',
    'a\u0000@b.c',
    'a\u2028@b.c',
    `${'x'.repeat(65)}@example.com`,
    'anon_1@anonymous.invalid',
  ];
  for (const address of bad) assert.equal(isMailableAddress(address), false, address);
});

test("mail goes to the domain's ASCII form [mail §2.6]", () => {
  assert.equal(mailedForm('ada@example.com'), 'ada@example.com');
  assert.equal(mailedForm('Zoë@münchen.de'), 'Zoë@xn--mnchen-3ya.de');
  assert.equal(mailedForm('I\u0307x@example.com'), 'İx@example.com');
});
