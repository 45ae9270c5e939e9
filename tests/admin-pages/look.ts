import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

const pictures = join(import.meta.dirname, 'screenshots');

/** Every screen: its address, and a text that it shows when it is complete. */
export interface Screen {
  readonly name: string;
  readonly path: string;
  readonly shows: string;
  /** What to click before the look. */
  readonly opens?: (page: Page) => Promise<void>;
}

const looks = [
  { colorScheme: 'light', width: 1280, isChecked: true },
  { colorScheme: 'dark', width: 1280, isChecked: false },
  { colorScheme: 'light', width: 380, isChecked: false },
  { colorScheme: 'dark', width: 380, isChecked: true },
] as const;

/**
 * Looks at a screen in both themes and at both widths: takes pictures, and asserts that axe finds nothing serious and that
 * nothing is wider than the window.
 */
export async function look(page: Page, url: string, { name, path, shows, opens }: Screen): Promise<void> {
  mkdirSync(pictures, { recursive: true });
  await page.goto(url + path);
  await page.getByText(shows).first().waitFor();
  await opens?.(page);
  for (const { colorScheme, width, isChecked } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await page.locator(`html[data-theme="${colorScheme}"]`).waitFor();
    await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    const excess = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    assert.equal(excess, 0, `${name} is wider than ${width} px`);
    if (isChecked) await check(page, name);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

async function check(page: Page, name: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const found = grave.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  assert.deepEqual(found, [], name);
}
