import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';

const docs = join(import.meta.dirname, '../../../docs');

/** Returns the cells of the rows below a heading, without the table's head. */
function rowsBelow(page: string, heading: string): string[][] {
  const [, section = ''] = readFileSync(join(docs, page), 'utf8').split(`\n${heading}\n`);
  return section
    .split(/\n#+ /, 1)
    .flatMap((text) => text.split('\n'))
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const namesIn = (cells: readonly string[]): string[] =>
  cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name));

const places = rowsBelow('privacy.md', "## Where a person's data is").map(([place]) => place);
const stated = rowsBelow('reference/privacy.md', "### 6.1 Tables with a person's data");
const others = rowsBelow('reference/privacy.md', '### 6.2 Other tables');

test("each place of a person's data that has tables is in the guide", () => {
  assert.ok(stated.length > 0);
  assert.deepEqual(
    stated.map(([place]) => place).filter((place) => !places.includes(place)),
    [],
  );
});

test("every table that can hold a text is in a place of a person's data, or the reference says why not", {
  skip: skipWithoutDatabase,
}, async () => {
  const named = [
    ...namesIn(stated.map(([, tables = '']) => tables)),
    ...namesIn(others.map(([tables = '']) => tables)),
  ];
  assert.deepEqual(
    named.filter((name, index) => named.indexOf(name) !== index),
    [],
    'a table is listed twice',
  );
  for (const row of others) assert.ok(row.length === 2 && row.every((cell) => cell !== ''), row.join('|'));
  const { database, remove } = await openTemporaryDatabase();
  try {
    const found = await database.query<{ name: string }>({
      text: `select distinct c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
        join pg_type t on t.oid = a.atttypid left join pg_type item on item.oid = t.typelem
        where c.relnamespace = 'system'::regnamespace and c.relkind in ('r', 'p', 'm') and not c.relispartition
          and a.attnum > 0 and not a.attisdropped
          and coalesce(item.typname, t.typname) in ('text', 'varchar', 'bpchar', 'name', 'json', 'jsonb', 'xml', 'bytea', 'tsvector', 'hstore')`,
      values: [],
    });
    assert.deepEqual(named.toSorted(), found.map(({ name }) => name).toSorted());
  } finally {
    await remove();
  }
});
