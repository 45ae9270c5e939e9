import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { listAt, objectAt, textAt } from '../harness/json.ts';
import { look } from './look.ts';
import { type OpenPages, openPages } from './open-pages.ts';
import { enter } from './watched-page.ts';

const path = '/api/v1/admin/backups';

describe('backups in the admin pages', () => {
  let pages: OpenPages;
  let file: string;
  let archive: Buffer;
  before(async () => {
    // The pages' session begins after this backup, so that the restored stack does not know it.
    pages = await openPages(async (admin) => {
      await admin.post('/api/v1/collections', { name: 'notes', fields: [{ name: 'title', type: 'text' }] });
      await admin.create('notes', { title: 'before' });
      const id = textAt(await admin.post(path, {}, 202), 'id');
      file = await eventually('the backup is complete', async () => {
        const shown = objectAt((await admin.get(`${path}/${id}`)).json, 'data');
        return shown.state === 'done' ? textAt(shown, 'file') : undefined;
      });
    });
    const { admin, stack } = pages;
    const [made] = listAt((await admin.get(path)).json, 'data');
    archive = readFileSync(join(stack.ground.dataDirectory, 'backups/archives', textAt(made, 'id'), file));
    await admin.create('notes', { title: 'after' });
  });
  after(() => pages?.[Symbol.asyncDispose]());

  test('an archive is uploaded and checked; one that is none is refused', async () => {
    const { open, page, button } = pages;
    await open('backups');
    await button('Upload').click();
    const choose = (name: string, buffer: Buffer) =>
      page.getByLabel('Archive').setInputFiles({ name, mimeType: 'application/gzip', buffer });
    const send = page.getByRole('dialog').getByRole('button', { name: 'Upload' });
    await choose('picture.png', Buffer.from('\x89PNG'));
    await send.click();
    await page.getByText('is not an archive').waitFor();
    await choose('half.tar.gz', archive.subarray(0, 4000));
    await send.click();
    await page.getByText('damaged').waitFor();
    await button('Upload').click();
    await choose('copy.tar.gz', archive);
    await send.click();
    await page.getByText('uploaded').nth(1).waitFor();
    await eventually('the copy is listed', async () => {
      const listed = listAt((await pages.admin.get(path)).json, 'data');
      return listed.filter(({ source, state }) => source === 'upload' && state === 'done').length === 1;
    });
  });

  test('a schedule is chosen, and a wrong one is marked', async () => {
    const { open, page, button, admin } = pages;
    await open('backups');
    await page.getByLabel('Make a backup').selectOption('By a cron expression');
    await page.getByLabel('Cron expression').fill('61 * * * *');
    await button('Save schedule').click();
    await page.getByText('must be a cron expression').waitFor();
    await page.getByLabel('Make a backup').selectOption('Every day at 03:00 UTC');
    await page.getByLabel('Keep').fill('3');
    await button('Save schedule').click();
    await page.getByText('Schedule saved.').waitFor();
    const settings = objectAt((await admin.get('/api/v1/admin/settings')).json, 'data');
    assert.deepEqual([settings['backups.cron'], settings['backups.keep']], ['0 3 * * *', '3']);
  });

  test('the page and its dialogs', async () => {
    const { page, stack } = pages;
    const screen = { path: '/_/backups', shows: 'Keep' };
    // Colours do not change slowly.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await look(page, stack.url, { ...screen, name: 'backups-full' });
    await look(page, stack.url, {
      ...screen,
      name: 'backup-upload',
      opens: (opened) => opened.getByRole('button', { name: 'Upload' }).click(),
    });
    await look(page, stack.url, {
      ...screen,
      name: 'backup-restore',
      opens: (opened) =>
        opened
          .getByRole('button', { name: `Restore ${file}` })
          .first()
          .click(),
    });
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('a restore asks for the name, survives that the stack stops, and says what happened', async () => {
    const { open, page, admin, said } = pages;
    await open('backups');
    await page
      .getByRole('button', { name: `Restore ${file}` })
      .last()
      .click();
    const restore = page.getByRole('dialog').getByRole('button', { name: 'Restore' });
    assert.equal(await restore.isDisabled(), true);
    await page.getByLabel(`Type ${file} to confirm`).fill(file.slice(1));
    assert.equal(await restore.isDisabled(), true);
    await page.getByLabel(`Type ${file} to confirm`).fill(file);
    await page.keyboard.press('Enter');
    await page.getByText('The stack has stopped and restores the backup.').waitFor();
    // Escape does not leave a restore behind.
    await page.keyboard.press('Escape');
    await page.getByText(/^Restored \d+ rows and 0 files as of /).waitFor();
    // The session is newer than the backup, so a form to sign in may lie on top.
    await page.getByRole('button', { name: 'Reload' }).dispatchEvent('click');
    await enter(page);
    await page.getByRole('heading', { name: 'Backups' }).waitFor();
    assert.deepEqual(
      listAt((await admin.get('/api/v1/notes')).json, 'data').map(({ title }) => title),
      ['before'],
    );
    assert.deepEqual(said, []);
  });
});
