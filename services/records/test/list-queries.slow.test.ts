import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { anyCharacter } from '@recordbus/testing/random';
import fc from 'fast-check';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const relation = (name: string, collection: string) => ({ name, type: 'relation', collection }) as const;
const ownRule = {
  rules: {
    list: 'owner = @request.auth.id || parent.owner != "x"',
    view: 'owner != @request.auth.id || title != "x"',
    create: null,
    update: null,
    delete: null,
  },
};

/** Query parts, valid and invalid. */
const pieces = [
  ...[
    'title',
    'rank',
    'tags',
    'meta.a',
    'at',
    'ok',
    'parent.title',
    'parent.parent.rank',
    'v',
    'secret',
    'owner:lower',
    'id',
    'created',
  ],
  ...['=', '!=', '>', '<=', '~', '!~', '&&', '||', '(', ')', ',', '-', '.', '*', ':', '%', '_'],
  ...[
    '"a"',
    '"',
    '\\',
    '5',
    '-0.5',
    'true',
    'null',
    '@now',
    '@request.auth.id',
    '[1,2]',
    '[1,null]',
    '[1e999,0]',
    '{}',
  ],
  ...[
    'parent',
    'expand.parent.title',
    'expand',
    '__proto__',
    'constructor',
    '\0',
    '\ud83d',
    '😀',
    ' ',
    '\n',
    "'; drop table x; --",
    '$1',
  ],
  ...['99999999999999999999', '1e9', '0', '-1', '1.5', 'NaN', 'Infinity', 'maybe'],
];
const text = fc.oneof(
  { weight: 5, arbitrary: fc.array(fc.constantFrom(...pieces), { maxLength: 7 }).map((parts) => parts.join('')) },
  { weight: 2, arbitrary: fc.array(fc.constantFrom(...pieces), { maxLength: 7 }).map((parts) => parts.join(' ')) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }) },
);
const names = [
  'page',
  'perPage',
  'filter',
  'sort',
  'expand',
  'fields',
  'skipTotal',
  'nearVector',
  'nearLimit',
  'nearMinScore',
];
const query = fc.array(
  fc.oneof(
    fc.tuple(fc.constantFrom(...names), text),
    fc.constant(['nearVectorField', 'v'] as const),
    fc.tuple(text, text),
  ),
  { maxLength: 6 },
);
const caller = fc.constantFrom('guest', 'stranger', 'user', 'admin');

describe("a list's query", { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;
  before(async () => {
    records = await startRecords([
      testCollection(
        'items',
        [
          { name: 'title' },
          { name: 'owner' },
          { name: 'rank', type: 'number' },
          { name: 'ok', type: 'bool' },
          { name: 'at', type: 'date' },
          { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } },
          { name: 'meta', type: 'json' },
          { name: 'secret', options: { encrypted: true } },
          { name: 'v', type: 'vector', options: { dimensions: 2 } },
          relation('parent', 'items'),
        ],
        ownRule,
      ),
    ]);
    let parent: string | null = null;
    for (const title of ['a', 'b', 'c']) {
      const body: Record<string, unknown> = {
        title,
        owner: 'u1',
        rank: 1,
        tags: ['a'],
        meta: { a: 1 },
        v: [1, 2],
        parent,
      };
      ({ id: parent } = (await records.send('POST', '/api/items', { body })).record);
    }
  });
  after(() => records?.stop());

  it('is always answered with 200, 400 or 422', async () => {
    const statuses = new Map<number, number>();
    const property = fc.asyncProperty(query, caller, async (parameters, as) => {
      const search = new URLSearchParams(
        parameters.map(([name, value]): [string, string] => [name, value.toWellFormed()]),
      );
      const { status, text } = await records.send('GET', `/api/items?${search}`, { as });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      assert.ok([200, 400, 422].includes(status), `${status} for ${search}: ${text}`);
    });
    await fc.assert(property, { numRuns: 400, seed: 1 });
    for (const status of [200, 400]) assert.ok((statuses.get(status) ?? 0) > 50, JSON.stringify([...statuses]));
  });

  it('is read even if it is not a valid form', async () => {
    const raw = fc
      .array(fc.constantFrom('%', '%zz', '%00', '%ff', '&', '=', '+', 'filter', 'sort=-', '?', ';', '[]', '%f0%9f'))
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(raw, async (search) => {
        const { status, text } = await records.send('GET', `/api/items?${search}`);
        assert.ok([200, 400, 422].includes(status), `${status} for ${search}: ${text}`);
      }),
      { numRuns: 150, seed: 1 },
    );
  });

  const terms = (count: number) => Array.from({ length: count }, () => 'rank=1').join('||');
  const nested = (depth: number) => `${'('.repeat(depth)}rank=1${')'.repeat(depth)}`;
  const long = (length: number) => `title="${'ä'.repeat(length - 8)}"`;
  const path = (count: number, end: string) => [...Array.from({ length: count }, () => 'parent'), end].join('.');
  const sorts = (count: number) =>
    Array.from({ length: count }, (_, index) => (index % 2 ? 'rank' : '-title')).join(',');
  const limits: [string, string, string, string][] = [
    ['200 terms', 'filter', terms(200), terms(201)],
    ['32 nested parentheses', 'filter', nested(32), nested(33)],
    ['4,000 characters', 'filter', long(4000), long(4001)],
    ['6 relations in a filter', 'filter', `${path(6, 'rank')}=1`, `${path(7, 'rank')}=1`],
    ['6 relations in a sort', 'sort', path(6, 'rank'), path(7, 'rank')],
    ['8 sort terms', 'sort', sorts(8), sorts(9)],
    ['6 relations to expand', 'expand', path(5, 'parent'), path(6, 'parent')],
  ];
  for (const [what, name, allowed, beyond] of limits)
    it(`may have ${what} and no more`, async () => {
      const statusOf = async (value: string) => {
        const { status, text } = await records.send('GET', `/api/items?${name}=${encodeURIComponent(value)}`);
        return [status, text.startsWith('{"error"')];
      };
      assert.deepEqual(await statusOf(allowed), [200, false]);
      assert.deepEqual(await statusOf(beyond), [400, true]);
    });

  it('cannot name encrypted fields', async () => {
    for (const search of [
      'filter=secret="a"',
      'sort=secret',
      'filter=parent.secret="a"',
      'sort=parent.secret',
      'filter=secret~"a"',
      'filter=secret!=null',
    ])
      for (const as of ['guest', 'admin'] as const)
        assert.equal((await records.send('GET', `/api/items?${search}`, { as })).status, 400, search);
  });
});
