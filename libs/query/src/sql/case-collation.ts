import type { Query } from '@recordbus/database';
import { unicodeCollation } from './sql-target.ts';

/** The second is for servers before PostgreSQL 17; the last, which every server has, folds by the database's locale. */
const preferred = [unicodeCollation, '"und-x-icu"', '"default"'];

/** Finds the server's best collation for folding case, quoted. */
export async function findCaseCollation(query: Query): Promise<string> {
  const [found] = await query<{ quoted: string }>({
    text: `select quoted from unnest($1::text[]) with ordinality as preferred (quoted, place)
      join pg_collation c on c.collname = trim('"' from quoted) and c.collnamespace = 'pg_catalog'::regnamespace
        and c.collencoding in (-1, (select encoding from pg_database where datname = current_database()))
      order by place limit 1`,
    values: [preferred],
  });
  return found?.quoted ?? unicodeCollation;
}
