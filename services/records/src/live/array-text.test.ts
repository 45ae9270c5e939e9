import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { arrayText } from './array-text.ts';

test("PostgreSQL parses an array's text to its values", { skip: skipWithoutDatabase }, async () => {
  const { database, remove } = await openTemporaryDatabase();
  const values = ['', 'a', null, 'NULL', '{a,"b"}', "a\\b\n\t'", 'é😀'];
  const rows = await database.query<{ value: string | null }>({
    text: 'select value from unnest($1::text[]) value',
    values: [arrayText(values)],
  });
  assert.deepEqual(
    rows.map(({ value }) => value),
    values,
  );
  await remove();
});
