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

/** Handles global shortcuts: Ctrl-K toggles the palette, and `/` focuses the search. */
export function shortcut(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k') {
    event.preventDefault();
    if (palette.isOpen) palette.close();
    else palette.open();
    return;
  }
  if (key !== '/' || ctrlKey || metaKey || altKey || isTyping(target) || document.querySelector('dialog[open]')) return;
  if (focusSearch()) event.preventDefault();
}
