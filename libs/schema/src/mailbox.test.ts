import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountAddress } from './email-address.ts';
import { canonicalAddress, lookupForms } from './mailbox.ts';

const sameMailbox = {
  plain: ['ada@example.com', ' ada@EXAMPLE.com\n'],
  'a domain and its ASCII form': [
    'a@münchen.de',
    'a@xn--mnchen-3ya.de',
    'a@MÜNCHEN.de',
    'a@mu\u0308nchen.de',
    'a@XN--MNCHEN-3YA.DE',
  ],
  'composed and decomposed letters': ['ünï@example.com'.normalize('NFC'), 'ünï@example.com'.normalize('NFD')],
  'the dots of other scripts': ['a@例え.jp', 'a@例え。jp', 'a@xn--r8jz45g.jp'],
};

test('a mailbox has one text, in whichever form it is sent [fields §3.4]', () => {
  for (const [name, forms] of Object.entries(sameMailbox)) {
    const texts = new Set(forms.map((form) => accountAddress.parse(form)));
    assert.equal(texts.size, 1, `${name}: ${[...texts]}`);
    for (const text of texts) assert.equal(accountAddress.parse(text), text);
    assert.deepEqual(new Set(forms.map(canonicalAddress)), texts);
  }
});

test('the local part keeps its case, and folding never merges İ and i', () => {
  assert.equal(accountAddress.parse('Ada.Lovelace@Example.Com'), 'Ada.Lovelace@example.com');
  const dotted = accountAddress.parse('İx@example.com');
  assert.equal(dotted.normalize('NFC'), 'İx@example.com');
  // As the database folds: one character to one.
  assert.notEqual([...dotted].map((letter) => letter.toLowerCase()).join(''), 'ix@example.com');
  assert.equal(accountAddress.parse('I\u0307x@example.com'), dotted);
});

test('what RFC 5321 can mail to is an address', () => {
  for (const address of [
    "o'brien+tag@sub.example.co.uk",
    '!#$%&*+-/=?^_`{|}~@example.com',
    'почта@пример.рф',
    'اسم@مثال.السعودية',
    `${'x'.repeat(64)}@example.com`,
    `a@${'x'.repeat(63)}.com`,
    '1@1.com',
    'i❤@example.com',
  ])
    assert.equal(accountAddress.parse(address), address);
});

test('anything else is refused [fields §3.4]', () => {
  const refused = [
    'a,b@x.co',
    '<b@x.co>',
    'a@x.co;',
    'a@b..co',
    'a..b@x.co',
    '.a@x.co',
    'a.@x.co',
    'x@[127.0.0.1]',
    'x@127.0.0.1',
    'x@0x7f.1',
    'x@1.2.3.4.',
    'x@localhost',
    'a@x.co\r\nBcc: b@x.co',
    'a\r\nBcc:x@x.co',
    '"a b"@x.co',
    '"a"@x.co',
    'a(b)@x.co',
    'a@x_y.co',
    'a@-x.co',
    'a@x-.co',
    'a@x.co.',
    'a@x%2eco.de',
    'a@x.co/path',
    'a@x.co?query',
    'a@b@x.co',
    `a@${'x'.repeat(64)}.com`,
    `${'x'.repeat(65)}@example.com`,
    `${'ä'.repeat(33)}@example.com`,
    `a@${'xxxxxxx.'.repeat(31)}example`,
    `a@${'ü.'.repeat(60)}de`,
    // Nobody sees these.
    'a\u200bb@x.co',
    'a\u200db@x.co',
    'a\u202eb@x.co',
    'a\u2066b@x.co',
    '\ufeffa@b\u00ad.co',
    'a\u00adb@x.co',
    'a\u3164b@x.co',
    'a\ufe0fb@x.co',
    'a\u2028b@x.co',
    'a\u00a0b@x.co',
    'a\u3000b@x.co',
    'a@b\u200b.co',
    '\ud800@x.co',
    'a\u0000b@x.co',
    'a@\u202ex.co',
  ];
  for (const address of refused) {
    assert.equal(accountAddress.safeParse(address).success, false, JSON.stringify(address));
    // A look-up finds it as it is: an earlier version may have stored it.
    assert.equal(canonicalAddress(` ${address} `), address.trim());
  }
});

test('an address is looked up as typed only if that is another text [auth §1.3]', () => {
  assert.deepEqual(lookupForms(' Ada@Example.com'), ['Ada@example.com']);
  assert.deepEqual(lookupForms('a,b@x.co '), ['a,b@x.co']);
  assert.deepEqual(lookupForms('d@xn--mnchen-3ya.de'), ['d@xn--mnchen-3ya.de', 'd@münchen.de']);
});
