import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** The walk may take this many more steps than there are controls, for the navigation before the screen. */
const stepsBefore = 60;

/** Walks over a screen, or its dialog, with the Tab key. Returns the controls that had no focus, or did not show it. */
export async function missedByTab(page: Page): Promise<unknown> {
  const controls = Number(await page.evaluate(`(${startWalk})()`));
  assert.ok(controls > 3, 'the screen has controls');
  for (let step = 0; step < controls + stepsBefore && Number(await page.evaluate('walk.left.size')) > 0; step += 1) {
    await page.keyboard.press('Tab');
    await page.evaluate('walk.note()');
  }
  return page.evaluate('walk.missed()');
}

/** In the page: notes which controls of the screen, or of its dialog, had the focus, and which did not show it. */
const startWalk = `() => {
  const root = document.querySelector('dialog') ?? document.querySelector('main');
  const all = [...root.querySelectorAll('a[href], button, input, select, textarea')].filter((one) => !one.disabled && one.checkVisibility());
  const left = new Set(all);
  const hidden = [];
  const nameOf = (one) => one.outerHTML.slice(0, 120);
  globalThis.walk = {
    left,
    note() {
      const one = document.activeElement;
      if (!left.delete(one)) return;
      const { outlineStyle, outlineWidth } = getComputedStyle(one);
      if (outlineStyle === 'none' || outlineWidth === '0px') hidden.push('not seen: ' + nameOf(one));
    },
    missed: () => [...hidden, ...[...left].map((one) => 'not reached: ' + nameOf(one))],
  };
  globalThis.walk.note();
  return all.length;
}`;
