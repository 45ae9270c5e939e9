import type { Browser, BrowserContext, Page } from 'playwright-core';
import { password, type Side } from '../side.ts';

/** What a person saw in the apps, in order. */
export type Seen = readonly string[];

/** Uses the three apps as people do, each with a browser profile of their own. Returns what they saw. */
export async function walkApps(browser: Browser, origin: string, { url }: Pick<Side, 'url'>): Promise<Seen> {
  const seen: string[] = [];
  const open = async (context: BrowserContext, app: string, query: Record<string, string> = {}): Promise<Page> => {
    const page = await context.newPage();
    page.on('pageerror', ({ message }) => seen.push(`error: ${message}`));
    await page.goto(`${origin}/${app}.html?${new URLSearchParams({ server: url, ...query })}`);
    return page;
  };
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  /** Waits for a status, and notes it with the list. */
  const see = async (page: Page, status: string) => {
    await page.getByRole('status').getByText(status, { exact: true }).waitFor();
    const items = await page.locator('li').allInnerTexts();
    seen.push(`${status} | ${items.map((text) => text.replace(/\s+/g, ' ').trim()).join(', ')}`);
  };
  await using contexts = new AsyncDisposableStack();
  const person = async () => {
    const context = await browser.newContext();
    contexts.defer(() => context.close());
    return context;
  };
  await walkBoard(await person(), await person());
  await walkNotes(await person());
  await walkReader(await person());
  return seen;

  async function enter(page: Page, name: string, given: string, way: string) {
    await page.getByLabel('Email').fill(`${name}@example.com`);
    await page.getByLabel('Password').fill(given);
    await press(page, way);
  }

  async function walkBoard(one: BrowserContext, other: BrowserContext) {
    const [ada, guest] = [await open(one, 'board'), await open(other, 'board')];
    await see(ada, 'Ready');
    await see(guest, 'Ready');
    await enter(ada, 'walker', 'short', 'Sign up');
    await see(ada, 'password: Must be at least 8 character(s).');
    await enter(ada, 'walker', 'not the password', 'Sign in');
    await see(ada, 'Failed to authenticate.');
    await enter(ada, 'walker', password, 'Sign up');
    await see(ada, 'Hello walker');
    await ada.getByLabel('New post').fill('x'.repeat(21));
    await press(ada, 'Post');
    await see(ada, 'title: Must be no more than 20 character(s).');
    await ada.getByLabel('New post').fill('First');
    await press(ada, 'Post');
    await guest.getByText('First (0)').waitFor();
    await press(ada, 'Like First');
    await guest.getByText('First (1)').waitFor();
    seen.push(`the guest may change ${await guest.getByRole('button', { name: 'Like First' }).count()}`);
    await ada.reload();
    await see(ada, 'Welcome back walker');
    await press(ada, 'Delete First');
    await guest.getByText('First (1)').waitFor({ state: 'detached' });
    await press(ada, 'Sign out');
    await see(ada, 'Goodbye');
  }

  async function walkNotes(context: BrowserContext) {
    const page = await open(context, 'notes', { email: 'walker@example.com', password });
    await see(page, '0 notes of walker');
    await page.getByLabel('Note').fill('bread');
    await page
      .getByLabel('Paper')
      .setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('rye') });
    await press(page, 'Keep');
    await see(page, '1 notes of walker');
    await page.getByLabel('Note').fill('air');
    await press(page, 'Keep');
    await see(page, '2 notes of walker');
    await press(page, 'Open bread');
    await see(page, 'rye; without a token 404');
    await press(page, 'Drop the paper of bread');
    await page.getByRole('button', { name: 'Open bread' }).waitFor({ state: 'detached' });
    await see(page, '2 notes of walker');
  }

  async function walkReader(context: BrowserContext) {
    const page = await open(context, 'reader', { email: 'walker@example.com', password });
    await see(page, 'page 1 of 3, 7 posts');
    await press(page, 'Next');
    await see(page, 'page 2 of 3, 7 posts');
    await page.getByLabel('Search').fill('a');
    await press(page, 'Find');
    await see(page, 'page 1 of 3, 7 posts');
    await page.getByLabel('Search').fill('5');
    await press(page, 'Find');
    await see(page, 'page 1 of 1, 1 posts');
    await page.getByLabel('Search').fill('');
    await page.getByLabel('Tag').selectOption('red');
    await press(page, 'Find');
    await see(page, 'page 1 of 2, 4 posts');
    await press(page, 'Any');
    await see(page, 'any of them: 1');
  }
}
