import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { at, type JsonObject, objectAt, textAt } from '../harness/json.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import type { Target } from '../harness/stacks/target.ts';
import { ended } from './import-jobs.ts';

export const erasePath = (collection: string, id: unknown): string => `/api/v1/admin/erase/${collection}/${id}`;

/** Asks for an erasure. Returns its job's id. */
export async function askErasure(admin: Client, collection: string, id: unknown, body: object = {}): Promise<string> {
  const answer = await admin.send('POST', erasePath(collection, id), { body });
  assert.equal(answer.status, 202, answer.text);
  return textAt(at(answer.json, 'data'), 'id');
}

/** Erases a record and waits for the end. Returns the certificate. */
export async function erased(admin: Client, collection: string, id: unknown, body: object = {}): Promise<JsonObject> {
  const job = await ended(admin, await askErasure(admin, collection, id, body));
  assert.equal(job.state, 'done', JSON.stringify(job.error));
  return objectAt(job, 'certificate');
}

/** The tables that have a text in any of their rows, as a dump would. One statement reads them all. */
export async function tablesWith(target: Pick<Target, 'databaseUrl'>, marker: string): Promise<string[]> {
  const [tables] = await inDatabase(
    target,
    `select string_agg(
        format(
          'select %L as name where exists (select from %s t where strpos(lower(t::text), lower($1)) > 0)', name, name
        ), ' union all '
      ) as search
      from (
        select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname in ('system', 'records', 'history', 'links', 'search') order by 1
      ) named`,
    [],
  );
  const found = await inDatabase(target, textAt(tables, 'search'), [marker]);
  return found.map(({ name }) => String(name));
}
