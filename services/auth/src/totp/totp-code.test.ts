import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { findTotpStep, newTotpSecret, otpauthUrl } from './totp-code.ts';

const rfcSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

/** RFC 4226 §5.3 and RFC 6238 §4 without the library. */
function codeAt(secret: string, step: number): string {
  const bits = [...secret].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const key = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', key).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

const rfcVectors: readonly (readonly [atSec: number, eightDigits: string])[] = [
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
];

for (const [atSec, eightDigits] of rfcVectors)
  test(`RFC 6238, appendix B: at ${atSec}`, async () => {
    const step = Math.floor(atSec / 30);
    assert.equal(codeAt(rfcSecret, step), eightDigits.slice(2));
    assert.equal(await findTotpStep(rfcSecret, eightDigits.slice(2), atSec), step);
  });

test("a new secret's codes match another implementation, one step early or late [auth §6.5]", async () => {
  const secret = newTotpSecret();
  assert.match(secret, /^[A-Z2-7]{32}$/);
  assert.notEqual(newTotpSecret(), secret);
  for (const atSec of [1_800_000_000, 1_800_000_015, 1_800_000_029]) {
    const now = Math.floor(atSec / 30);
    for (const drift of [-1, 0, 1])
      assert.equal(await findTotpStep(secret, codeAt(secret, now + drift), atSec), now + drift, `${atSec} ${drift}`);
    for (const drift of [-3, -2, 2, 3]) {
      const code = codeAt(secret, now + drift);
      // One code in a million is equal in two steps.
      const isNear = [-1, 0, 1].some((near) => codeAt(secret, now + near) === code);
      if (!isNear) assert.equal(await findTotpStep(secret, code, atSec), undefined, `${atSec} ${drift}`);
    }
  }
});

test('spaces in a code are ignored, and any other text is a wrong code', async () => {
  assert.equal(await findTotpStep(rfcSecret, ' 287 082 ', 59), 1);
  for (const code of [
    '',
    '28708',
    '2870822',
    'abcdef',
    '28708a',
    '-87082',
    '２８７０８２',
    '287082\0',
    'x'.repeat(10_000),
  ])
    assert.equal(await findTotpStep(rfcSecret, code, 59), undefined, code.slice(0, 20));
});

test('the URL has the parameters that an app needs, without defaults', () => {
  const url = new URL(otpauthUrl(rfcSecret, { issuer: 'app.example.com', email: 'ada+x@example.com' }));
  assert.equal(url.protocol, 'otpauth:');
  assert.equal(url.host, 'totp');
  assert.equal(decodeURIComponent(url.pathname), '/app.example.com:ada+x@example.com');
  assert.deepEqual(Object.fromEntries(url.searchParams), { secret: rfcSecret, issuer: 'app.example.com' });
});
