import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { skipWithoutBrowser, startBrowser } from './harness/browser/browser.ts';
import { createClient } from './harness/clients/client.ts';
import { eventually } from './harness/eventually.ts';
import { listAt, textAt } from './harness/json.ts';
import { type Child, endChild, startChild } from './harness/processes/child.ts';
import { findFreePort } from './harness/processes/free-port.ts';
import { repository } from './harness/stacks/stack.ts';

const password = 'a long password';

describe('the page in examples/tasks, as npm run demo:tasks starts it', { skip: skipWithoutBrowser }, () => {
  let demo: Child;
  let browser: Browser;
  let page: string;
  let stack: string;
  let adminToken: string;
  const said: string[] = [];

  before(async () => {
    const [port, ownPort] = [await findFreePort(), await findFreePort()];
    demo = startChild(process.execPath, [join(repository, 'examples/tasks/src/demo.ts')], {
      env: { ...process.env, PORT: String(port), SERVICE_PORT: String(ownPort) },
    });
    const find = (pattern: RegExp) => pattern.exec(demo.lines.join('\n'));
    await eventually('the demo is ready', () => find(/Ctrl-C ends everything/) !== null);
    page = String(find(/The app: +(\S+)/)?.[1]);
    const [, url = '', email, secret] = find(/Admin pages: +(\S+)\/_\/ +(\S+) +(\S+)/) ?? [];
    stack = url;
    const login = await createClient(stack).post('/api/v1/admin/login', { email, password: secret }, 200);
    adminToken = textAt(login, 'token');
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    if (demo) await endChild(demo);
  });

  const open = async (context: BrowserContext): Promise<Page> => {
    const tab = await context.newPage();
    tab.on('pageerror', (error) => said.push(error.message));
    await tab.goto(page);
    return tab;
  };
  const signIn = async (tab: Page, name: string): Promise<void> => {
    await tab.getByLabel('Email').fill(`${name}@example.com`);
    await tab.getByLabel('Password').fill(password);
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await tab.getByRole('heading', { name: 'The engine' }).waitFor();
  };
  const add = async (tab: Page, title: string): Promise<void> => {
    await tab.getByLabel('New task').fill(title);
    await tab.getByRole('button', { name: 'Add' }).click();
  };
  const shows = (tab: Page, title: string): Promise<void> => tab.getByText(title, { exact: true }).waitFor();
  const connections = async (): Promise<number> => {
    const { json } = await createClient(stack, adminToken).get('/_/metrics');
    const family = listAt(json, 'data').find(({ name }) => name === 'recordbus_live_connections');
    return listAt(family, 'samples').reduce((sum, { value }) => sum + Number(value), 0);
  };

  test("one person's tabs share a connection, which another tab takes over", async () => {
    const ada = await browser.newContext();
    const first = await open(ada);
    await signIn(first, 'ada');
    await shows(first, 'Oil the gears');
    const [second, third] = [await open(ada), await open(ada)];
    for (const tab of [second, third]) await shows(tab, 'Punch the cards');
    await add(third, 'Shared');
    for (const tab of [first, second, third]) await shows(tab, 'Shared');
    assert.equal(await connections(), 1);

    const ben = await open(await browser.newContext());
    await signIn(ben, 'ben');
    await first.close();
    await add(ben, 'From Ben');
    for (const tab of [second, third]) await shows(tab, 'From Ben');
    await second.getByRole('checkbox', { name: 'From Ben' }).check();
    await eventually('ben sees it ticked', () => ben.getByRole('checkbox', { name: 'From Ben' }).isChecked());
    await eventually('two people have two connections', async () => (await connections()) === 2);
  });

  test('the terminal prints the deliveries, and the page has no error', async () => {
    await eventually('the delivery is printed', () => demo.lines.includes('webhook  tasks.update: From Ben (done)'));
    assert.deepEqual(said, []);
  });
});
