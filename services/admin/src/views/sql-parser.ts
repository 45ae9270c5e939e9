import type { ParseResult } from 'libpg-query';

/** Parses SQL as PostgreSQL does. Rejects with the parser's error. Its library is loaded on demand: it takes 20 MB. */
export async function parseSql(text: string): Promise<ParseResult> {
  const { parse } = await import('libpg-query');
  return parse(text);
}
