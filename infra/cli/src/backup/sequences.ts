import type pg from 'pg';
import type { z } from 'zod';
import { ownSchemas } from '../deployment/own-schemas.ts';
import type { sequencesDocument } from './manifest.ts';

type Sequences = z.output<typeof sequencesDocument>;

/**
 * Where the counters of identity columns stand. They do not belong to a snapshot: read them after the rows, so that no
 * number that a row has comes again.
 */
export async function readSequences(client: pg.Client): Promise<Sequences> {
  const { rows } = await client.query<{ sequence: string; table: string; column: string }>(
    `select s.oid::regclass::text as sequence, d.refobjid::regclass::text as table, a.attname as column
     from pg_class s join pg_depend d on d.objid = s.oid and d.classid = 'pg_class'::regclass and d.deptype = 'i'
       and d.refclassid = 'pg_class'::regclass
     join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where s.relkind = 'S' and s.relnamespace = any($1::regnamespace[]) order by 1`,
    [ownSchemas],
  );
  const sequences: Sequences = [];
  for (const { sequence, table, column } of rows) {
    const state = await client.query<{ last: string; is_called: boolean }>(
      `select last_value::text as last, is_called from ${sequence}`,
    );
    const [counter] = state.rows;
    if (counter) sequences.push({ table, column, ...counter });
  }
  return sequences;
}

/** Puts the counters where they stood. */
export async function restoreSequences(client: pg.Client, sequences: Sequences): Promise<void> {
  for (const { table, column, last, is_called } of sequences)
    await client.query('select setval(pg_get_serial_sequence($1, $2), $3::bigint, $4)', [
      table,
      column,
      last,
      is_called,
    ]);
}
