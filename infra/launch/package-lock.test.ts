import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

interface Entry {
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const file = join(import.meta.dirname, '../../package-lock.json');
const { packages }: { packages: Record<string, Entry> } = JSON.parse(readFileSync(file, 'utf8'));

/** Resolves a package as Node does: next to the dependent, then in the parents. */
function isResolved(place: string, name: string): boolean {
  const folders = place
    .split('/node_modules/')
    .map((_, index, all) => all.slice(0, all.length - index).join('/node_modules/'));
  return [...folders, ''].some((folder) => `${folder && `${folder}/`}node_modules/${name}` in packages);
}

test('the lock file names the packages of every platform, or npm ci refuses it', () => {
  const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isResolved(place, name)),
  );
  assert.deepEqual(
    missing,
    [],
    "a registry without another platform's build leaves it out: add it by hand, with its os and cpu",
  );
});
