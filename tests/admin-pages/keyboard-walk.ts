import type { Page } from 'playwright-core';
import { eventually } from '../harness/eventually.ts';

/** The walk may take this many more steps than there are controls, for the navigation before the screen. */
const stepsBefore = 60;

/** How many steps to take between two looks at what is left. */
const stepsAtOnce = 10;

const isComplete = `document.querySelector('main h1') !== null &&
  document.querySelector('.skeleton, .code > textarea, dialog .skeleton') === null`;

/** Walks over a screen, or its dialog, with the Tab key. Returns the controls that had no focus, or did not show it. */
export async function missedByTab(page: Page): Promise<unknown> {
  await eventually(`${page.url()} is complete`, async () => (await page.evaluate(isComplete)) === true);
  const controls = Number(await page.evaluate(`(${startWalk})()`));
  for (let step = 0; step < controls + stepsBefore; step += 1) {
    if (step % stepsAtOnce === 0 && Number(await page.evaluate('walk.left.size')) === 0) break;
    await page.keyboard.press('Tab');
  }
  return page.evaluate('walk.missed()');
}

/** In the page: notes which controls on the screen, or in its dialog, get the focus, and which do not show it. */
const startWalk = `() => {
  const dialog = document.querySelector('dialog');
  const root = dialog ?? document.querySelector('main');
  const all = [...root.querySelectorAll('a[href], button, input, select, textarea, summary')]
    .filter((one) => !one.disabled && one.tabIndex >= 0 && one.checkVisibility());
  const left = new Set(all);
  const hidden = [];
  const nameOf = (one) => one.outerHTML.slice(0, 120);
  const isRinged = (one) => one.matches(':focus-visible') && getComputedStyle(one).outlineStyle !== 'none' && getComputedStyle(one).outlineWidth !== '0px';
  const note = () => {
    const one = document.activeElement;
    if (left.delete(one) && !isRinged(one)) hidden.push('not seen: ' + nameOf(one));
  };
  if (!dialog) root.focus();
  left.delete(document.activeElement);
  document.addEventListener('focusin', note);
  globalThis.walk = { left, missed: () => [...hidden, ...[...left].map((one) => 'not reached: ' + nameOf(one))] };
  return all.length;
}`;
