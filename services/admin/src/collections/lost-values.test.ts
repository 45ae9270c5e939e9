import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { skip, startTestAdmin, type TestAdmin } from '../../test/test-admin.ts';
import { testCollection } from '../../test/test-collection.ts';
import { planCreate } from '../ddl/create-table.ts';
import { countLostValues, warningsOfLostValues } from './lost-values.ts';

describe("dropped fields' values", { skip }, () => {
  const withTitle = testCollection('lossy', [{ name: 'title', type: 'text' }]);
  const without = testCollection('lossy', []);
  let admin: TestAdmin;
  before(async () => {
    admin = await startTestAdmin();
    const statements = [
      ...planCreate(withTitle),
      `insert into records.lossy (id, title, created_at, updated_at)
       select n::text, 'x', 0, 0 from generate_series(1, 50000) n`,
    ];
    for (const text of statements) await admin.database.query({ text, values: [] });
  });
  after(() => admin.stop());

  /** Counts in a transaction, and returns its statement timeout afterwards. */
  const count = (timeoutMs: number) =>
    admin.database.transaction(async (query) => {
      const execute = async (statements: readonly string[]) => {
        for (const text of statements) await query({ text, values: [] });
      };
      await execute(["set local statement_timeout = '17s'"]);
      const lost = await countLostValues({ query, execute }, withTitle, without, timeoutMs);
      const [row] = await query<{ timeout: string }>({
        text: "select current_setting('statement_timeout') as timeout",
        values: [],
      });
      return { warnings: warningsOfLostValues(lost), timeout: row?.timeout };
    });

  test('are counted', async () => {
    const warnings = ['The field "title" was dropped; 50000 values are lost.'];
    assert.deepEqual(await count(20_000), { warnings, timeout: '17s' });
  });

  test('are counted for a limited time, after which the change continues', async () => {
    const warnings = ['The field "title" was dropped. Its values are lost; counting them took too long.'];
    assert.deepEqual(await count(1), { warnings, timeout: '17s' });
  });
});
