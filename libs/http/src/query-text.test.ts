import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseQuery } from './query-text.ts';

describe('a query', () => {
  it('is read as UTF-8', () => {
    for (const [search, expected] of [
      ['', []],
      [
        'a=%C3%A4+%E2%82%AC&b',
        [
          ['a', 'ä €'],
          ['b', ''],
        ],
      ],
      [
        'a=100%&b=%zz',
        [
          ['a', '100%'],
          ['b', '%zz'],
        ],
      ],
      ['a=%EF%BF%BD', [['a', '\ufffd']]],
      ['a=%00', [['a', '\0']]],
    ] as const)
      assert.deepEqual([...parseQuery(search)], expected, search);
  });

  it('is refused when its bytes are not UTF-8', () => {
    for (const [search, name] of [
      ['filter=%ff', 'filter'],
      ['a=1&b=%C3', 'b'],
      ['a=%EF%BF%BD%ff', 'a'],
      ['%ff=1', '\ufffd'],
      ['a=%ED%A0%80', 'a'],
    ] as const)
      assert.throws(() => parseQuery(search), { status: 400, details: { [name]: 'is not valid UTF-8' } }, search);
  });
});
