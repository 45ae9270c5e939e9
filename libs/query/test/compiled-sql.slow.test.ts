import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import { anyCharacter } from '@recordbus/testing/random';
import fc from 'fast-check';
import { compareSchema } from './against-evaluator.ts';
import { type QueryFixture, requestWith, startDatabase, startTables } from './query-fixture.ts';
import { recordsArbitrary } from './random-schema.ts';
import { answerOf, composeFind } from './statements.ts';
import { makeCollections, schemaOf } from './world.ts';

/** How many random schemas are queried. CI sends the same sentence through fewer. */
const schemas = process.env.TEST_TOPOLOGIES === 'fewest' ? 6 : 15;

describe('compiled SQL', { skip: skipWithoutDatabase }, () => {
  let fixture: QueryFixture;

  before(async () => {
    fixture = await startDatabase();
  });
  after(() => fixture?.stop());

  for (const seed of Array.from({ length: schemas }, (_, index) => index + 11))
    it(`finds, sorts, hides and refuses as the evaluator does, schema ${seed}`, () => compareSchema(fixture, seed, 20));
});

describe('compiled SQL of the posts', { skip: skipWithoutDatabase }, () => {
  const collections = makeCollections({ users: null, organizations: null });
  const collection = collections.posts;
  let fixture: QueryFixture;

  before(async () => {
    fixture = await startTables(collections);
    const [records = {}] = fc.sample(recordsArbitrary(collections), { numRuns: 1, seed: 1 });
    await fixture.fill({ collections, records });
  });
  after(() => fixture?.stop());

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
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('\0', '\ud800', '1e999', 'NaN', '\\', "'; drop table x; --"),
      fc.double(),
      fc.jsonValue({ noUnicodeString: false }),
      fc.constant(JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`)),
    );
    const hostile = fc
      .record({
        body: fc.record({ title: value, rank: value, tags: value, meta: value }),
        text: fc.string({ unit: anyCharacter }),
      })
      .map(({ body, text }) =>
        requestWith({ body, auth: { id: text, email: text, type: 'user' }, query: () => text, header: () => text }),
      );
    const scope = { collection, schema: schemaOf(collections), audience: 'rule', caller: collections.users } as const;
    let ran = 0;
    const property = fc.asyncProperty(
      fc.array(comparison, { minLength: 1, maxLength: 3 }),
      hostile,
      async (comparisons, request) => {
        const answer = await answerOf(fixture, composeFind(fixture, comparisons.join(' || '), request)(scope));
        if (answer.ids) ran += 1;
      },
    );
    // fast-check's reporter overflows the stack at a counterexample that is nested deeply.
    const { failed, seed, counterexamplePath, counterexample, errorInstance } = await fc.check(property, {
      numRuns: 300,
      seed: 1,
    });
    const of = `seed ${seed}, path ${counterexamplePath}: ${counterexample?.[0].join(' || ')}`;
    assert.ok(!failed, new Error(of, { cause: errorInstance }));
    assert.ok(ran > 30, `only ${ran} of 300 were accepted`);
  });

  // A plan of exponential cost would never end.
  it("plans a client's longest filter", async () => {
    const text = Array.from({ length: 80 }, () => 'parent.parent.parent.parent.parent.parent.ok=1').join('&&');
    const scope = { collection, schema: schemaOf(collections), audience: 'client' } as const;
    assert.ok((await answerOf(fixture, composeFind(fixture, text, requestWith())(scope))).ids);
  });
});
