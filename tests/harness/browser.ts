import { spawnSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** The command for a browser on this machine; undefined without one. */
const command = names.find((name) => spawnSync(name, ['--version']).status === 0);

/** The reason to skip tests with a browser; false if there is a browser. */
export const skipWithoutBrowser = command ? false : `there is no browser: install one of ${names.join(', ')}`;

/** Starts this machine's browser, without a window. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: spawnSync('sh', ['-c', `command -v ${command}`], { encoding: 'utf8' }).stdout.trim(),
    // The sandbox does not start for root, and tests may run as root. The pages are our own.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-software-rasterizer'],
  });
