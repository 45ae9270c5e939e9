import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { skipWithoutBrowser, startBrowser } from './harness/browser/browser.ts';
import { type Client, createClient } from './harness/clients/client.ts';
import { ada, endShell, readBlocks, runInShell, setUpExample, variablesFor } from './harness/docs/live-example.ts';
import { eventually } from './harness/eventually.ts';
import { listAt, textAt } from './harness/json.ts';
import type { Child } from './harness/processes/child.ts';
import { findFreePort } from './harness/processes/free-port.ts';
import { startStack } from './harness/stacks/stack.ts';

/** A browser opens at most six HTTP/1.1 connections to a server. */
const tabsInAll = 7;

/** Runs the block that allows the page's origin and serves the page, on a free port. */
async function servePage(block: string, variables: string): Promise<{ readonly url: string; readonly server: Child }> {
  const port = String(await findFreePort());
  const server = runInShell(`${variables}\n${block.replaceAll('8000', port)}`);
  const url = `http://localhost:${port}/`;
  await eventually('the page is served', async () => {
    assert.ok(server.isRunning, server.lines.join('\n'));
    return (await fetch(url)).ok;
  });
  return { url, server };
}

const titlesIn = (page: Page): Promise<string[]> => page.locator('ul label').allInnerTexts();

const shows = (page: Page, titles: readonly string[]): Promise<unknown> =>
  eventually(`a tab shows ${titles.join(', ')}`, async () => {
    assert.deepEqual(
      (await titlesIn(page)).map((title) => title.trim()),
      titles,
    );
    return true;
  });

const isIn = (page: Page, state: string): Promise<unknown> =>
  eventually(`a tab is ${state}`, async () => {
    assert.equal(await page.locator('#state').textContent(), state);
    return true;
  });

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Address').fill(ada.email);
  await page.getByLabel('Password').fill(ada.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function add(page: Page, title: string): Promise<void> {
  await page.getByLabel('New task').fill(title);
  await page.getByRole('button', { name: 'Add' }).click();
}

/** The subscriptions on the live connections that a browser has opened, in order. */
function recordSubscriptions(context: BrowserContext): readonly { readonly after?: string }[] {
  const opened: { readonly after?: string }[] = [];
  context.on('request', (request) => {
    const subscription = new URL(request.url()).searchParams.get('subscribe');
    if (subscription !== null) opened.push(JSON.parse(subscription));
  });
  return opened;
}

/** How many live connections the stack has. */
async function connectionsOf(admin: Client): Promise<number> {
  const { json } = await admin.get('/_/metrics');
  const family = listAt(json, 'data').find(({ name }) => name === 'recordbus_live_connections');
  return Number(listAt(family, 'samples')[0]?.value);
}

test('the page in examples/live follows its collection in several tabs', { skip: skipWithoutBrowser }, async (t) => {
  await using stack = await startStack({ topology: 'processes' });
  const blocks = readBlocks();
  const { admin: adminToken, token } = await setUpExample(stack, blocks);
  const { url, server } = await servePage(blocks.page, variablesFor(blocks, stack.url, adminToken));
  t.after(() => endShell(server));
  const person = createClient(stack.url, token);
  const admin = await stack.admin();
  const browser = await startBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext();
  const opened = recordSubscriptions(context);
  const openTab = async () => {
    const page = await context.newPage();
    await page.goto(`${url}?server=${encodeURIComponent(stack.url)}`);
    return page;
  };

  const first = await openTab();
  await signIn(first);
  await isIn(first, 'live');
  const second = await openTab();

  await t.test('a write in one tab shows in the other', async () => {
    await add(second, 'one');
    await shows(first, ['one']);
    await shows(second, ['one']);
    await second.getByRole('checkbox').check();
    await eventually('the other tab shows it done', () => first.getByRole('checkbox').isChecked());
  });

  await t.test('it resumes when the network is back', async () => {
    await context.setOffline(true);
    await isIn(first, 'offline');
    await person.create('tasks', { title: 'two' });
    const before = opened.length;
    await context.setOffline(false);
    await shows(first, ['one', 'two']);
    await shows(second, ['one', 'two']);
    assert.ok(opened.length > before && opened.slice(before).every(({ after }) => after !== undefined));
  });

  const tabs = [first, second];
  await t.test('seven tabs work over HTTP/1.1, with one connection', async () => {
    while (tabs.length < tabsInAll) tabs.push(await openTab());
    for (const tab of tabs) await shows(tab, ['one', 'two']);
    await add(tabs.at(-1) ?? first, 'three');
    for (const tab of tabs) await shows(tab, ['one', 'two', 'three']);
    assert.equal(await connectionsOf(admin), 1);
  });

  await t.test('another tab continues when the one with the connection is closed', async () => {
    const before = opened.length;
    await tabs.shift()?.close();
    await person.create('tasks', { title: 'four' });
    for (const tab of tabs) await shows(tab, ['one', 'two', 'three', 'four']);
    await eventually('the stack has its connection', async () => (await connectionsOf(admin)) === 1);
    assert.deepEqual(
      opened.slice(before).map(({ after }) => after === undefined),
      [false],
    );
  });

  await t.test('it recovers after a service is killed', async () => {
    process.kill(stack.services.realtime?.pid ?? 0, 'SIGKILL');
    await person.create('tasks', { title: 'five' });
    for (const tab of tabs) await shows(tab, ['one', 'two', 'three', 'four', 'five']);
  });

  await t.test('the page signs out when the account is deleted', async () => {
    const { json } = await admin.get('/api/v1/people');
    await admin.delete(`/api/v1/people/${textAt(listAt(json, 'data')[0], 'id')}`);
    for (const tab of tabs) await eventually('a tab has the form', () => tab.locator('#sign-in').isVisible());
  });
});
