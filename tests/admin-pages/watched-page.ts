import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { firstAdmin } from '../harness/stacks/stack.ts';

/** A page, with the browser's messages, of which there must be none. */
export interface WatchedPage {
  readonly page: Page;
  /** Policy violations, uncaught errors, and dialogs that scripts open. */
  readonly said: readonly string[];
}

const wideWindow: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' };

/** Opens a page in its own context. Close the context afterwards. */
export async function openPage(browser: Browser, options: BrowserContextOptions = wideWindow): Promise<WatchedPage> {
  const page = await (await browser.newContext(options)).newPage();
  const said: string[] = [];
  page.on('pageerror', (error) => said.push(error.message));
  page.on('dialog', (dialog) => {
    // The browser asks before it leaves a page with unsaved changes.
    if (dialog.type() === 'beforeunload') return void dialog.accept();
    said.push(`dialog: ${dialog.message()}`);
    return void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) said.push(message.text());
  });
  return { page, said };
}

/** Opens a stack's admin pages and signs in as its first admin. */
export async function openSignedIn(
  browser: Browser,
  url: string,
  options: BrowserContextOptions,
): Promise<WatchedPage> {
  const watched = await openPage(browser, options);
  await signIn(watched.page, url);
  return watched;
}

/** Signs the first admin in. */
export async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/_/`);
  await enter(page);
  await page.getByRole('heading', { name: 'Collections' }).waitFor();
}

/** Fills in the sign-in form that is shown. */
export async function enter(page: Page): Promise<void> {
  await page.getByLabel('Email').fill(firstAdmin.email);
  await page.getByLabel('Password').fill(firstAdmin.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
