import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipWithoutBrowser } from '../harness/browser/browser.ts';
import { look } from './look.ts';
import { type OpenPages, openPages } from './open-pages.ts';

/** A picture with one red pixel. */
const red = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

describe('the grid and the form of records', { skip: skipWithoutBrowser }, () => {
  let pages: OpenPages;
  let page: Page;
  let id: string;
  let other: string;

  before(async () => {
    pages = await openPages(async (client) => {
      const fields = [
        { name: 'title', type: 'text' },
        { name: 'picture', type: 'file' },
        { name: 'story', type: 'editor' },
        { name: 'place', type: 'geoPoint' },
        { name: 'stars', type: 'number' },
        { name: 'tags', type: 'select', options: { values: ['sea', 'city'], multiple: true } },
        { name: 'near', type: 'relation', collection: 'places' },
      ];
      await client.post('/api/v1/collections', { name: 'places', fields, history_enabled: true });
      const place = { lat: 52.52, lng: 13.4 };
      ({ id } = await client.create('places', { title: 'Harbour', story: '<p>Ships &amp; <b>sea</b></p>', place }));
      const near = { near: id, tags: ['sea', 'city'], story: '<p>Big <em>boats</em>.</p>' };
      ({ id: other } = await client.create('places', { title: 'Nowhere', stars: 3, ...near }));
    });
    ({ page } = pages);
    await page.emulateMedia({ reducedMotion: 'reduce' });
  });
  after(() => pages?.[Symbol.asyncDispose]());
  const sheet = () => page.getByRole('dialog');
  const stored = async () => (await pages.admin.get(`/api/v1/places/${id}`)).json as { data: Record<string, unknown> };

  test('Ctrl-S saves the record, and a picture is shown small in the grid', async () => {
    await pages.open(`collections/places/records/${id}`);
    await sheet().getByLabel('picture').setInputFiles({ name: 'red.png', mimeType: 'image/png', buffer: red });
    await sheet().getByText('red.png').waitFor();
    await sheet().getByLabel('title').fill('Old harbour');
    await page.keyboard.press('Control+s');
    await page.getByText('Record saved.').waitFor();
    const image = page.getByRole('row').filter({ hasText: 'Old harbour' }).getByRole('img', { name: /^red/ });
    await image.waitFor();
    await page.waitForFunction("document.querySelector('tbody img')?.naturalWidth > 0");
    assert.match(String(await image.getAttribute('src')), /^blob:/);
  });

  test("the keys go to a record's first field, and not to the button that copies its id", async () => {
    await pages.open(`collections/places/records/${id}`);
    await sheet().getByRole('button', { name: 'Copy the id' }).waitFor();
    assert.equal(await page.evaluate('document.activeElement.value'), 'Old harbour');
    await page.keyboard.press('Escape');
  });

  test('Ctrl-S with nothing to save keeps the form, and the browser saves no page', async () => {
    await pages.open(`collections/places/records/${id}`);
    await sheet().getByLabel('title').waitFor();
    const prevented = await page.evaluate(`(() => {
      const event = new KeyboardEvent('keydown', { key: 's', ctrlKey: true, bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(event);
      return event.defaultPrevented;
    })()`);
    assert.equal(prevented, true);
    await sheet().getByLabel('title').waitFor();
    await page.keyboard.press('Escape');
  });

  test('a rich text is shown without its tags, and a point with its degrees', async () => {
    await pages.open('collections/places/records');
    const row = page.getByRole('row').filter({ hasText: 'Old harbour' });
    await row.getByText('52.52, 13.4').waitFor();
    await row.getByText('Ships & sea').waitFor();
    await page.getByRole('row').filter({ hasText: 'Nowhere' }).getByText('Big boats.').waitFor();
    assert.equal(await page.getByRole('columnheader', { name: 'stars' }).getByTitle('number').count(), 1);
  });

  test('a click on the map moves the point, closer after zooming in', async () => {
    await pages.open(`collections/places/records/${id}`);
    const map = sheet().locator('svg[viewBox="0 0 360 180"]');
    await map.waitFor();
    const { width, height } = (await map.boundingBox()) ?? { width: 0, height: 0 };
    await map.click({ position: { x: width / 4, y: height / 4 } });
    const [lat, lng] = [sheet().getByLabel('place', { exact: true }), sheet().getByLabel('place: longitude')];
    assert.ok(Math.abs(Number(await lat.inputValue()) - 45) < 1.5, await lat.inputValue());
    assert.ok(Math.abs(Number(await lng.inputValue()) + 90) < 1.5, await lng.inputValue());
    await pages.button('Zoom in').click();
    await map.click({ position: { x: width / 2, y: height / 4 } });
    assert.ok(Math.abs(Number(await lat.inputValue()) - 49.5) < 2, await lat.inputValue());
    await page.keyboard.press('Control+s');
    await page.getByText('Record saved.').waitFor();
    const { data } = await stored();
    assert.ok(Math.abs((data.place as { lng: number }).lng + 90) < 2);
  });

  test('a history names who changed the record', async () => {
    await pages.open(`collections/places/records/${id}/history`);
    await page.getByText('by ada@example.com').first().waitFor();
  });

  test('a history shows related records by their names, and choices as words', async () => {
    await pages.open(`collections/places/records/${other}/history`);
    await page.locator('ins').getByText('Old harbour', { exact: true }).waitFor();
    await page.locator('ins').getByText('sea, city', { exact: true }).waitFor();
  });

  test('a record is duplicated into a new one, which is not saved by itself', async () => {
    await pages.open(`collections/places/records/${other}`);
    await sheet().getByRole('link', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: 'New record in places' }).waitFor();
    await sheet().getByLabel('title').fill('Nowhere too');
    assert.equal(await sheet().getByLabel('stars').inputValue(), '3');
    await page.keyboard.press('Control+s');
    await page.getByText('Record created.').waitFor();
    await sheet().waitFor({ state: 'detached' });
    const { json } = await pages.admin.get(`/api/v1/places?filter=${encodeURIComponent('title = "Nowhere too"')}`);
    const [copy] = (json as { data: Record<string, unknown>[] }).data;
    assert.deepEqual([copy?.stars, copy?.near, copy?.tags], [3, id, ['sea', 'city']]);
    assert.notEqual(copy?.id, other);
    await pages.admin.delete(`/api/v1/places/${copy?.id}`);
  });

  test('selected records get the same value, and a refusal says why and changes none', async () => {
    await pages.open('collections/places/records');
    await page.getByRole('checkbox', { name: 'Select all rows' }).check();
    await pages.button('Edit…').click();
    await sheet().getByLabel('Field').selectOption('stars');
    await sheet().getByLabel('stars').fill('many');
    await pages.button('Save').click();
    await sheet().getByText('Check stars.').waitFor();
    await sheet().getByLabel('stars').fill('5');
    await page.keyboard.press('Control+s');
    await page.getByText('2 records changed.').waitFor();
    await sheet().waitFor({ state: 'detached' });
    assert.deepEqual(await page.locator('td[data-label=stars]').allTextContents(), ['5', '5']);
    await pages.button('Edit…').click();
    await sheet().getByLabel('Field').selectOption('place');
    await sheet().getByLabel('place', { exact: true }).fill('200');
    await pages.button('Save').click();
    await sheet().getByRole('alert').or(sheet().locator('[aria-invalid=true]')).first().waitFor();
    await page.keyboard.press('Escape');
    assert.notEqual((await stored()).data.place, null);
    await pages.button('Clear').last().click();
  });

  test('on a phone each record is a card, which can be sorted', async () => {
    await page.setViewportSize({ width: 380, height: 800 });
    await pages.open('collections/places/records');
    await page.getByText('Old harbour').first().waitFor();
    assert.equal(await page.getByRole('columnheader').count(), 0);
    assert.equal(await page.evaluate("document.querySelector('.table-frame').scrollWidth > 380"), false);
    await page.getByLabel('Sort by').selectOption('title, ascending');
    await page.waitForFunction("/Nowhere/.test(document.querySelector('tbody tr').textContent)");
    await page.getByText('Nowhere').click();
    await sheet().getByLabel('title').waitFor();
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('grid and form work in both themes and widths', async () => {
    const { url } = pages.stack;
    await look(page, url, { name: 'grid', path: '/_/collections/places/records', shows: 'Old harbour' });
    const opens = async () => sheet().locator('svg[viewBox="0 0 360 180"]').waitFor();
    const path = `/_/collections/places/records/${id}`;
    await look(page, url, { name: 'form', path, shows: 'Old harbour', opens });
  });

  test('nothing broke the policy, and no script failed', () => assert.deepEqual(pages.said, []));
});
