import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { builtPages } from '../harness/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const admin = { email: 'grace@example.com', password: 'correct horse battery' };

/** The sentences of the browser about things that the policy forbids, and of uncaught errors. */
function watch(page: Page): string[] {
  const said: string[] = [];
  page.on('pageerror', (error) => said.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) said.push(message.text());
  });
  return said;
}

describe('the first path through the admin pages', { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let said: string[];

  before(async () => {
    stack = await startStack({ topology: 'one', environment: { SERVICE_PAGES_DIR: await builtPages() } });
    browser = await startBrowser();
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    page = await context.newPage();
    page.setDefaultTimeout(30_000);
    said = watch(page);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });

  test('the printed link makes the first admin, and the token leaves the address', async () => {
    await page.goto(`${stack.url}/_/#setup=${stack.setupToken}`);
    await page.getByRole('heading', { name: 'Create the first admin' }).waitFor();
    assert.equal(new URL(page.url()).hash, '');
    await page.getByLabel('Email').fill(admin.email);
    await page.getByLabel('Password').fill('short');
    await page.getByRole('button', { name: 'Create admin' }).click();
    await page.getByRole('alert').first().waitFor();
    await page.getByLabel('Password').fill(admin.password);
    await page.getByRole('button', { name: 'Create admin' }).click();
    await page.getByRole('heading', { name: 'Make your first collection' }).waitFor();
  });

  test('a collection is made, and a wrong rule is told at its field', async () => {
    await page.getByRole('link', { name: 'New collection' }).first().click();
    await page.getByLabel('Name', { exact: false }).first().fill('posts');
    await page.getByRole('textbox', { name: 'Name of the field' }).fill('title');
    await page.getByRole('combobox', { name: 'List: who may' }).selectOption('some');
    const rule = page.getByRole('textbox', { name: 'List' });
    await rule.click();
    await page.keyboard.type('titel = 3');
    await page.getByRole('button', { name: 'Create collection' }).click();
    await page.getByText('posts has no field "titel"').waitFor();
    assert.equal(await page.locator('.cm-wrong').textContent(), 't');
    await page.getByRole('combobox', { name: 'List: who may' }).selectOption('everyone');
    await page.getByRole('button', { name: 'Create collection' }).click();
    await page.getByText('posts is saved.').waitFor();
    await page.goto(`${stack.url}/_/`);
    await page.getByRole('row', { name: /posts/ }).waitFor();
  });

  test('signing out ends the session, and signing in begins one', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Email').fill(admin.email);
    await page.getByLabel('Password').fill(admin.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('row', { name: /posts/ }).waitFor();
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(said, []));
});
