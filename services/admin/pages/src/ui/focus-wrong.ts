import { tick } from 'svelte';

/** Moves the focus to the first control in a form that shows a problem. */
export async function focusWrong(form: HTMLElement | undefined): Promise<void> {
  await tick();
  // A part with a problem opens in an effect.
  await tick();
  const all = form?.querySelectorAll<HTMLElement>('[aria-invalid="true"], [data-wrong]') ?? [];
  const wrong = [...all].find((one) => one.checkVisibility());
  // A code editor's text is in its shadow tree.
  wrong?.scrollIntoView({ block: 'center' });
  (wrong?.shadowRoot?.querySelector<HTMLElement>('[contenteditable]') ?? wrong)?.focus({ preventScroll: true });
}
