import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readParameters } from '@recordbus/http/form';
import fc from 'fast-check';
import { dispositionOf } from './disposition.ts';
import { originalNameOf } from './original-name.ts';

const table: readonly [name: string, header: string][] = [
  ['photo.png', 'inline; filename="photo.png"'],
  ['My Photo.PNG', 'inline; filename="My Photo.PNG"'],
  ['été.txt', `inline; filename="ete.txt"; filename*=UTF-8''%C3%A9t%C3%A9.txt`],
  ['日本語.png', `inline; filename="___.png"; filename*=UTF-8''%E6%97%A5%E6%9C%AC%E8%AA%9E.png`],
  ['a"b\\.txt', `inline; filename="a_b_.txt"; filename*=UTF-8''a%22b%5C.txt`],
  ["it's 100%.txt", `inline; filename="it's 100_.txt"; filename*=UTF-8''it%27s%20100%25.txt`],
  ['%41.txt', `inline; filename="_41.txt"; filename*=UTF-8''%2541.txt`],
];

for (const [name, header] of table)
  test(`${name} is ${header}`, () => assert.equal(dispositionOf('inline', name), header));

test('another parser reads every name back, from a header of one ASCII line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (sent) => {
      const name = originalNameOf(sent) ?? 'stored.txt';
      const header = dispositionOf('attachment', name);
      assert.match(header, /^[ -~]*$/);
      assert.ok(header.length < 2000);
      const { value, parameters } = readParameters(header);
      assert.equal(value, 'attachment');
      assert.equal(parameters.get('filename*') ?? parameters.get('filename'), name);
      assert.doesNotMatch(parameters.get('filename') ?? '', /["\\%/]/);
    }),
    { numRuns: 300, seed: 1 },
  );
});
