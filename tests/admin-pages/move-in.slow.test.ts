import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { builtPages } from '../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import { createClient } from '../harness/clients/client.ts';
import { zipArchive } from '../harness/clients/zip-archive.ts';
import { createPocketBaseData, type PocketBaseData } from '../harness/pocketbase/data.ts';
import { signPocketBaseToken } from '../harness/pocketbase/tokens.ts';
import { type Stack, startStack } from '../harness/stacks/stack.ts';
import { hostile } from './hostile-text.ts';
import { look } from './look.ts';
import { openPage, signIn } from './watched-page.ts';

const times = { created: '2025-01-01 10:00:00.000Z', updated: '2025-01-02 10:00:00.000Z' };

/** A backup with a locked rule and hostile texts. */
const notesBackup = (): Buffer =>
  makeBackup((data) => {
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
    for (let n = 0; n < 30; n += 1)
      data.insert('notes', { id: `note${n}`.padEnd(15, 'x'), title: hostile, owner: '', ...times });
  });

const [secret, tokenKey] = ['s'.repeat(40), 'k'.repeat(50)];
const member = { id: 'ada000000000000', collectionId: 'pbc_members' };

/** A backup with a view and a user who is signed in. */
const membersBackup = (): Buffer =>
  makeBackup((data) => {
    const options = { authRule: '', authToken: { secret, duration: 3600 } };
    data.define({ id: member.collectionId, name: 'members', type: 'auth', fields: [], options });
    data.insert('members', { id: member.id, email: 'ada@example.com', tokenKey, ...times });
    const viewQuery = 'select id, created as joined from members';
    data.define({ id: 'pbc_joined', name: 'joined', type: 'view', fields: [], options: { viewQuery } });
  });

function makeBackup(fill: (data: PocketBaseData) => void): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-backup-'));
  try {
    const data = createPocketBaseData(directory);
    fill(data);
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

    await choose('backup.zip', notesBackup());
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

  test('views and open sessions come unless their boxes are unchecked', async () => {
    const { page, said } = await openPage(browser);
    const admin = await stack.admin();
    await signIn(page, stack.url);
    for (const isTaken of [false, true]) {
      await page.goto(`${stack.url}/_/move-in`);
      await page.getByRole('button', { name: 'Another backup' }).click();
      const file = { name: 'backup.zip', mimeType: 'application/zip', buffer: membersBackup() };
      await page.getByLabel('Backup').setInputFiles(file);
      await page.getByText('Choose what comes, change names').click();
      for (const label of ['Rewrite and try views', 'Users stay signed in']) {
        const box = page.getByLabel(label);
        assert.equal(await box.isChecked(), true, label);
        if (!isTaken) await box.uncheck();
      }
      await page.getByRole('button', { name: 'Upload and plan' }).click();
      await page.getByText('The plan is ready.').waitFor();
      await page.getByRole('button', { name: 'Move in' }).click();
      await page.getByText('Moved in', { exact: true }).waitFor();
      const view = await admin.send('GET', '/api/v1/collections/joined');
      assert.equal(view.status, isTaken ? 200 : 404);
      const user = createClient(stack.url, signPocketBaseToken(tokenKey + secret, member));
      const refreshed = await user.send('POST', '/api/v1/auth/refresh');
      assert.equal(refreshed.status, isTaken ? 200 : 401, refreshed.text);
      if (!isTaken) await admin.send('DELETE', '/api/v1/collections/members');
    }
    assert.deepEqual(said, []);
  });
});
