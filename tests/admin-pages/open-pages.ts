import type { Browser, Locator, Page } from 'playwright-core';
import { builtPages } from '../harness/browser/admin-pages.ts';
import { startBrowser } from '../harness/browser/browser.ts';
import type { Client } from '../harness/clients/client.ts';
import { type Stack, startStack } from '../harness/stacks/stack.ts';
import { openSignedIn } from './watched-page.ts';

/** A stack's admin pages in a browser, signed in. */
export interface OpenPages extends AsyncDisposable {
  readonly stack: Stack;
  readonly admin: Client;
  readonly browser: Browser;
  readonly page: Page;
  /** What the browser said, which must be nothing. */
  readonly said: readonly string[];
  /** Where the pages are. */
  readonly url: string;
  /** Opens a path below the pages' root. */
  open(path: string): Promise<unknown>;
  button(name: string | RegExp): Locator;
}

/** Starts a stack, lets a test prepare it, and opens its admin pages in a wide window, at an address or a name. */
export async function openPages(
  prepare: (admin: Client) => Promise<void>,
  host: '127.0.0.1' | 'localhost' = '127.0.0.1',
): Promise<OpenPages> {
  await using starting = new AsyncDisposableStack();
  const stack = await startStack({ topology: 'one', environment: { SERVICE_PAGES_DIR: await builtPages() } });
  starting.defer(() => stack.stop());
  const admin = await stack.admin();
  await prepare(admin);
  const browser = await startBrowser();
  starting.defer(() => browser.close());
  const url = stack.url.replace('127.0.0.1', host);
  const { page, said } = await openSignedIn(browser, url, {
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
  });
  const started = starting.move();
  return {
    stack,
    admin,
    browser,
    page,
    said,
    url,
    open: (path) => page.goto(`${url}/_/${path}`),
    button: (name) => page.getByRole('button', { name, exact: true }),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
