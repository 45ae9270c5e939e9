import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDirectory } from './definitions.ts';
import { lockedRows, type TableRow, tableCollections, translatedRows } from './table.ts';
import { translateRule } from './translate.ts';

const directory = createDirectory(tableCollections);

const translate = ({ from, slot = 'list' }: TableRow) => {
  const tasks = directory.find('tasks');
  assert.ok(tasks);
  return translateRule(from, slot, tasks, directory);
};

describe('the language table', () => {
  for (const row of translatedRows)
    test(row.from, () => {
      const { to, result, why } = translate(row);
      assert.deepEqual({ to, result }, { to: row.to, result: row.result ?? 'exact' }, why ?? undefined);
      assert.equal(why === null, result === 'exact' && !row.isMistake);
    });

  for (const row of lockedRows)
    test(`locks ${row.from}`, () => {
      const { to, result, why } = translate(row);
      assert.deepEqual({ to, result }, { to: '', result: 'locked' });
      assert.ok(why);
    });
});
