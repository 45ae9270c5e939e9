import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { locks } from './advisory-locks.ts';

const root = join(import.meta.dirname, '../../..');
const read = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: (name) => name === 'node_modules' })
    .filter((file) => !/\.test\.ts$/.test(file))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

const list = 'libs/database/src/advisory-locks.ts';
/** The key in a function that a later migration drops. */
const dropped = 'system.range_lock(range)';

suite('advisory locks', () => {
  const migrations = read('libs/database/src/migrations/*.sql');

  test('are named in one list, and taken by its keys', () => {
    const elsewhere = read('{libs,services,infra}/**/{src,test}/**/*.ts')
      .filter(({ file }) => file !== list)
      .filter(({ text }) => /advisory_\w*lock\w*\((?!\$\{locks\.)|hashtext\('recordbus/.test(text));
    assert.deepEqual(
      elsewhere.map(({ file }) => file),
      [],
    );
  });

  test('in database functions are in the list', () => {
    const keys = migrations.flatMap(({ text }) =>
      [...text.matchAll(/pg_(?:try_)?advisory_\w*lock\w*\((.*)\)/g)].map(([, key = '']) => key),
    );
    assert.ok(keys.length > 5, `found ${keys}`);
    const listed: readonly string[] = Object.values(locks);
    // A function's parameter stands where the list has $1.
    const asListed = (key: string) => key.replace('turn || i.id', "'' || $1");
    assert.deepEqual(
      keys.filter((key) => key !== dropped && !listed.includes(asListed(key))),
      [],
    );
  });

  test('have different keys', () => {
    assert.equal(new Set(Object.values(locks)).size, Object.keys(locks).length);
  });
});
