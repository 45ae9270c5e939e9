import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { builtPages } from '../harness/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser.ts';
import type { Client } from '../harness/client.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { openSignedIn } from './watched-page.ts';

describe('a form of the admin pages with a value that cannot be read', { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let browser: Browser;
  let page: Page;
  let said: readonly string[];
  let admin: Client;

  before(async () => {
    stack = await startStack({ topology: 'one', environment: { SERVICE_PAGES_DIR: await builtPages() } });
    admin = await stack.admin();
    const fields = [
      { name: 'title', type: 'text' },
      { name: 'meta', type: 'json' },
    ];
    await admin.post('/api/v1/collections', { name: 'notes', fields });
    browser = await startBrowser();
    ({ page, said } = await openSignedIn(browser, stack.url, { viewport: { width: 1280, height: 900 } }));
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });
  const open = (path: string) => page.goto(`${stack.url}/_/${path}`);
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  /** The text of a code editor, which is in a shadow tree. */
  const editor = (name: string) => page.getByRole('dialog').getByRole('textbox', { name, exact: true });
  const focused = () =>
    page.evaluate(
      "(document.activeElement?.shadowRoot?.activeElement ?? document.activeElement)?.getAttribute('aria-label')",
    );

  test('JSON that cannot be read is not saved, is marked and focused, and stays', async () => {
    const { id } = await admin.create('notes', { title: 'kept', meta: { a: 1 } });
    await open(`collections/notes/records/${id}`);
    await page.getByRole('dialog').locator('.cm-content').waitFor();
    await editor('meta').fill('{"a": 2,}');
    await page.getByRole('dialog').getByLabel('title').fill('changed');
    await button('Save').click();
    await page.getByText('Check meta.').waitFor();
    assert.match(
      String(await page.getByRole('alert').filter({ hasText: 'JSON' }).textContent()),
      /Not valid JSON: .*position 8/,
    );
    assert.equal(await focused(), 'meta');
    assert.equal(await editor('meta').getAttribute('aria-invalid'), 'true');
    assert.equal(await editor('meta').textContent(), '{"a": 2,}');
    const { json } = await admin.get(`/api/v1/notes/${id}`);
    assert.equal((json as { data: { title: string } }).data.title, 'kept');
    await editor('meta').fill('{"a": 2}');
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'JSON' }).waitFor({ state: 'detached' });
    await button('Save').click();
    await page.getByText('Record saved.').waitFor();
    const saved = (await admin.get(`/api/v1/notes/${id}`)).json as { data: { title: string; meta: unknown } };
    assert.deepEqual([saved.data.title, saved.data.meta], ['changed', { a: 2 }]);
  });

  test('a sheet whose only change cannot be read asks before it closes, and cannot be saved', async () => {
    const { id } = await admin.create('notes', { title: 'kept', meta: { a: 1 } });
    await open(`collections/notes/records/${id}`);
    await page.getByRole('dialog').locator('.cm-content').waitFor();
    await editor('meta').fill('{"a": ');
    await button('Save').click();
    await page.getByText('Check meta.').waitFor();
    await button('Cancel').click();
    await page.getByRole('heading', { name: 'Discard unsaved changes?' }).waitFor();
    await button('Cancel').last().click();
    assert.equal(await editor('meta').textContent(), '{"a": ');
    await button('Cancel').click();
    await button('Discard').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(said, []));
});
