import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/**
 * Scenario files share a stack. Collections are dropped between files, but messages stay in the stream, also those of a
 * collection with the same name.
 */
const directory = join(import.meta.dirname, '../../../tests/scenarios');
const texts = new Map(
  globSync('**/*.ts', { cwd: directory }).map((file) => [file, readFileSync(join(directory, file), 'utf8')]),
);

/** Files that read older messages too, with the reason why others' do not matter. */
const readAll: Readonly<Record<string, string>> = {
  'batch-together.test.ts': 'by the request id',
  'field-types.test.ts': 'only looks for one field of its own collections',
  'import-modes.test.ts': 'by a collection name that no other file has',
  'webhook-failures.test.ts': "by the webhook's id",
};

/** The names of the collections that a file creates. */
function collectionsOf(text: string): string[] {
  const constants = new Map([...text.matchAll(/^const (\w+) = '(\w+)';/gm)].map(([, name, value]) => [name, value]));
  const created = text.matchAll(/\/collections', \{\s*(?:body: \{ )?name(?:: (?:'(\w+)'|(\w+)))?/g);
  return [...created].flatMap(([, literal, constant = 'name']) => literal ?? constants.get(constant) ?? []);
}

test('a scenario reads the bus from its start on', () => {
  const found = [...texts].filter(([, text]) =>
    /openBusReader\([^;]*\);/.test(text.replace(/openBusReader\([^;]*isFromNow: true[^;]*\);/g, '')),
  );
  assert.deepEqual(found.map(([file]) => file).sort(), Object.keys(readAll).sort());
});

test('a scenario that replays by a collection name is the only one with this collection', () => {
  // It asks only whether a replay succeeds.
  const countsNone = 'erasure.test.ts';
  const replaying = [...texts].filter(([file, text]) => file !== countsNone && /missing: true/.test(text));
  assert.ok(replaying.length > 1);
  for (const [file, text] of replaying) {
    const names = collectionsOf(text);
    assert.ok(names.length > 0, file);
    for (const name of names)
      for (const [other, theirs] of texts)
        assert.ok(other === file || !collectionsOf(theirs).includes(name), `${file} and ${other} have ${name}`);
  }
});
