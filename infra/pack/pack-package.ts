import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmPack, root, run } from './npm-pack.ts';

/** The packages that people install from outside this repository, by their folder names in `libs`. */
export const packageNames = ['client', 'extensions'] as const;

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/**
 * Packs a package as JavaScript with types, because Node runs no TypeScript below node_modules. Returns the tarball's
 * path in `target`.
 */
export function packPackage(name: (typeof packageNames)[number], target: string): string {
  const source = join(root, 'libs', name);
  const stage = mkdtempSync(join(tmpdir(), 'recordbus-pack-'));
  try {
    compile(source, stage);
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(publicManifest(source), undefined, 2)}\n`);
    cpSync(join(source, 'README.md'), join(stage, 'README.md'));
    cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'));
    return npmPack(stage, target);
  } finally {
    rmSync(stage, { recursive: true });
  }
}

/** Compiles for browsers and every runtime: without Node's types, so nothing from Node is used by mistake. */
function compile(source: string, stage: string): void {
  const project = join(stage, 'tsconfig.json');
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
    module: 'nodenext',
    strict: true,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
    declaration: true,
    removeComments: false,
    rootDir: join(source, 'src'),
    outDir: join(stage, 'dist'),
  };
  const include = [join(source, 'src')];
  writeFileSync(project, JSON.stringify({ compilerOptions, include, exclude: [join(source, 'src/**/*.test.ts')] }));
  run(join(root, 'node_modules/.bin/tsc'), ['-p', project], root);
  rmSync(project);
  // The compiler leaves source names in declarations.
  for (const file of globSync('dist/**/*.d.ts', { cwd: stage }).map((found) => join(stage, found))) {
    const declarations = readFileSync(file, 'utf8');
    writeFileSync(file, declarations.replace(/((?:from |import\()['"]\.[^'"\n]*)\.ts(['"])/g, '$1.js$2'));
  }
}

/** The package's manifest, with the repository's version and compiled files instead of sources. */
function publicManifest(source: string): object {
  const manifest: Manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { '//': _note, private: _private, name, exports, ...members } = manifest;
  const compiled = Object.entries(exports).map(([entry, file]): [string, object] => {
    const path = file.replace('./src/', './dist/').replace(/\.ts$/, '');
    return [entry, { types: `${path}.d.ts`, default: `${path}.js` }];
  });
  return {
    name,
    version,
    ...members,
    exports: Object.fromEntries(compiled),
    files: ['dist'],
    engines: { node: '>=20' },
  };
}
