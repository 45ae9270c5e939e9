import type { Query } from '@recordbus/database';
import { unicodeCollation } from './place.ts';

/** The second is that of servers before PostgreSQL 17, the last any server's: it folds by the database's locale. */
const preferred = [unicodeCollation, '"und-x-icu"', '"default"'];

/** Finds the best collation, quoted, that the server has for folding case. */
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
