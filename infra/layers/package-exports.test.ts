import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { findSources, readSource, repository, specifiersIn } from './sources.ts';

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string>>;
}

const manifests = findSources(
  '{examples,infra,libs,services}/*/package.json',
  'services/admin/pages/package.json',
  'tests/**/package.json',
).map((file) => ({
  file,
  manifest: JSON.parse(readSource(file)) as Manifest,
}));

/** The file behind each specifier that a package exports. */
const exported = new Map(
  manifests.flatMap(({ file, manifest }) =>
    Object.entries(manifest.exports ?? {}).map(([entry, target]): [string, string] => [
      `${manifest.name}${entry.slice(1)}`,
      join(dirname(file), target),
    ]),
  ),
);

const sources = findSources('{examples,infra,libs,services,tests}/**/*.{ts,js,mjs,cjs}');
const imported = sources.flatMap((file) =>
  specifiersIn(readSource(file))
    .filter((specifier) => specifier.startsWith('@recordbus/'))
    .map((specifier) => ({ file, specifier })),
);

test('every entry of exports is a file that exists', () => {
  assert.ok(exported.size > 60, `${exported.size} entries were found`);
  const missing = [...exported].filter(([, target]) => !existsSync(join(repository, target)));
  assert.deepEqual(missing, []);
});

test('every import of a package is one of its exports', () => {
  assert.ok(imported.length > 1500, `${imported.length} imports were found`);
  const unknown = imported.filter(({ specifier }) => !exported.has(specifier));
  assert.deepEqual(unknown, []);
});

test('every entry of exports is imported somewhere', () => {
  const used = new Set(imported.map(({ specifier }) => specifier));
  const unused = [...exported.keys()].filter((specifier) => !used.has(specifier));
  assert.deepEqual(unused, []);
});

test('imports are found in all their forms', () => {
  const source = `import 'a';\nimport { b } from 'b';\nexport * from 'c';\nconst d = await import('d');\nimport {\n  e,\n} from 'e';`;
  assert.deepEqual(specifiersIn(source), ['a', 'b', 'c', 'd', 'e']);
});
