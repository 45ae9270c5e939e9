import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { builtPages } from '../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import { type Stack, startStack } from '../harness/stacks/stack.ts';
import { ask, createCollections, jobIn } from '../scenarios/extension-jobs/jobs-ground.ts';
import { copyExtensions } from '../scenarios/extensions/extensions-directory.ts';
import { missedByTab } from './keyboard-walk.ts';
import { look } from './look.ts';
import { openSignedIn } from './watched-page.ts';

const directory = copyExtensions('jobs');
const inADay = { in_s: 86_400 };

describe('extension jobs on the admin pages', { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let browser: Browser;
  let page: Page;
  let said: readonly string[];

  before(async () => {
    const environment = { SERVICE_PAGES_DIR: await builtPages(), SERVICE_EXTENSIONS_DIR: directory };
    stack = await startStack({ topology: 'one', environment });
    await createCollections(await stack.admin());
    browser = await startBrowser();
    ({ page, said } = await openSignedIn(browser, stack.url, {
      viewport: { width: 1280, height: 900 },
      reducedMotion: 'reduce',
    }));
    page.setDefaultTimeout(120_000);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
    rmSync(directory, { recursive: true });
  });
  const row = (name: string) => page.locator('tbody tr', { hasText: name });
  const sheet = () => page.getByRole('dialog');
  const openJob = async (id: string, name: string): Promise<void> => {
    await page.goto(`${stack.url}/_/extension-jobs/${id}`);
    await sheet().getByRole('heading', { name }).waitFor();
  };

  test('without a job the page says how to ask for one, and with some it lists them', async () => {
    await page.goto(`${stack.url}/_/health`);
    await page.getByRole('link', { name: 'Extension jobs' }).click();
    await page.getByText('No extension jobs yet').waitFor();
    const admin = await stack.admin();
    const dead = await ask(stack.guest, 'work.throws', { name: 'listed' });
    await ask(stack.guest, 'work.note', { name: 'waits' }, { ...inADay, key: 'desk/1' });
    await jobIn(admin, dead, 'dead');
    await page.reload();
    await row('work.throws').getByText('dead').waitFor();
    await row('work.note').getByText('desk/1').waitFor();
    await page.getByLabel('State').selectOption('dead');
    await row('work.note').waitFor({ state: 'detached' });
    await row('work.throws').waitFor();
    await page.getByLabel('State').selectOption('');
    await page.getByLabel('Name').fill('work.note');
    await page.keyboard.press('Enter');
    await row('work.throws').waitFor({ state: 'detached' });
    await row('work.note').getByRole('link').click();
    await page.waitForURL('**/_/extension-jobs/*');
    await sheet().getByText('"waits"').waitFor();
  });

  test('a dead job shows its error, and runs again', async () => {
    const admin = await stack.admin();
    const id = await ask(stack.guest, 'work.throws', { name: 'again' });
    await jobIn(admin, id, 'dead');
    await openJob(id, 'work.throws');
    await sheet().getByText('out of luck').waitFor();
    await stack.guest.send('POST', '/api/x/jobs/set', { body: { key: 'cured again', value: true } });
    await sheet().getByRole('button', { name: 'Run again' }).click();
    await jobIn(admin, id, 'done');
    await sheet().getByText('done', { exact: true }).waitFor();
    assert.equal(await sheet().getByRole('button', { name: 'Run again' }).count(), 0);
  });

  test('a waiting job is brought forward', async () => {
    const admin = await stack.admin();
    const id = await ask(stack.guest, 'work.note', { name: 'forward' }, inADay);
    await openJob(id, 'work.note');
    await sheet().getByRole('button', { name: 'Run now' }).click();
    await jobIn(admin, id, 'done');
    await sheet().getByText('done', { exact: true }).waitFor();
  });

  test('a running job shows its progress, and is cancelled', async () => {
    const admin = await stack.admin();
    const id = await ask(stack.guest, 'work.held', { name: 'for ever' });
    await openJob(id, 'work.held');
    await sheet().getByText('40 % at the gate').waitFor();
    await sheet().getByRole('button', { name: 'Cancel' }).click();
    await jobIn(admin, id, 'cancelled');
    await sheet().getByText('cancelled', { exact: true }).waitFor();
    await sheet().getByRole('button', { name: 'Run again' }).waitFor();
  });

  test('a job that ended meanwhile cannot be cancelled, and the page says so', async () => {
    const admin = await stack.admin();
    const id = await ask(stack.guest, 'work.note', { name: 'meanwhile' }, inADay);
    await openJob(id, 'work.note');
    const cancel = sheet().getByRole('button', { name: 'Cancel' });
    await cancel.waitFor();
    // The page reads the job again now and then: its next read waits until the button was pressed.
    let isPressed = () => {};
    const pressed = new Promise<void>((resolve) => {
      isPressed = resolve;
    });
    await page.route('**/extension-jobs/*', async (route) => {
      if (route.request().method() === 'GET') await pressed;
      await route.continue();
    });
    await admin.post(`/api/v1/admin/extension-jobs/${id}/cancel`, {}, 200);
    await cancel.click();
    await page.getByText('a job that is cancelled cannot be asked to cancel').waitFor();
    isPressed();
    await sheet().getByText('cancelled', { exact: true }).waitFor();
    await page.unroute('**/extension-jobs/*');
  });

  test('the list and a job are readable, fit a phone, and are used by the keyboard', async () => {
    const admin = await stack.admin();
    const id = await ask(stack.guest, 'work.throws', { name: 'seen' });
    await jobIn(admin, id, 'dead');
    const list = { name: 'extension-jobs', path: '/_/extension-jobs?state=dead', shows: 'work.throws' };
    const one = { name: 'extension-job', path: `/_/extension-jobs/${id}`, shows: 'out of luck' };
    for (const screen of [list, one]) {
      await look(page, stack.url, screen);
      assert.deepEqual(await missedByTab(page), [], screen.name);
    }
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(said, []));
});
