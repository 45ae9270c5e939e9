import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { type OpenPages, openPages } from './open-pages.ts';

describe("the admin pages' own requests", { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;

  before(async () => {
    pages = await openPages(async (client) => {
      await client.post('/api/v1/collections', { name: 'notes', fields: [{ name: 'title', type: 'text' }] });
    });
    ({ page } = pages);
  });
  after(() => pages?.[Symbol.asyncDispose]());

  test('requests leave out what every opening of the pages reads, until one asks for it', async () => {
    const ofTheme = page.getByRole('link', { name: 'GET /api/v1/admin/theme' });
    const ofLogin = page.getByRole('link', { name: 'POST /api/v1/admin/login' });
    /** Opens the list until it has a row, since the log is written in batches. */
    async function openUntilListed(path: string, row: Locator): Promise<void> {
      await eventually(`${path} has the row`, async () => {
        await pages.open(path);
        await page
          .getByRole('link', { name: /^(GET|POST) / })
          .or(page.getByText('No matching requests'))
          .first()
          .waitFor();
        return (await row.count()) > 0;
      });
    }
    await openUntilListed('requests?principal_type=guest', ofTheme);
    await openUntilListed('requests', ofLogin);
    assert.equal(await ofTheme.count(), 0);
    await page.getByLabel('Caller').selectOption('guest');
    await ofTheme.first().waitFor();
  });

  test('first steps ask for what is done only while the page is used', async () => {
    let polls = 0;
    page.on('request', (request) => {
      if (/\/admin\/webhooks\?/.test(request.url())) polls += 1;
    });
    /** How many times the page asks in 20 seconds of its clock. */
    async function pollsInAWhile(): Promise<number> {
      const earlier = polls;
      for (let second = 0; second < 20; second += 1) {
        await page.clock.runFor(1000);
        // Answers arrive in real time.
        await page.evaluate("fetch('/api/v1/health').then((answer) => answer.text())");
      }
      return polls - earlier;
    }
    const steps = page.getByRole('complementary', { name: 'First steps' });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('first steps');
    await page.getByRole('option', { name: 'First steps' }).click();
    await steps.waitFor();
    await page.clock.install();
    await pages.open('');
    await steps.waitFor();
    assert.ok((await pollsInAWhile()) > 2);
    await page.clock.runFor(60_000);
    assert.equal(await pollsInAWhile(), 0);
    await page.keyboard.press('Shift');
    assert.ok((await pollsInAWhile()) > 2);
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
