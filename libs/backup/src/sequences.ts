import { ownSchemas } from '@recordbus/encryption';
import type pg from 'pg';
import type { z } from 'zod';
import type { sequencesDocument } from './manifest.ts';

type Sequences = z.output<typeof sequencesDocument>;

/**
 * Reads identity columns' sequences. A snapshot does not include them: read them after the rows, so that no row's
 * number is used again.
 */
export async function readSequences(client: pg.Client): Promise<Sequences> {
  const { rows } = await client.query<{ sequence: string; table: string; column: string }>(
    `select s.oid::regclass::text as sequence, d.refobjid::regclass::text as table, a.attname as column
     from pg_class s join pg_depend d on d.objid = s.oid and d.classid = 'pg_class'::regclass and d.deptype = 'i'
       and d.refclassid = 'pg_class'::regclass
     join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where s.relkind = 'S' and s.relnamespace in (select oid from pg_namespace where nspname = any($1)) order by 1`,
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

/** Sets the sequences to their saved state. */
export async function restoreSequences(client: pg.Client, sequences: Sequences): Promise<void> {
  for (const { table, column, last, is_called } of sequences)
    await client.query('select setval(pg_get_serial_sequence($1, $2), $3::bigint, $4)', [
      table,
      column,
      last,
      is_called,
    ]);
}
