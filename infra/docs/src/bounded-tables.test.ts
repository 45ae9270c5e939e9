import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';

const page = join(import.meta.dirname, '../../../docs/security.md');

/** Returns the rows of the table that says what bounds each database table. */
function statedRows(): string[][] {
  const [, section = ''] = readFileSync(page, 'utf8').split("\n## What a stranger's requests leave behind\n");
  const [text = ''] = section.split('\n## ');
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').slice(1, -1));
}

test('docs/security.md says for each table who adds rows, what bounds them and who removes them', {
  skip: skipWithoutDatabase,
}, async () => {
  const rows = statedRows();
  const stated = rows.flatMap(([names = '']) => [...names.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name));
  assert.deepEqual(
    stated.filter((name, index) => stated.indexOf(name) !== index),
    [],
    'a table is listed twice',
  );
  for (const row of rows) assert.ok(row.length === 4 && row.every((cell) => cell.trim() !== ''), row.join('|'));
  const { database, remove } = await openTemporaryDatabase();
  try {
    const found = await database.query<{ name: string }>({
      text: `select relname as name from pg_class
        where relnamespace = 'system'::regnamespace and relkind in ('r', 'p') and not relispartition`,
      values: [],
    });
    assert.deepEqual(stated.toSorted(), found.map(({ name }) => name).toSorted());
  } finally {
    await remove();
  }
});
