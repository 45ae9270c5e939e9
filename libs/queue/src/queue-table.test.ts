import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Database, Query } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { isFree } from './lease-sql.ts';
import { queueTable } from './queue-table.ts';

interface Item {
  readonly id: string;
  readonly place: number;
  readonly lease_token: string;
}

const items = queueTable({ table: 'public.items', key: 'id' });

describe('a queue', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  const run: Query = (statement) => database.query(statement);
  const sql = <R>(text: string, ...values: unknown[]) => run<R>({ text, values });
  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
    await sql(`create table public.items (id uuid primary key default gen_random_uuid(), place integer, lease_until timestamptz,
      lease_token uuid, fence bigint not null default 0)`);
  });
  beforeEach(async () => {
    await sql('truncate public.items');
    await sql('insert into public.items (place) select generate_series(1, 40)');
  });
  after(() => temporary?.remove());

  const claim = (limit: number, query = run, table = items) =>
    query<Item>({
      text: table.claim({
        due: `select id as key from public.items i where ${isFree('i')} order by place limit $1 for update skip locked`,
        leaseSec: 60,
        returning: 'q.id, q.place, q.lease_token, q.fence',
      }),
      values: [limit],
    });
  const settle = (item: Item) =>
    sql(`delete from public.items where ${items.isHeld} returning 1`, item.id, item.lease_token);
  const expire = () => sql(`update public.items set lease_until = now() - interval '1 second'`);
  const one = async (): Promise<Item> => (await claim(1))[0] ?? assert.fail('there is nothing to claim');

  it('gives each item to one claim, the first ones first', async () => {
    const first = await claim(5);
    assert.deepEqual(first.map(({ place }) => place).sort(), [1, 2, 3, 4, 5]);
    const more = (await Promise.all(Array.from({ length: 8 }, () => claim(10)))).flat();
    const places = [...first, ...more].map(({ place }) => place);
    assert.equal(new Set(places).size, places.length);
  });

  it('never waits for an item that another transaction claims', async () => {
    const claimed = await database.transaction(async (query) => {
      const [mine] = await claim(1, query);
      const [theirs] = await claim(1);
      return [mine?.place, theirs?.place];
    });
    assert.deepEqual(claimed, [1, 2]);
  });

  it('gives an item with an expired lease a new fence, so that its late worker settles nothing', async () => {
    const late = await one();
    await expire();
    const holder = await one();
    assert.equal(holder.id, late.id);
    assert.deepEqual(await settle(late), []);
    assert.equal((await settle(holder)).length, 1);
  });

  it('raises a fence that is a number', async () => {
    const counted = queueTable({ table: 'public.items', key: 'id', fence: 'fence' });
    await claim(1, run, counted);
    await expire();
    assert.partialDeepStrictEqual(await claim(1, run, counted), [{ place: 1, fence: 2 }]);
  });

  it('renews only leases that are still held', async () => {
    const late = await one();
    await expire();
    await items.renew(run, [late], 60);
    const [next] = await claim(1);
    assert.equal(next?.place, 2, 'a lease can be renewed until another replica takes the item');
    await expire();
    const holder = await one();
    await items.renew(run, [late], 3600);
    const [row] = await sql<{ isLong: boolean }>(
      `select lease_until > now() + interval '30 minutes' as "isLong" from public.items where id = $1`,
      holder.id,
    );
    assert.equal(row?.isLong, false);
  });

  it('releases only leases that are still held', async () => {
    const late = await one();
    await expire();
    const holder = await one();
    await items.release(run, [late]);
    assert.equal((await one()).place, 2);
    await items.release(run, [holder]);
    assert.equal((await one()).place, 1);
  });
});
