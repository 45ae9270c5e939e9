import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import { look } from './look.ts';
import { type OpenPages, openPages } from './open-pages.ts';

/** What an editor of another product wrote, with attributes that this one does not know. */
const foreign =
  '<h2 style="text-align: center;">Sea</h2><p class="lead">Ships <strong>and</strong> <a href="https://example.com/" target="_blank">ports</a></p><ul><li>one</li></ul><pre class="language-js"><code>let a;</code></pre><p><span style="color: red;">red</span></p>';

/** What must never run or load. */
const hostile =
  '<p onclick="alert(1)">safe<script>alert(2)</script><img src="x" onerror="alert(3)"><a href="java&#10;script:alert(4)">link</a></p><iframe src="https://example.com/"></iframe><svg><script>alert(5)</script></svg>';

/** What a word processor puts on the clipboard. */
const pasted = `<meta charset="utf-8"><p class="MsoNormal" style="color: red"><b>bold</b> text</p>${hostile}`;

describe('the rich text editor', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;

  before(async () => {
    pages = await openPages(async (client) => {
      const fields = [
        { name: 'title', type: 'text' },
        { name: 'story', type: 'editor', options: { max: 2000 } },
      ];
      await client.post('/api/v1/collections', { name: 'notes', fields });
      await client.post('/api/v1/collections', {
        name: 'shown',
        type: 'view',
        view_query: 'select id, story from notes',
      });
    });
    ({ page } = pages);
    await page.emulateMedia({ reducedMotion: 'reduce' });
  });
  after(() => pages?.[Symbol.asyncDispose]());

  const text = () => page.getByRole('dialog').getByRole('textbox', { name: 'story', exact: true });
  const tool = (name: string) => page.getByRole('toolbar').getByRole('button', { name, exact: true });
  const html = () => text().innerHTML();
  async function openNew(story: string | null): Promise<string> {
    const { id } = await pages.admin.create('notes', { title: 'a note', story });
    await pages.open(`collections/notes/records/${id}`);
    await text().waitFor();
    return id;
  }
  async function save(id: string): Promise<unknown> {
    await page.keyboard.press('Control+s');
    await page.getByText('Record saved.').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { data } = (await pages.admin.get(`/api/v1/notes/${id}`)).json as { data: { story: unknown } };
    return data.story;
  }

  test('keys and Markdown write marks, headings and lists', async () => {
    const id = await openNew(null);
    await text().click();
    await page.keyboard.type('# Sea');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Ships are ');
    await page.keyboard.press('Control+b');
    await page.keyboard.type('big');
    await page.keyboard.press('Control+b');
    await page.keyboard.press('Enter');
    await page.keyboard.type('- one');
    await page.keyboard.press('Enter');
    await page.keyboard.type('two');
    await page.keyboard.press('Control+]');
    assert.equal(
      await save(id),
      '<h1>Sea</h1><p>Ships are <strong>big</strong></p><ul><li><p>one</p><ul><li><p>two</p></li></ul></li></ul>',
    );
  });

  test('tools are reached with the keyboard, show what is on, and give the focus back', async () => {
    const id = await openNew('<p>word</p>');
    await text().click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Alt+F10');
    for (let step = 0; step < 2; step += 1) await page.keyboard.press('ArrowRight');
    assert.equal(await page.evaluate("document.activeElement?.getAttribute('aria-label')"), 'Italic');
    await page.keyboard.press('Enter');
    assert.equal(await tool('Italic').getAttribute('aria-pressed'), 'true');
    assert.equal(await page.evaluate("document.activeElement?.getAttribute('aria-label')"), 'story');
    await page.keyboard.press('Alt+F10');
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate("document.activeElement?.getAttribute('aria-label')"), 'story');
    await page.keyboard.press('Tab');
    assert.notEqual(await page.evaluate("document.activeElement?.getAttribute('aria-label')"), 'story');
    assert.equal(await save(id), '<p><em>word</em></p>');
  });

  test('a link takes only an address that cannot run', async () => {
    const id = await openNew('<p>word</p>');
    await text().click();
    await page.keyboard.press('Control+a');
    await tool('Link').click();
    await page.getByLabel('Address').fill('javascript:alert(1)');
    await page.keyboard.press('Enter');
    await page.getByText('Enter an address with http').waitFor();
    await page.getByLabel('Address').fill('https://example.com/a');
    await page.keyboard.press('Enter');
    await page.getByLabel('Address').waitFor({ state: 'detached' });
    assert.equal(await save(id), '<p><a href="https://example.com/a">word</a></p>');
  });

  test('a table is added, grows, and is written', async () => {
    const id = await openNew('');
    await text().click();
    await tool('Table').click();
    await page.keyboard.type('Port');
    await tool('Add column').click();
    await tool('Delete row').click();
    const story = String(await save(id));
    // The caret was in the header row.
    assert.deepEqual([story.match(/<td>/g)?.length, story.includes('Port')], [8, false]);
    await pages.open(`collections/notes/records/${id}`);
    await page.getByRole('cell').first().waitFor();
  });

  test('attributes of other editors stay when a word changes', async () => {
    const id = await openNew(foreign);
    await text().getByText('Ships').click();
    await page.keyboard.press('Home');
    await page.keyboard.type('Big ');
    const written = foreign.replace('Ships', 'Big Ships').replace('<li>one</li>', '<li><p>one</p></li>');
    assert.equal(await save(id), written);
  });

  test('undoing every change leaves nothing to save', async () => {
    await openNew(foreign);
    await text().getByText('Ships').click();
    await page.keyboard.type('x');
    await page.keyboard.press('Control+z');
    assert.equal(await pages.button('Save').isDisabled(), true);
    await page.keyboard.press('Escape');
  });

  test('markup that would be lost opens as source, and is named', async () => {
    const id = await openNew('<p>a <mark>b</mark></p><iframe src="/x"></iframe>');
    await page.getByText('The rich text editor does not keep <mark>, <iframe>').waitFor();
    assert.equal(await text().inputValue(), '<p>a <mark>b</mark></p><iframe src="/x"></iframe>');
    await pages.button('Edit without').click();
    await tool('Bold').waitFor();
    await text().click();
    await page.keyboard.press('End');
    await page.keyboard.type('!');
    assert.equal(await save(id), '<p>a b!</p>');
  });

  test('hostile markup is shown without what could run, in the form and in a view', async () => {
    const id = await openNew(hostile);
    await page.getByText('The rich text editor does not keep').waitFor();
    await pages.button('Edit without').click();
    await tool('Bold').waitFor();
    const inForm = String(await html());
    await pages.open(`collections/shown/records/${id}`);
    await text().getByText('safe').waitFor();
    assert.equal(await text().getAttribute('contenteditable'), 'false');
    for (const shown of [inForm, String(await html())]) {
      assert.match(shown, /safe/);
      assert.doesNotMatch(shown, /script|onclick|onerror|iframe|alert/i);
    }
  });

  test('a paste keeps the structure, and nothing that could run', async () => {
    const id = await openNew('');
    await text().click();
    await page.evaluate(`(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/html', ${JSON.stringify(pasted)});
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(event);
    })()`);
    const story = String(await save(id));
    assert.match(story, /^<p><strong>bold<\/strong> text<\/p>/);
    assert.doesNotMatch(story, /style|class|script|onclick|onerror|iframe|alert/i);
  });

  test('the source can be edited, and a refusal is shown at the field', async () => {
    const id = await openNew('<p>short</p>');
    await tool('HTML').click();
    await text().fill(`<p>${'x'.repeat(2100)}</p>`);
    await pages.button('Save').click();
    await page.getByText('Check story.').waitFor();
    await text().fill('<p>better</p>');
    await pages.button('Rich text').click();
    await tool('Bold').waitFor();
    assert.equal(await text().textContent(), 'better');
    assert.equal(await save(id), '<p>better</p>');
  });

  test('a text that is nested deeply opens as source', async () => {
    await openNew(`${'<div>'.repeat(200)}deep`);
    await text().waitFor();
    await page.keyboard.press('Escape');
  });

  test('a cell that spans a million columns does not hold the page up', async () => {
    await openNew(
      '<table><tbody><tr><td colspan="1000000" rowspan="1000000">wide</td></tr></tbody></table><constructor>',
    );
    await page.getByText('does not keep <td colspan>, <td rowspan>, <constructor>').waitFor();
    await pages.button('Edit without').click();
    await text().getByText('wide').waitFor();
    await page.keyboard.press('Escape');
  });

  test('the form works in both themes and widths', async () => {
    const { id } = await pages.admin.create('notes', {
      title: 'all',
      story: `${foreign}<table><tr><th>A</th></tr><tr><td>1</td></tr></table><blockquote><p>Said</p></blockquote><p><img src="https://example.com/a.png" alt="A ship"></p>`,
    });
    const opens = async () => tool('Bold').waitFor();
    await look(page, pages.stack.url, {
      name: 'rich-text',
      path: `/_/collections/notes/records/${id}`,
      shows: 'a note',
      opens,
    });
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
