import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createValueCipher, isCiphertext } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { skip, startTestAdmin, type TestAdmin } from '../../test/test-admin.ts';
import { encryptRecent } from './delayed-encryption.ts';

describe('values that were stored in plain text before a replica learned of the encryption', { skip }, () => {
  const cipher = createValueCipher('a passphrase of a test');
  const nowSec = () => Date.now() / 1000;
  let admin: TestAdmin;
  before(async () => {
    admin = await startTestAdmin();
    const fields = [{ name: 'code', type: 'text' }];
    const { status } = await admin.call('POST', '/api/v1/collections', { name: 'posts', type: 'base', fields });
    assert.equal(status, 201);
  });
  after(() => admin?.stop());

  const run = (text: string, values: readonly unknown[] = []) =>
    admin.database.query<{ code: string }>({ text, values });
  /** Changes the definition as an encryption change does, and leaves the value as a late write does. */
  async function encrypted(is: boolean): Promise<void> {
    const fields = '(select json_agg(f::jsonb || $1::jsonb)::text from json_array_elements(fields::json) f)';
    await run(`update system.collections set fields = ${fields}::json where name = 'posts'`, [
      JSON.stringify({ options: { encrypted: is } }),
    ]);
  }
  const codes = async () => (await run('select code from records.posts order by id')).map(({ code }) => code);

  test('are not encrypted once the field is decrypted', async () => {
    await encrypted(true);
    await run("insert into records.posts (id, created_at, updated_at, code) values ('late', 1, 1, 'plain')");
    let transactions = 0;
    const transaction = async <T>(work: (query: Query) => Promise<T>): Promise<T> => {
      const result = await admin.database.transaction(work);
      transactions += 1;
      // The value has been read, and the field is decrypted before it is written.
      if (transactions === 1) await encrypted(false);
      return result;
    };
    await encryptRecent({ database: { query: admin.database.query, transaction }, cipher, nowSec });
    assert.equal(transactions, 1);
    assert.deepEqual(await codes(), ['plain']);
  });

  test('are encrypted while the field stays so [fields §4.8]', async () => {
    await encrypted(true);
    await encryptRecent({ database: admin.database, cipher, nowSec });
    assert.deepEqual((await codes()).map(isCiphertext), [true]);
  });
});
