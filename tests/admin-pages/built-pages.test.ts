import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { builtPages } from '../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt } from '../harness/json.ts';
import { type Stack, startStack } from '../harness/stacks/stack.ts';
import { openPage } from './watched-page.ts';

/** Spec P, word for word. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/** The gzipped bytes that a browser loads before the first screen. */
const budgets = [
  ['index.html', 200_000],
  ['portal.html', 70_000],
] as const;

/** Addresses that are names, not places to load from, and the links in the messages that libraries have. */
const namesOnly = /^https?:\/\/(www\.w3\.org\/|www\.ibm\.com\/data\/dtd\/|svelte\.dev\/e\/|prosemirror\.net\/docs\/)/;

/** The API's reference page, a library with its own samples. Its policy forbids loads from other origins. */
const ofReference = /(?:^|\/)scalar-/;

const topology = process.env.TEST_TOPOLOGY === 'processes' ? 'processes' : 'one';

describe('the admin pages', () => {
  const root = mkdtempSync(join(tmpdir(), 'recordbus-pages-'));
  const directory = join(root, 'pages');
  let stack: Stack;
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    fetch(`${stack.url}${path}`, { method, headers: { 'Accept-Encoding': 'identity', ...headers } });

  before(async () => {
    stack = await startStack({ topology, environment: { SERVICE_PAGES_DIR: directory } });
  });
  after(async () => {
    await stack.stop();
    rmSync(root, { recursive: true });
  });

  test('until the pages are built, a page says so and reloads itself', async () => {
    const read = async (): Promise<string> => {
      const response = await get('/_/collections');
      const given = String(response.headers.get('content-security-policy'));
      assert.match(given, /script-src 'self' 'sha256-/);
      assert.equal(given.replaceAll(/ 'sha256-[\w+/]+=*'/g, ''), policy);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      return response.text();
    };
    assert.match(await read(), /data-reload-ms="1000".*being built/s);
    writeFileSync(`${directory}.failure`, 'Cannot <script>alert(1)</script>');
    const failed = await read();
    assert.match(failed, /could not be built.*Cannot &#60;script&#62;/s);
    assert.doesNotMatch(failed, /<script>alert/);
    rmSync(`${directory}.failure`);
  });

  test('a set-up link that is opened too early shows its form once they are built', {
    skip: skipWithoutBrowser,
  }, async () => {
    const browser = await startBrowser();
    try {
      const { page, said } = await openPage(browser);
      await page.goto(`${stack.url}/_/#setup=${stack.setupToken}`);
      await page.getByText('being built').waitFor();
      symlinkSync(await builtPages(), directory);
      await page.getByRole('heading', { name: 'Create the first admin' }).waitFor();
      assert.equal(await page.getByLabel('Set-up token').count(), 0);
      assert.deepEqual(said, []);
    } finally {
      await browser.close();
    }
  });

  describe('once they are built', () => {
    let asset: string;
    let index: string;
    before(async () => {
      if (!existsSync(directory)) symlinkSync(await builtPages(), directory);
      index = readFileSync(join(directory, 'index.html'), 'utf8');
      const script = /src="(\/_\/assets\/[^"]+\.js)"/.exec(await (await get('/_/')).text())?.[1];
      assert.ok(script);
      asset = script;
    });

    for (const [page, budget] of budgets)
      test(`the first load of ${page} fits its budget`, () => {
        const html = readFileSync(join(directory, page), 'utf8');
        const loaded = [...html.matchAll(/(?:src|href)="\/_\/([^"]+)"/g)].map(([, file]) => String(file));
        assert.ok(loaded.some((file) => file.endsWith('.js')) && loaded.some((file) => file.endsWith('.css')), html);
        const sizes = [page, ...loaded].map((file) => gzipSync(readFileSync(join(directory, file))).length);
        const bytes = sizes.reduce((sum, size) => sum + size, 0);
        assert.ok(bytes <= budget, `${bytes} bytes`);
      });

    test('no file names an outside address', () => {
      const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
      const texts = files.filter((file) => /\.(html|js|css|svg)$/.test(file) && !ofReference.test(file));
      assert.ok(texts.length >= 3);
      for (const file of texts) {
        const addresses =
          readFileSync(join(directory, file), 'utf8').match(/https?:\/\/[\w.-]+\.[a-z]+\/?[^\s"'`)]*/g) ?? [];
        const outside = addresses.filter((address) => !namesOnly.test(address) && !/example\.com/.test(address));
        assert.deepEqual(outside, [], file);
      }
    });

    test('the page has no inline script or style', () => {
      assert.doesNotMatch(index, /<style|style=|<script(?![^>]* src=)|\son\w+=/);
    });

    test('every page address has the index, with its policy, and must be revalidated', async () => {
      const pages = ['/_', '/_/', '/_/collections', '/_/collections/posts/records/x', '/_/a/b/c/d/e', '/_/%00'];
      for (const path of pages) {
        const response = await get(path);
        assert.equal(response.status, 200, path);
        assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
        assert.equal(response.headers.get('content-security-policy'), policy);
        assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
        assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
        assert.equal(response.headers.get('cache-control'), 'no-cache');
        assert.match(await response.text(), /<div id="app">/);
      }
    });

    test("the page's files never change under their name", async () => {
      const response = await get(asset);
      assert.equal(response.headers.get('content-type'), 'text/javascript; charset=utf-8');
      assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(response.headers.get('content-security-policy'), policy);
    });

    test('a known version is 304, and HEAD has only the headers', async () => {
      for (const path of ['/_/', asset]) {
        const etag = (await get(path)).headers.get('etag');
        assert.ok(etag);
        const known = await get(path, { 'If-None-Match': `"other", W/${etag}` });
        assert.deepEqual([known.status, await known.text()], [304, '']);
        assert.equal((await get(path, { 'If-None-Match': '"other"' })).status, 200);
        const head = await get(path, {}, 'HEAD');
        assert.deepEqual([head.status, head.headers.get('etag'), await head.text()], [200, etag, '']);
      }
    });

    test('the coding is the best one that the client accepts', async () => {
      const rows = [
        ['gzip, deflate, br', 'br'],
        ['gzip', 'gzip'],
        ['br;q=0, GZIP;q=0.5', 'gzip'],
        ['identity', null],
        ['br;q=0.000', null],
      ] as const;
      const plain = await (await get(asset)).text();
      for (const [accepted, coding] of rows) {
        const response = await get(asset, { 'Accept-Encoding': accepted });
        assert.equal(response.headers.get('content-encoding'), coding, accepted);
        assert.match(response.headers.get('vary') ?? '', /Accept-Encoding/);
        assert.equal(await response.text(), plain);
      }
    });

    test('served files are not in the request log, missing files are [admins §7.3]', async () => {
      const admin = await stack.admin();
      await get(asset);
      await get('/_/assets/missing.js');
      const logged = await eventually('the missing file is logged', async () => {
        const rows = listAt((await admin.get('/api/v1/admin/logs?path=/_/assets/&perPage=200')).json, 'data');
        const paths = rows.map(({ path }) => path);
        return paths.includes('/_/assets/missing.js') && paths;
      });
      assert.equal(logged.includes(asset), false);
    });

    test("missing files' names are 404", async () => {
      const names = [
        'none.js',
        '..%2findex.html',
        '..%2f..%2fpackage.json',
        '%2fetc%2fpasswd',
        'constructor',
        '__proto__',
      ];
      for (const name of names) assert.equal((await get(`/_/assets/${name}`)).status, 404, name);
      assert.equal((await get('/_/', {}, 'POST')).status, 405);
    });
  });
});
