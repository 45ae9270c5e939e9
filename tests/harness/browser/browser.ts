import { spawnSync } from 'node:child_process';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** The command for a browser on this machine; undefined without one. */
const command = names.find((name) => spawnSync(name, ['--version']).status === 0);

/** The reason to skip tests with a browser; false if there is a browser. */
export const skipWithoutBrowser = command ? false : `there is no browser: install one of ${names.join(', ')}`;

/** Longer than anything in a page takes on a busy machine, in milliseconds. Playwright gives up after 30 s. */
const patienceMs = 180_000;

/** Starts this machine's browser, without a window. Waits in its pages last as long as `eventually`'s, and longer. */
export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: spawnSync('sh', ['-c', `command -v ${command}`], { encoding: 'utf8' }).stdout.trim(),
    // The sandbox does not start for root, and tests may run as root. The pages are our own.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-software-rasterizer'],
    timeout: patienceMs,
  });
  const newContext = browser.newContext.bind(browser);
  return Object.assign(browser, {
    async newContext(options?: BrowserContextOptions): Promise<BrowserContext> {
      const context = await newContext(options);
      context.setDefaultTimeout(patienceMs);
      return context;
    },
  });
}
