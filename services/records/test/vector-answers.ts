import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ShownRecord } from './records-fixture.ts';
import type { VectorFixture } from './vector-fixture.ts';

const scoresOf = (rows: readonly ShownRecord[]) => rows.map(({ id, _score }) => [id, _score]);

/** Tests what searches answer: records with scores, counts, and refusals. */
export function testAnswers(fixture: () => VectorFixture): void {
  it('shows the record with its score, with fields and expand applied', async () => {
    const { records, search, near } = fixture();
    const { record: author } = await records.send('POST', '/api/authors', { body: { name: 'Ada' } });
    const v = near.map((value, index) => (index === 0 ? value + 3 : value));
    const { record } = await records.send('POST', '/api/docs', { body: { title: 'new', v, author: author.id } });
    assert.deepEqual(record.v, v);
    const { rows } = await search('docs', v, '&nearLimit=1&expand=author');
    assert.deepEqual(rows, [{ ...record, expand: { author }, _score: 1 }]);
    const some = await search('docs', v, '&nearLimit=1&expand=author&fields=title,expand.author.name');
    const expand = { author: { id: author.id, name: 'Ada' } };
    assert.deepEqual(some.rows, [{ id: record.id, title: 'new', expand, _score: 1 }]);
    await records.send('DELETE', `/api/docs/${record.id}`);
  });

  it('sees every write immediately', async () => {
    const { records, search } = fixture();
    const question = [1, 0];
    const ids = async () => scoresOf((await search('small', question)).rows);
    assert.deepEqual(await ids(), []);
    const make = async (v: number[] | null) => (await records.send('POST', '/api/small', { body: { v } })).record.id;
    const a = await make([1, 0]);
    const b = await make([0, 1]);
    const c = await make([-2, 0]);
    await make(null);
    assert.deepEqual(await ids(), [
      [a, 1],
      [b, 0],
      [c, -1],
    ]);
    await records.send('PATCH', `/api/small/${c}`, { body: { v: [5, 0] } });
    await records.send('PATCH', `/api/small/${b}`, { body: { v: [0, 0] } });
    assert.deepEqual(await ids(), [
      [a, 1],
      [c, 1],
      [b, 0],
    ]);
    await records.send('DELETE', `/api/small/${a}`);
    await records.send('PATCH', `/api/small/${c}`, { body: { title: 'the vector stays' } });
    assert.deepEqual(await ids(), [
      [c, 1],
      [b, 0],
    ]);
    await records.database.query({ text: "update records.small set v = '{3,4}' where id = $1", values: [c] });
    assert.deepEqual(await ids(), [
      [c, 0.6],
      [b, 0],
    ]);
    await records.database.query({ text: 'vacuum full records.small', values: [] });
    assert.deepEqual(await ids(), [
      [c, 0.6],
      [b, 0],
    ]);
    assert.deepEqual(
      scoresOf((await search('small', [0, 0])).rows),
      [
        [b, 0],
        [c, 0],
      ].toSorted(),
    );
    await records.database.query({ text: 'truncate records.small', values: [] });
    assert.deepEqual(await ids(), []);
  });

  it('accepts 4,096 dimensions in a query', async () => {
    const { records, search, nextNumber } = fixture();
    const v = Array.from({ length: 4096 }, nextNumber);
    const { record } = await records.send('POST', '/api/wide', { body: { v } });
    assert.deepEqual(record.v, v);
    const { rows } = await search('wide', v, '&fields=id');
    assert.deepEqual(rows, [{ id: record.id, _score: 1 }]);
  });

  const shown: [string, string, number, number[]][] = [
    ['nearLimit', '&nearLimit=2', 2, [2, 1]],
    ['a nearLimit above 1000', '&nearLimit=5000', 1000, [1000, 1]],
    ['nearLimit=0', '&nearLimit=0', 10, [10, 1]],
    ['a negative nearLimit', '&nearLimit=-3', 10, [10, 1]],
    ['page and perPage, which it ignores', '&page=7&perPage=2', 10, [10, 1]],
    ['skipTotal', '&skipTotal=1', 10, [-1, -1]],
    ['empty parameters', '&nearLimit=&nearMinScore=&filter=&expand=', 10, [10, 1]],
  ];
  for (const [what, more, perPage, [totalItems, totalPages]] of shown)
    it(`counts its rows with ${what}`, async () => {
      const { search, near } = fixture();
      const { json } = await search('docs', near, `&fields=id${more}`);
      const { data, ...counts } = json;
      assert.deepEqual(counts, { page: 1, perPage, totalItems, totalPages });
      assert.equal((data as unknown[]).length, perPage);
    });

  const refused: [string, number, string, RegExp | Record<string, string>][] = [
    ['a vector that is not an array', 400, 'nearVector=5&nearVectorField=v', /^nearVector: must be a JSON array/],
    ['a vector that is not JSON', 400, 'nearVector=[1,2&nearVectorField=v', /^nearVector/],
    ['a missing field', 400, 'nearVector=[1,2]', /^nearVectorField: is required/],
    ['a missing vector', 400, 'nearVectorField=v', /^nearVector: is required/],
    ['an unknown field', 400, 'nearVector=[1,2]&nearVectorField=nope', /^nearVectorField: small has no vector "nope"/],
    ['a field of another type', 400, 'nearVector=[1,2]&nearVectorField=title', /^nearVectorField/],
    ['a limit that is not a number', 400, 'nearVector=[1,2]&nearVectorField=v&nearLimit=ten', /^nearLimit/],
    ['a fractional limit', 400, 'nearVector=[1,2]&nearVectorField=v&nearLimit=1.5', /^nearLimit/],
    ['a score that is not a number', 400, 'nearVector=[1,2]&nearVectorField=v&nearMinScore=high', /^nearMinScore/],
    ['a filter that does not parse', 400, 'nearVector=[1,2]&nearVectorField=v&filter=x', /^filter/],
    ['an unknown sort', 400, 'nearVector=[1,2]&nearVectorField=v&sort=x', /^sort/],
    ['an unknown path of expand', 400, 'nearVector=[1,2]&nearVectorField=v&expand=x', /^expand/],
    ['a vector of another length', 422, 'nearVector=[1,2,3]&nearVectorField=v', { nearVector: 'must have 2 numbers' }],
    ['an empty vector', 422, 'nearVector=[]&nearVectorField=v', { nearVector: 'must have 2 numbers' }],
    [
      'a text in the vector',
      422,
      'nearVector=[1,"2"]&nearVectorField=v',
      { nearVector: 'must consist of finite numbers' },
    ],
    [
      'an infinite number in the vector',
      422,
      'nearVector=[1,1e999]&nearVectorField=v',
      { nearVector: 'must consist of finite numbers' },
    ],
  ];
  for (const [what, status, query, problem] of refused)
    it(`answers ${what} with ${status}`, async () => {
      const { records } = fixture();
      const answer = await records.send('GET', `/api/small?${query}`);
      assert.equal(answer.status, status, answer.text);
      if (problem instanceof RegExp) assert.match(answer.json.error ?? '', problem);
      else assert.deepEqual(answer.json.details, problem);
    });
}
