import { tick } from 'svelte';

/** Moves the focus to the first control in a form that shows a problem. */
export async function focusWrong(form: HTMLElement | undefined): Promise<void> {
  await tick();
  const wrong = form?.querySelector<HTMLElement>('[aria-invalid="true"], [data-wrong]');
  // A code editor's text is in its shadow tree.
  (wrong?.shadowRoot?.querySelector<HTMLElement>('[contenteditable]') ?? wrong)?.focus();
}
