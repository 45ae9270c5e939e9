import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import fc from 'fast-check';
import { compareExpressions, compareSorts, compose, findIds, openCollections, recordsOf } from './against-evaluator.ts';
import { type QueryFixture, requestWith, startTables } from './query-fixture.ts';
import { schemaOf } from './world.ts';

describe('compiled SQL', { skip: skipWithoutDatabase }, () => {
  let fixture: QueryFixture;

  before(async () => {
    fixture = await startTables(openCollections);
    await fixture.fill({ collections: openCollections, records: recordsOf(1) });
  });
  after(() => fixture?.stop());

  for (const audience of ['rule', 'client', 'admin'] as const)
    for (const seed of [11, 12, 13])
      it(`finds the records that an expression describes, audience: ${audience}, seed: ${seed}`, () =>
        compareExpressions(fixture, audience, { numRuns: 1000, seed }));

  it('sorts by the value at the end of a path, nulls last ascending and first descending, ties by id', () =>
    compareSorts(fixture, { numRuns: 300, seed: 14 }));

  it('runs every expression that it compiles, with any request', async () => {
    const pieces = [
      ...[
        'title',
        'rank',
        'ok',
        'at',
        'tags',
        'meta',
        'meta.a',
        'author.name',
        'author.id',
        'parent.tags',
        'Order:lower',
        'comments_via_post.rank',
        'readers',
        'readers.tags',
        'count(readers)',
        'tags:length',
        'meta:length',
        'distance(author.organization.place, 1, 2)',
        '@request.auth.tags',
        '@request.auth.level',
        '@request.auth.follows.created',
        '@now+100000000000s',
      ],
      ...['@request.auth.id', '@request.body.meta', '@request.body.tags', '@request.body.title', '@request.query.q'],
      ...[
        '@request.body.rank:changed',
        '@request.body.title:lower',
        '@request.headers.h:isset',
        '@now',
        'null',
        'true',
      ],
      ...[
        '5',
        '-0.0',
        '99999999999999999999',
        '""',
        '"%_\\\\"',
        String.raw`"\"'$1"`,
        '"\u{10ffff}"',
        '"2024-01-01"',
        '"1"',
      ],
    ];
    const comparison = fc
      .tuple(
        fc.constantFrom(...pieces),
        fc.constantFrom('=', '!=', '>', '>=', '<', '<=', '~', '!~'),
        fc.constantFrom(...pieces),
      )
      .chain((parts) => fc.constantFrom(parts.join(' '), `not (${parts.join(' ')})`, `all(${parts.join(' ')})`));
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\0', '\ud800', '1e999', 'NaN', '\\', "'; drop table x; --"),
      fc.double(),
      fc.jsonValue({ noUnicodeString: false }),
      fc.constant(JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`)),
    );
    const hostile = fc
      .record({
        body: fc.record({ title: value, rank: value, tags: value, meta: value }),
        text: fc.string({ unit: 'binary' }),
      })
      .map(({ body, text }) =>
        requestWith({ body, auth: { id: text, email: text, type: 'user' }, query: () => text, header: () => text }),
      );
    const scope = {
      collection: openCollections.posts,
      schema: schemaOf(openCollections),
      audience: 'rule' as const,
      caller: openCollections.users,
    };
    let ran = 0;
    const property = fc.asyncProperty(
      fc.array(comparison, { minLength: 1, maxLength: 3 }),
      hostile,
      async (comparisons, request) => {
        if (await findIds(fixture, compose(fixture, comparisons.join(' || '), scope, request))) ran += 1;
      },
    );
    await fc.assert(property, { numRuns: 600 });
    assert.ok(ran > 60, `only ${ran} of 600 were accepted`);
  });

  it('plans the longest filter of a client within seconds', async () => {
    const text = Array.from({ length: 80 }, () => 'parent.parent.parent.parent.parent.parent.ok=1').join('&&');
    const scope = { collection: openCollections.posts, schema: schemaOf(openCollections), audience: 'client' as const };
    const started = performance.now();
    assert.ok(await findIds(fixture, compose(fixture, text, scope, requestWith())));
    assert.ok(performance.now() - started < 10_000);
  });
});
