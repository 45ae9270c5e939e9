import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { ownMigrations, schemaName } from './migrations.ts';

const text = ownMigrations.read(schemaName);

test('schema.sql stays what deployments have: only its comments change', () => {
  // Within a function too, since function texts were compared that way with those that the earlier migrations made.
  const statements = text.replaceAll(/^\s*--.*$/gm, '').replaceAll(/\s+/g, ' ');
  assert.equal(
    createHash('sha256').update(statements).digest('hex'),
    'aa48b4f329ef07c33c6d99f9d78e5af97580e6d058667bf7096e5a22e6e35505',
    'Deployments already have these tables: add a migration instead (CONTRIBUTING.md).',
  );
});

test('a comment in schema.sql says what each table holds', () => {
  const lines = text.split('\n');
  const undescribed = lines.filter(
    (line, index) => /^create \S*\s?table /.test(line) && !lines[index - 1]?.startsWith('-- '),
  );
  assert.deepEqual(undescribed, []);
});

test('every migration after schema.sql is an SQL file, and its number is its own', () => {
  const numbered = readdirSync(import.meta.dirname).filter((file) => /^\d/.test(file));
  assert.deepEqual(
    numbered.sort(),
    ownMigrations.names.slice(1).map((name) => `${name}.sql`),
  );
  const numbers = numbered.map((file) => file.slice(0, 4));
  assert.equal(new Set(numbers).size, numbers.length, numbered.join(', '));
});
