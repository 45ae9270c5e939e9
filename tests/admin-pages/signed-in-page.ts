import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { firstAdmin } from '../harness/stack.ts';

/** An admin page, with the browser's messages, of which there must be none. */
export interface WatchedPage {
  readonly page: Page;
  /** Breaches of the policy, uncaught errors, and dialogs of scripts. */
  readonly said: readonly string[];
}

/** Opens the admin pages of a stack and signs in as its first admin. */
export async function openSignedIn(
  browser: Browser,
  url: string,
  options: BrowserContextOptions,
): Promise<WatchedPage> {
  const page = await (await browser.newContext(options)).newPage();
  page.setDefaultTimeout(20_000);
  const said: string[] = [];
  page.on('pageerror', (error) => said.push(error.message));
  page.on('dialog', (dialog) => {
    said.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) said.push(message.text());
  });
  await page.goto(`${url}/_/`);
  await page.getByLabel('Email').fill(firstAdmin.email);
  await page.getByLabel('Password').fill(firstAdmin.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Collections' }).waitFor();
  return { page, said };
}
