import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { builtPages } from '../harness/browser/admin-pages.ts';
import { skipWithoutBrowser, startBrowser } from '../harness/browser/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { firstAdmin, type Stack, startStack } from '../harness/stacks/stack.ts';

const fields = [
  { name: 'title', type: 'text', required: true },
  { name: 'kind', type: 'select', required: true, options: { values: ['novel', 'essay'] } },
];

const signedIn = Object.fromEntries(
  ['list', 'view', 'create', 'update', 'delete'].map((name) => [`${name}_rule`, '@request.auth.id != ""']),
);

describe("the API document's page", { skip: skipWithoutBrowser }, () => {
  let stack: Stack;
  let browser: Browser;
  let page: Page;
  /** The browser's refusals and failures, and its requests to other sites. */
  const said: string[] = [];

  before(async () => {
    stack = await startStack({ topology: 'one', environment: { SERVICE_PAGES_DIR: await builtPages() } });
    const admin = await stack.admin();
    await admin.post('/api/v1/collections', {
      name: 'shelf_books',
      type: 'base',
      ...signedIn,
      fields,
    });
    await admin.post('/api/v1/collections', { name: 'open_notes', type: 'base', fields });
    await eventually('the document has the collections', async () =>
      (await stack.guest.get('/api/v1/openapi.json')).text.includes('create_open_notes'),
    );
    browser = await startBrowser();
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    page.on('pageerror', (error) => said.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused|blocked/i.test(message.text())) said.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(stack.url) && !/^(data|blob):/.test(request.url())) said.push(request.url());
    });
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });

  test('a guest sees the open collections first, then the API', async () => {
    await page.goto(`${stack.url}/docs`);
    await page.getByText('Operations available to guests.').waitFor();
    await page.getByText('open_notes').first().waitFor();
    assert.equal(await page.getByText('shelf_books').count(), 0);
  });

  test('an operation has its body, its answers, and samples for curl and for the client', async () => {
    await page.goto(`${stack.url}/docs?samples#tag/open-notes/POST/api/v1/open_notes`);
    const heading = page.getByRole('heading', { name: 'Create a record' });
    await heading.first().waitFor();
    const operation = page.locator('section').filter({ has: heading }).last();
    await operation.getByText('Shell Curl').waitFor();
    assert.match(String(await operation.textContent()), /kind.*"novel".*"essay".*required.*curl/s);
    await operation.getByText('Shell Curl').click();
    await page.getByText('Client', { exact: true }).first().click();
    await eventually('the sample is for the client', async () =>
      /client\.from\('open_notes'\)\.create\(\{ title: 'plain', kind: 'novel' \}\)/.test(
        String(await operation.textContent()),
      ),
    );
  });

  test("with a token it shows its holder's operations, and sends requests with the token to this stack only", async () => {
    const { json } = await stack.guest.send('POST', '/api/v1/admin/login', { body: firstAdmin });
    await page.getByPlaceholder('session token or service key').fill(textAt(json, 'data.token'));
    await page.getByRole('button', { name: 'Use', exact: true }).click();
    await page.getByText('Operations available to this token.').waitFor();
    await page.getByText('shelf_books').first().waitFor();
    await page.getByRole('link', { name: 'shelf_books' }).first().click();
    await page
      .getByRole('button', { name: /Test Request.*get \/api\/v1\/shelf_books/i })
      .first()
      .click();
    const answered = page.waitForResponse(`${stack.url}/api/v1/shelf_books**`);
    await page.getByRole('button', { name: /^Send/ }).first().click();
    assert.equal((await answered).status(), 200);
    assert.match(String(await (await answered).request().headerValue('authorization')), /^Bearer ey/);
    await page.keyboard.press('Escape');
  });

  test("with an invalid token it shows guests' operations", async () => {
    await page.goto(`${stack.url}/docs?guest`);
    await page.getByPlaceholder('session token or service key').fill('nonsense');
    await page.getByRole('button', { name: 'Use', exact: true }).click();
    await page.getByText('This token is not valid.').waitFor();
    await page.getByText('open_notes').first().waitFor();
    assert.equal(await page.getByText('shelf_books').count(), 0);
  });

  test('the search finds operations', async () => {
    await page.keyboard.press('Control+k');
    await page
      .getByPlaceholder(/search/i)
      .last()
      .fill('create open_notes');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Escape');
  });

  test('it fits a phone', async () => {
    await page.setViewportSize({ width: 380, height: 800 });
    await page.goto(`${stack.url}/docs?phone#tag/open-notes/POST/api/v1/open_notes`);
    await page.getByRole('heading', { name: 'Create a record' }).filter({ visible: true }).first().waitFor();
    const widest = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok(Number(widest) <= 380, `${widest} pixels`);
  });

  test('it is dark in dark mode, and light on request', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${stack.url}/docs`);
      await page.getByText('open_notes').first().waitFor();
      for (const place of ['header', '#reference main'])
        await eventually(`${place} is ${colorScheme}`, async () => {
          const [text = 0, ground = 0] = await page.evaluate<number[]>(lightnessOf(place));
          return colorScheme === 'dark' ? ground < 60 && text > 180 : ground > 200 && text < 80;
        });
    }
  });

  test('a valid token is not called invalid if all collections are public', async () => {
    const admin = await stack.admin();
    await admin.delete('/api/v1/collections/shelf_books');
    const { json } = await stack.guest.send('POST', '/api/v1/admin/login', { body: firstAdmin });
    const token = textAt(json, 'data.token');
    const read = async (client: { get(path: string): Promise<{ readonly text: string }> }) =>
      (await client.get('/api/v1/openapi.json')).text;
    await eventually('the documents are equal', async () => (await read(admin)) === (await read(stack.guest)));
    await page.goto(`${stack.url}/docs?public`);
    await page.getByPlaceholder('session token or service key').fill(token);
    await page.getByRole('button', { name: 'Use', exact: true }).click();
    await page.getByText('Operations available to this token.').waitFor();
  });

  test('the browser refused nothing, and sent no request to another site', () => {
    assert.deepEqual(said, []);
  });
});

/** A script that measures how light a text and its background are, from 0 to 255. */
const lightnessOf = (place: string): string => `(() => {
  const lightness = (color) => {
    const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    return alpha < 128 ? undefined : (red + green + blue) / 3;
  };
  const place = document.querySelector(${JSON.stringify(place)});
  let ground;
  for (let element = place; element && ground === undefined; element = element.parentElement)
    ground = lightness(getComputedStyle(element).backgroundColor);
  return place ? [lightness(getComputedStyle(place).color), ground ?? 255] : [];
})()`;
