import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import fc from 'fast-check';
import { nextRevision, nextUpdatedAt, nextVersionOf, versionOf } from './version-sql.ts';

interface Version {
  readonly updated: number;
  readonly revision: number;
}

/** The rule in records §8.1 and §8.2. */
function nextOf({ updated, revision }: Version, now: number): Version {
  if (now > updated) return { updated: now, revision: 0 };
  return { updated, revision: revision + 1 };
}

const textOf = ({ updated, revision }: Version): string => (revision === 0 ? `${updated}` : `${updated}.${revision}`);

/** Selects the versions that a row has when it is written at each time in $1, in this order. */
const versionsOfWrites = `with recursive ticks as (
  select * from unnest($1::bigint[]) with ordinality c(now, place)
), writes as (
  select 0::bigint as place, $2::bigint as updated_at, $3::integer as _revision
  union all
  select c.place, ${nextUpdatedAt('t', 'c.now')}, ${nextRevision('t', 'c.now')}
  from writes t join ticks c on c.place = t.place + 1
) select ${versionOf('t')} as version from writes t order by place`;

/** Steps on a clock that stands still, advances, jumps, and is set back. */
const ticks = fc.array(
  fc.oneof(fc.constant(0), fc.integer({ min: -3, max: 3 }), fc.integer({ min: -9000, max: 9000 })),
  {
    minLength: 1,
    maxLength: 40,
  },
);

describe('versions', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  before(async () => {
    temporary = await openTemporaryDatabase();
  });
  after(() => temporary?.remove());

  it("have the second and the write's number in that second, with any clock, and are unique [records §8.1, §8.2]", async () => {
    await fc.assert(
      fc.asyncProperty(ticks, fc.nat(20_000), fc.nat(100), async (steps, updated, revision) => {
        let clock = 10_000;
        const times = steps.map((step) => (clock += step));
        const expected: Version[] = [{ updated, revision }];
        for (const now of times) expected.push(nextOf(expected.at(-1) ?? { updated, revision }, now));
        const values = [times, updated, revision];
        const rows = await temporary.database.query<{ version: string }>({ text: versionsOfWrites, values });
        assert.deepEqual(
          rows.map(({ version }) => version),
          expected.map(textOf),
        );
        assert.equal(new Set(expected.map(textOf)).size, expected.length);
        for (const [index, now] of times.entries())
          assert.equal(expected[index + 1]?.updated, Math.max(now, expected[index]?.updated ?? 0));
      }),
      { numRuns: 100, seed: 1 },
    );
  });

  it('follow the last one after a delete', async () => {
    const [row] = await temporary.database.query<{ ahead: string; past: string; second: number }>({
      text: `select a.version as ahead, b.version as past, floor(extract(epoch from now()))::bigint as second
        from (select ${nextVersionOf('t')} as version from (select 99999999999 as updated_at, 9 as _revision) t) a,
        (select ${nextVersionOf('t')} as version from (select 5 as updated_at, 9 as _revision) t) b`,
      values: [],
    });
    assert.deepEqual([row?.ahead, row?.past], ['99999999999.10', String(row?.second)]);
  });
});
