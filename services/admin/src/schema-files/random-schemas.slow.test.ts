import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type File, randomOf, randomSchema } from '../../test/random-schema.ts';
import { skip, startTestAdmin, type TestAdmin } from '../../test/test-admin.ts';

const schemaPath = '/api/v1/admin/schema';
const rounds = Number(process.env.SCHEMA_ROUNDS ?? 40);
const firstSeed = Number(process.env.SCHEMA_SEED ?? Date.now() % 1_000_000);

suite('random schemas', { skip }, () => {
  let [grown, fresh]: TestAdmin[] = [];
  before(async () => {
    grown = await startTestAdmin();
    fresh = await startTestAdmin();
  });
  after(async () => {
    await grown?.stop();
    await fresh?.stop();
  });

  const documentOf = (collections: readonly File[]) => ({ version: 1, collections, webhooks: [], settings: {} });

  async function pull(admin: TestAdmin): Promise<Record<string, unknown>> {
    return (await admin.call('GET', schemaPath)).body.data as Record<string, unknown>;
  }

  /** Plans and applies; returns the plan's refusal, if there is one. */
  async function apply(admin: TestAdmin, schema: unknown): Promise<unknown> {
    // No records service runs that would remove dropped collections' files.
    await admin.database.query({ text: 'delete from system.file_removals', values: [] });
    const planned = await admin.call('POST', `${schemaPath}/plan`, { schema });
    if (planned.status === 422) return planned.body.details;
    assert.equal(planned.status, 200, JSON.stringify(planned.body));
    const { hash, drops } = planned.body.data as { hash: string; drops: string[] };
    const applied = await admin.call('POST', `${schemaPath}/apply`, { schema, hash, allow_drop: drops });
    assert.equal(applied.status, 200, JSON.stringify(applied.body));
    const again = await admin.call('POST', `${schemaPath}/plan`, { schema });
    assert.deepEqual((again.body.data as { changes: unknown }).changes, [], 'nothing is left to do');
    return undefined;
  }

  /** Describes the tables in PostgreSQL, in an order that does not depend on their history. */
  async function describeTables({ database: { query } }: TestAdmin): Promise<unknown> {
    const [row] = await query<{ found: unknown }>({
      text: `select json_build_object(
        'columns', (select json_agg(json_build_array(n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull)
            order by n.nspname, c.relname, a.attname)
          from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
          where n.nspname in ('records', 'links') and c.relkind in ('r', 'v') and a.attnum > 0 and not a.attisdropped),
        'indexes', (select json_agg(i.tablename || ' ' || regexp_replace(i.indexdef, 'ux:[0-9a-f]+:[a-z0-9]+', 'ux')
            order by i.tablename, regexp_replace(i.indexdef, 'ux:[0-9a-f]+:[a-z0-9]+', 'ux'))
          from pg_indexes i where i.schemaname in ('records', 'links')),
        'constraints', (select json_agg(k.conrelid::regclass || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid)
            order by k.conrelid::regclass::text, k.conname)
          from pg_constraint k
          where k.contype <> 'n' and k.connamespace in ('records'::regnamespace, 'links'::regnamespace)),
        'triggers', (select json_agg(pg_get_triggerdef(t.oid) order by pg_get_triggerdef(t.oid))
          from pg_trigger t join pg_class c on c.oid = t.tgrelid
          where c.relnamespace = 'records'::regnamespace and not t.tgisinternal),
        'functions', (select json_agg(p.proname || p.prosrc order by p.proname) from pg_proc p
          where p.pronamespace = 'links'::regnamespace)) as found`,
      values: [],
    });
    return row?.found;
  }

  /** Adds a record to each table, with values that every rule and definition accepts. */
  async function addRecords({ database: { query } }: TestAdmin): Promise<void> {
    const tables = await query<{ name: string; fields: { name: string; type: string; options: object }[] }>({
      text: "select name, fields from system.collections where type = 'base'",
      values: [],
    });
    for (const { name, fields } of tables) {
      const plain = fields.filter(
        ({ type, options }) => type === 'number' || (type === 'text' && !('unique' in options)),
      );
      const columns = ['id', 'created_at', 'updated_at', ...plain.map((field) => `"${field.name}"`)];
      const values = ['gen_random_uuid()::text', '1', '1', ...plain.map(({ type }) => (type === 'text' ? "'b'" : '1'))];
      await query({ text: `insert into records."${name}" (${columns}) values (${values})`, values: [] });
    }
  }

  test(`pull, apply to an empty stack, pull is byte for byte the same, also after changes (seed ${firstSeed})`, async () => {
    if (!grown || !fresh) throw new Error('the services did not start');
    let refused = 0;
    for (let round = 0; round < rounds; round += 1) {
      const seed = firstSeed + round;
      const schema = documentOf(randomSchema(randomOf(seed)));
      const before = await pull(grown);
      const refusal = await apply(grown, schema);
      if (refusal !== undefined) {
        refused += 1;
        // A collection with a dropped one's name counts as that one, with other targets.
        for (const message of Object.values(refusal as Record<string, string>))
          assert.match(
            message,
            /rows? violates? it$|records? ha(?:s|ve) no value$|^cannot change from \w+(: drop|, which)|^is not allowed for an encrypted/,
            `seed ${seed}: ${JSON.stringify(refusal)}`,
          );
        assert.deepEqual(await pull(grown), before, `seed ${seed}: a refusal changes nothing`);
        continue;
      }
      const files = await pull(grown);
      assert.equal(await apply(fresh, documentOf([])), undefined);
      assert.equal(await apply(fresh, files), undefined, `seed ${seed}`);
      assert.equal(JSON.stringify(await pull(fresh)), JSON.stringify(files), `seed ${seed}`);
      assert.deepEqual(await describeTables(fresh), await describeTables(grown), `seed ${seed}`);
      if (round % 3 === 0) await addRecords(grown);
    }
    assert.ok(refused < rounds * 0.7, `${refused} of ${rounds} schemas were refused`);
  });
});
