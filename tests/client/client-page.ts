import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { repository } from '../harness/stacks/stack.ts';

let bundle: Promise<string> | undefined;

/** The client as a page's script, which sets the global `recordbus`. */
async function bundleClient(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(repository, 'libs/client/src/index.ts')],
    bundle: true,
    format: 'iife',
    globalName: 'recordbus',
    write: false,
    logLevel: 'warning',
  });
  return outputFiles.map(({ text }) => text).join('\n');
}

/** A page in a browser of its own that has a client for a stack. */
export interface ClientPage {
  readonly page: Page;
  /**
   * Runs an expression in which `client` is the client, and returns its value as JSON. An error of the client or the browser
   * is its code or name, as a text.
   */
  run(expression: string): Promise<unknown>;
}

/** Serves an empty page on a free port, for an app that loads the client. */
export async function serveEmptyPage(): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>An app</title>');
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Opens an empty page at an origin, with a client for a stack. */
export async function openClientPage(browser: Browser, origin: string, stackUrl: string): Promise<ClientPage> {
  bundle ??= bundleClient();
  const script = await bundle;
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${origin}/`);
  await page.evaluate(`${script}; window.client = recordbus.createClient(${JSON.stringify(stackUrl)});`);
  return {
    page,
    run: (expression) =>
      page.evaluate(
        `(async () => (${expression}))().then((value) => JSON.parse(JSON.stringify(value ?? null)), (error) => (error instanceof DOMException ? error.name : error.code))`,
      ),
  };
}
