import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../stacks/stack.ts';

const run = promisify(execFile);
const tsc = join(repository, 'node_modules/.bin/tsc');

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable'],
  module: 'nodenext',
  types: ['node'],
  typeRoots: [join(repository, 'node_modules/@types')],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  skipLibCheck: false,
  noEmit: true,
};

/** A project that uses the packages. */
export interface StrictProject {
  /** Writes a project file. */
  write(name: string, text: string): void;
  /**
   * Compiles files in strict mode, and returns how many types the compiler made from generic ones. Fails with what the
   * compiler prints.
   */
  compile(...files: readonly string[]): Promise<number>;
}

/** Creates a project in a directory, with the client and the extension authors' package. */
export function createStrictProject(directory: string): StrictProject {
  const packages = join(directory, 'node_modules/@recordbus');
  mkdirSync(packages, { recursive: true });
  for (const name of ['client', 'extensions']) symlinkSync(join(repository, 'libs', name), join(packages, name));
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  write('package.json', '{ "type": "module" }');
  return {
    write,
    async compile(...files) {
      write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
      const compiled = run(tsc, ['-p', directory, '--extendedDiagnostics']);
      const { stdout } = await compiled.catch((error: { stdout?: string }) => assert.fail(error.stdout));
      return Number(/Instantiations:\s+(\d+)/.exec(stdout)?.[1]);
    },
  };
}
