import assert from 'node:assert/strict';
import pg from 'pg';
import type { Answer } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { define, text } from './history-rows.ts';

/** A record whose version, far ahead of the clock, no create could have by chance. */
const deletedAt = Math.floor(Date.now() / 1000) + 1000;

/** Runs a create while another write has the id's turn, in which a record with the id comes and goes. */
async function createBehind(
  { databaseUrl }: Pick<Target, 'databaseUrl'>,
  collection: string,
  id: string,
  create: () => Promise<Answer>,
): Promise<Answer> {
  const holder = new pg.Client(databaseUrl);
  const other = new pg.Client(databaseUrl);
  await Promise.all([holder.connect(), other.connect()]);
  try {
    await holder.query('begin');
    await holder.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${collection}/${id}`]);
    const created = create();
    await eventually('the create waits for its turn', async () => {
      const { rows } = await other.query(
        `select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`,
      );
      return rows.length > 0;
    });
    await other.query('insert into system.deleted_versions values ($1, $2, $3, 5)', [collection, id, deletedAt]);
    await holder.query('commit');
    return await created;
  } finally {
    await Promise.all([holder.end(), other.end()]);
  }
}

onEachTopology(
  'a record repeats no version if another with its id came and went meanwhile [records §8.2]',
  async (t, target) => {
    if (target.databaseUrl === undefined) return t.skip('the database of the stack is not ours');
    const root = await target.admin();
    const collection = textAt(await define(root, 'places', [text('title')]), 'id');
    const path = '/api/v1/records/places';
    const create = (id: string) => ({ op: 'upsert', collection: 'places', id, data: { title: 'x' } });
    const doors: Record<string, (id: string) => Promise<Answer>> = {
      put: (id) => root.send('PUT', `${path}/${id}`, { body: { title: 'x' } }),
      batch: (id) => root.send('POST', '/api/v1/batch', { body: { operations: [create(`${id}-other`), create(id)] } }),
      import: (id) =>
        root.send('POST', `${path}/import?format=json&keep=id`, {
          rawBody: JSON.stringify([{ id, title: 'x' }]),
          headers: { 'Content-Type': 'application/json' },
        }),
    };
    for (const [name, door] of Object.entries(doors))
      await t.test(`by ${name}`, async () => {
        const id = `by-${name}`;
        const answer = await createBehind(target, collection, id, () => door(id));
        assert.ok(answer.status < 300, answer.text);
        const etag = await eventually('the record is there', async () => {
          const { status, headers } = await root.send('GET', `${path}/${id}`);
          return status === 200 && headers.etag;
        });
        assert.equal(etag, `W/"${deletedAt}.6"`);
      });
  },
);
