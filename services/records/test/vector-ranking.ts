import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Sent } from './records-fixture.ts';
import { count, type VectorFixture } from './vector-fixture.ts';

/** Tests which records a search finds, and in which order. */
export function testRanking(fixture: () => VectorFixture): void {
  it('finds the exact top k for any vector, cold and warm', async () => {
    const { search, near, randomVector, assertTop } = fixture();
    for (const [limit, question] of [
      [10, randomVector()],
      [10, near],
      [1, randomVector()],
      [1000, randomVector()],
      [70, near.map((value) => -value * 1e200)],
      [10, near.map((value) => value * 1e-200)],
    ] as const) {
      const direction = question.map((value) => value / Math.max(...question.map(Math.abs)));
      for (const _ of [1, 2]) {
        const { rows, json, text } = await search('docs', question, `&nearLimit=${limit}`);
        assert.ok(rows, text);
        assertTop(rows, direction, limit);
        const { data, ...counts } = json;
        assert.deepEqual(counts, { page: 1, perPage: limit, totalItems: limit, totalPages: 1 });
      }
    }
  });

  it('ranks only records that the filter admits', async () => {
    const { search, near, assertTop } = fixture();
    const { rows } = await search('docs', near, `&filter=${encodeURIComponent('owner = "odd" && title ~ "7"')}`);
    assertTop(rows, near, 10, ({ owner, title }) => owner === 'odd' && title.includes('7'));
  });

  it("ranks a view's rows", async () => {
    const { search, near, assertTop } = fixture();
    const { rows, text } = await search('seen', near, `&filter=${encodeURIComponent('owner = "odd"')}`);
    assert.ok(rows, text);
    assertTop(rows, near, 10, ({ owner }) => owner === 'odd');
  });

  it('ranks vectors that are too long, too short or too large for single precision', async () => {
    const { records, search, near } = fixture();
    const made: string[] = [];
    for (const scale of [1e-320, 1e-40, 1e-25, 1, 1e25, 1e300]) {
      const v = near.map((value, index) => (value + (index === 0 ? 1 : 0)) * scale);
      made.push((await records.send('POST', '/api/docs', { body: { v } })).record.id);
    }
    const question = near.map((value, index) => value + (index === 0 ? 1 : 0));
    for (const collection of ['docs', 'seen']) {
      const { rows } = await search(collection, question, '&nearLimit=6');
      assert.deepEqual(rows.map(({ id }) => id).toSorted(), made.toSorted());
    }
    for (const id of made) await records.send('DELETE', `/api/docs/${id}`);
  });

  it('leaves out scores below nearMinScore, and keeps equal ones', async () => {
    const { search, near } = fixture();
    const { rows } = await search('docs', near, '&nearMinScore=1&nearLimit=1000');
    assert.ok(rows.length >= count / 100);
    assert.ok(rows.every(({ _score }) => _score === 1));
    const none = await search('docs', near, '&nearMinScore=1.1');
    const { data, totalItems, totalPages } = none.json as { data: unknown; totalItems: number; totalPages: number };
    assert.deepEqual([data, totalItems, totalPages], [[], 0, 0]);
  });

  it('finds only records that the list rule admits', async () => {
    const { records, search } = fixture();
    const ids: string[] = [];
    for (const owner of ['u1', 'u2', 'u1']) {
      const body: Record<string, unknown> = { owner, v: [1, ids.length] };
      ids.push((await records.send('POST', '/api/owned', { as: 'admin', body })).record.id);
    }
    const rowsFor = async (as: Sent['as']) => (await search('owned', [1, 0], '', { as })).rows.map(({ id }) => id);
    for (const _ of [1, 2]) {
      assert.deepEqual(await rowsFor('user'), [ids[0], ids[2]]);
      assert.deepEqual(await rowsFor('guest'), []);
      assert.deepEqual(await rowsFor('admin'), ids);
    }
  });

  it('loses no row during writes and other searches', async () => {
    const { records, search, near, stored, assertTop } = fixture();
    const rounds = Array.from({ length: 12 }, async (_, index) => {
      const id = stored[index * 7]?.id;
      const { rows } = await search('docs', near, '&nearLimit=40');
      assert.equal(rows.length, 40);
      const patched = await records.send('PATCH', `/api/docs/${id}`, { body: { title: `again ${index}` } });
      assert.equal(patched.status, 200);
      assert.equal((await search('docs', near, '&nearLimit=1000')).rows.length, 1000);
    });
    await Promise.all(rounds);
    assertTop((await search('docs', near, '&nearLimit=100')).rows, near, 100);
  });
}
