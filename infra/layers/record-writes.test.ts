import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSources, readSource } from './sources.ts';

/** Sources that write a table whose name is a variable, without an event, and why no reader misses one. */
const silentWriters: Readonly<Record<string, string>> = {
  'libs/accounts/src/access.ts': 'writes columns that no record shows',
  'libs/backup/src/kept-erasures.ts': 'writes a table of the restore',
  'libs/encryption/src/reencrypt-all.ts': 'replaces ciphertext with the same value under another key',
  'libs/database/src/startup/run-migrations.ts': "writes the migrations' table",
  'libs/journal/src/rewrite-stored.ts': 'replaces values with the same ones in another encoding',
  'libs/queue/src/queue-table.ts': 'writes tables of queues',
  'services/auth/src/sessions/end-refused-sessions.ts': 'writes columns that no record shows',
  'services/auth/src/totp/totp-rows.ts': 'writes columns that no record shows',
  'services/records/src/erasure/log-places.ts': "removes erased records' versions",
  'services/records/src/retention/trim-history.ts': 'removes versions that a collection no longer keeps',
};

const composer = 'libs/journal/src/write-rows.ts';

const writesRecords = (source: string): boolean =>
  /\b(?:insert into|update|delete from)\s+\$\{(?:tableOf\(|table\}|name\})/.test(source);

test('record tables are written by one composer, and otherwise only where no record changes', () => {
  const writers = findSources('{libs,services}/*/src/**/*.ts').filter(
    (file) => !file.endsWith('.test.ts') && writesRecords(readSource(file)),
  );
  assert.deepEqual(
    writers,
    [composer, ...Object.keys(silentWriters)].sort(),
    'write through composeWrite, or say why not',
  );
});
