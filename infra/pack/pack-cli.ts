import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cliManifest, type Manifest, type Workspace } from './cli-manifest.ts';
import { npmPack, root, run } from './npm-pack.ts';

/** What the command line and `npm start` run, by their folders. */
const entries = ['infra/cli', 'infra/local'] as const;

/** A workspace's sources that run; the pages' are built instead. */
const sourcesOf = (folder: string): string => (folder === 'services/admin/pages' ? 'build/*.ts' : 'src/**/*.ts');

/** Tests and their helpers. */
const onlyForTests = /(^|[/.])test(ing)?[/.]/;

/**
 * Packs the command line with everything that `npm start` runs: JavaScript, because Node runs no TypeScript below
 * node_modules, and the built admin pages. Returns the tarball's path in `target`.
 */
export function packCli(target: string): string {
  const stage = mkdtempSync(join(tmpdir(), 'recordbus-pack-'));
  try {
    const workspaces = closure(entries);
    compile(workspaces, join(stage, 'compiled'));
    for (const workspace of workspaces) addWorkspace(workspace, stage);
    rmSync(join(stage, 'compiled'), { recursive: true });
    run(process.execPath, [join(root, 'services/admin/pages/build/main.ts'), join(stage, 'pages')], root, {
      NODE_ENV: 'production',
    });
    for (const file of ['runtime', 'run-child', 'postgres-libraries', 'tether'])
      cpSync(join(root, `infra/launch/${file}.cjs`), join(stage, `launch/${file}.cjs`));
    cpSync(join(import.meta.dirname, 'cli'), stage, { recursive: true });
    cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'));
    writeJson(join(stage, 'package.json'), cliManifest(readManifest('.'), workspaces));
    return npmPack(stage, target);
  } finally {
    rmSync(stage, { recursive: true });
  }
}

/** Returns the workspaces with these folders, and all that they depend on. */
function closure(folders: readonly string[]): readonly Workspace[] {
  const { workspaces: patterns = [] } = readManifest('.');
  const all = new Map(
    globSync(
      patterns.map((pattern) => `${pattern}/package.json`),
      { cwd: root },
    )
      .map((file): Workspace => ({ folder: dirname(file), manifest: readManifest(dirname(file)) }))
      .map((workspace) => [workspace.manifest.name, workspace]),
  );
  const found = new Set([...all.values()].filter(({ folder }) => folders.includes(folder)));
  // A set yields what is added meanwhile too.
  for (const { manifest } of found)
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      const workspace = all.get(name);
      if (workspace) found.add(workspace);
    }
  return [...found];
}

function compile(workspaces: readonly Workspace[], outDir: string): void {
  mkdirSync(outDir, { recursive: true });
  const project = join(outDir, 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    noCheck: true,
    typeRoots: [join(root, 'node_modules/@types')],
    allowImportingTsExtensions: false,
    rewriteRelativeImportExtensions: true,
    incremental: false,
    rootDir: root,
    outDir,
  };
  const include = workspaces.map(({ folder }) => join(root, folder, sourcesOf(folder)));
  const exclude = ['**/*.test.ts', '**/*.testing.ts', '**/node_modules'];
  writeJson(project, { extends: join(root, 'tsconfig.json'), compilerOptions, include, exclude });
  run(join(root, 'node_modules/.bin/tsc'), ['-p', project], root);
}

/** Adds a workspace as a bundled dependency: compiled files, and what they read beside them, such as SQL. */
function addWorkspace({ folder, manifest }: Workspace, stage: string): void {
  const place = join(stage, 'node_modules', manifest.name);
  const compiled = join(stage, 'compiled', folder);
  const files = globSync(sourcesOf(folder).replace(/ts$/, 'js'), { cwd: compiled });
  for (const file of files.filter((path) => !onlyForTests.test(path))) {
    const to = join(place, file);
    mkdirSync(dirname(to), { recursive: true });
    // Workers and processes are started by their files' addresses, which the compiler leaves alone.
    const text = readFileSync(join(compiled, file), 'utf8');
    writeFileSync(to, text.replace(/(new URL\('[^']+)\.ts'/g, "$1.js'"));
  }
  for (const file of globSync(['*.sql', 'src/**/*.{sql,json,html,txt,wasm,mjs,cjs}'], { cwd: join(root, folder) }))
    cpSync(join(root, folder, file), join(place, file));
  const exports = Object.fromEntries(
    Object.entries(manifest.exports ?? {}).map(([entry, file]) => [entry, file.replace(/\.ts$/, '.js')]),
  );
  const { name, license, type } = manifest;
  writeJson(join(place, 'package.json'), { name, version: readManifest('.').version, license, type, exports });
}

const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}
