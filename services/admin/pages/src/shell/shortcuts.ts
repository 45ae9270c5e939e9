import { palette } from './palette.svelte.ts';

/** Whether keys are text for the focused element. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.shadowRoot !== null || target.matches('input, textarea, select, .code *'));

/** Focuses the page's search or filter. Returns false if there is none. */
function focusSearch(): boolean {
  const place = document.querySelector<HTMLElement>('main [data-search]');
  if (!place) return false;
  // Editors are in a shadow tree.
  const hosts = [place, ...place.querySelectorAll<HTMLElement>('*')];
  const inner = hosts
    .map(({ shadowRoot }) => shadowRoot?.querySelector<HTMLElement>('[contenteditable]'))
    .find(Boolean);
  (inner ?? place.querySelector<HTMLElement>('input, textarea') ?? place).focus();
  return true;
}

/** Submits the form of the dialog on top, or the page's form that saves. Returns false if there is none. */
function save(): boolean {
  const dialog = [...document.querySelectorAll('dialog[open]')].at(-1);
  const form = dialog ? dialog.querySelector('form') : document.querySelector<HTMLFormElement>('main form[data-saves]');
  if (!form) return dialog !== undefined;
  const button = document.querySelector<HTMLButtonElement>(`button[form="${form.id}"].primary`);
  if (!button?.disabled) form.requestSubmit();
  return true;
}

/** Handles global shortcuts: Ctrl-K toggles the palette, Ctrl-S saves, and `/` focuses the search. */
export function shortcut(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k') {
    event.preventDefault();
    if (palette.isOpen) palette.close();
    else palette.open();
    return;
  }
  if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 's') {
    if (save()) event.preventDefault();
    return;
  }
  if (key !== '/' || ctrlKey || metaKey || altKey || isTyping(target) || document.querySelector('dialog[open]')) return;
  if (focusSearch()) event.preventDefault();
}
