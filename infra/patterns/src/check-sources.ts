import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

export interface Search {
  /** Returns the lines in a file that have what is searched. */
  readonly find: (path: string) => readonly number[];
  /** Files that are not searched, in addition to tests and the admin pages, which run in a browser. */
  readonly except: RegExp;
  /** Files that may have it, each with its reason. */
  readonly allowed: Readonly<Record<string, string>>;
}

/** Searches the code that runs in the services. Only the allowed files may have what is searched, and each must. */
export function checkSources({ find, except, allowed }: Search): void {
  const files = globSync('{libs,services}/**/src/**/*.ts', {
    cwd: repository,
    exclude: (name) => name === 'node_modules',
  });
  const found = files
    .filter((file) => !/\.test\.ts$|\/testing\/|^services\/admin\/pages\//.test(file) && !except.test(file))
    .flatMap((file) => find(join(repository, file)).map((line) => ({ file, line })));
  const unexpected = found.filter(({ file }) => !Object.hasOwn(allowed, file));
  assert.deepEqual(
    unexpected.map(({ file, line }) => `${file}:${line}`),
    [],
  );
  const used = new Set(found.map(({ file }) => file));
  assert.deepEqual(
    Object.keys(allowed).filter((file) => !used.has(file)),
    [],
    'unused exceptions',
  );
}
