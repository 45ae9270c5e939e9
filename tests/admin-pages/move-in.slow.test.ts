import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { builtPages } from '../harness/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser.ts';
import { createPocketBaseData } from '../harness/pocketbase-data.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { zipArchive } from '../harness/zip-archive.ts';
import { hostile } from './hostile-text.ts';
import { look } from './look.ts';
import { openPage, signIn } from './watched-page.ts';

/** A backup with a locked rule and hostile texts. */
function makeBackup(): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-backup-'));
  try {
    const data = createPocketBaseData(directory);
    data.define({
      id: 'pbc_notes',
      name: 'notes',
      fields: [
        { name: 'title', type: 'text' },
        { name: 'owner', type: 'text' },
      ],
      rules: {
        list: 'owner = @request.auth.id',
        view: '',
        update: `strftime("%Y", created) = ${JSON.stringify(hostile.replaceAll(/["'\\\n]/g, ''))}`,
      },
    });
    const times = { created: '2025-01-01 10:00:00.000Z', updated: '2025-01-02 10:00:00.000Z' };
    for (let n = 0; n < 30; n += 1)
      data.insert('notes', { id: `note${n}`.padEnd(15, 'x'), title: hostile, owner: '', ...times });
    data.close();
    return zipArchive([{ name: 'data.db', bytes: readFileSync(join(directory, 'data.db')) }]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe('moving in from PocketBase on the admin pages', { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let browser: Browser;
  before(async () => {
    stack = await startStack({ topology: 'one', environment: { SERVICE_PAGES_DIR: await builtPages() } });
    await stack.admin();
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });

  test('a backup is planned, confirmed and moved, and the report is downloaded', async () => {
    const { page, said } = await openPage(browser);
    const see = (shows: string) => look(page, stack.url, { name: `move-in-${shows}`, path: '/_/move-in', shows });
    const choose = (name: string, buffer: Buffer) =>
      page.getByLabel('Backup').setInputFiles({ name, mimeType: 'application/zip', buffer });
    await signIn(page, stack.url);
    await page.goto(`${stack.url}/_/`);
    await page.getByRole('link', { name: 'move in from PocketBase' }).click();
    await page.getByText('Choose a backup or drop it here').waitFor();
    await see('A plan follows.');

    await choose('other.zip', zipArchive([{ name: 'a.txt', bytes: 'x' }]));
    await page.getByRole('button', { name: 'Upload and plan' }).click();
    await page.getByText('it has no data.db').waitFor();
    await see('The move failed');
    await page.getByRole('button', { name: 'Another backup' }).click();

    await choose('backup.zip', makeBackup());
    await page.getByText('Choose what comes, change names').click();
    await page.getByLabel('New names').fill('notes to memos');
    await page.getByText('is not old = new').waitFor();
    await page.getByLabel('New names').fill('notes = memos');
    await page.getByRole('button', { name: 'Upload and plan' }).click();
    await page.getByText('The plan is ready.').waitFor();
    const rules = page.getByRole('table', { name: 'Rules' });
    await rules.getByText('locked', { exact: true }).first().waitFor();
    await page.getByRole('table', { name: 'Collections' }).getByText('notes → memos').waitFor();
    await see('The plan is ready.');

    await page.getByRole('button', { name: 'Move in' }).click();
    await page.getByText('Moved in', { exact: true }).waitFor();
    await see('Moved in');
    for (const [button, expected] of [
      ['HTML', /<!doctype html>/],
      ['JSON', /"product": "pocketbase"/],
    ] as const) {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: button }).click();
      assert.match(readFileSync(await (await download).path(), 'utf8'), expected);
    }
    await page.getByRole('link', { name: 'Open collections' }).click();
    await page.getByRole('link', { name: 'memos' }).first().waitFor();
    assert.deepEqual(said, []);
  });
});
