import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Result, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

/** Axe for the page. The pages have no frames, so one run in the page finds everything. */
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const pictures = join(import.meta.dirname, 'screenshots');

/** Whether to take a picture of every screen, and not only of one that fails. */
const takesAll = process.env.TEST_PICTURES === 'all';

/** Every screen: its address, and a text that it shows when it is complete. */
export interface Screen {
  readonly name: string;
  readonly path: string;
  readonly shows: string;
  /** What to click before the look. */
  readonly opens?: (page: Page) => Promise<void>;
}

const widths = [380, 1280] as const;
const colorSchemes = ['light', 'dark'] as const;

/** The axe rules that depend on colours. A width's second theme differs in nothing else. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/** Opens a screen and waits until it is complete. */
export async function openScreen(page: Page, url: string, { path, shows, opens }: Screen): Promise<void> {
  await page.goto(url + path);
  await page.locator('#content').getByText(shows).filter({ visible: true }).first().waitFor();
  await opens?.(page);
}

/**
 * Looks at a screen in both themes and at both widths: asserts that axe finds nothing serious and that nothing is wider
 * than the window. Takes a picture of a screen that fails.
 */
export async function look(page: Page, url: string, screen: Screen): Promise<void> {
  await page.setViewportSize({ width: widths[0], height: 800 });
  await openScreen(page, url, screen);
  await page.evaluate(axe);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of colorSchemes) {
      await page.emulateMedia({ colorScheme });
      await page.locator(`html[data-theme="${colorScheme}"]`).waitFor();
      const take = () => takePicture(page, `${screen.name}-${width}-${colorScheme}`);
      if (takesAll) await take();
      try {
        const excess = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        assert.equal(excess, 0, `${screen.name} is wider than ${width} px`);
        const rules = colorScheme === 'light' ? undefined : colourRules;
        await check(page, `${screen.name}, ${width} px, ${colorScheme}`, rules);
      } catch (error) {
        await take();
        throw error;
      }
    }
  }
}

async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

/** Asserts that axe, which is in the page, finds nothing serious by some of its rules or by all. */
async function check(page: Page, name: string, rules: string[] | undefined): Promise<void> {
  const options: RunOptions = {
    resultTypes: ['violations'],
    ...(rules && { runOnly: { type: 'rule', values: rules } }),
  };
  const run = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const violations = (await page.evaluate(run)) as Result[];
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const found = grave.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  assert.deepEqual(found, [], name);
}
