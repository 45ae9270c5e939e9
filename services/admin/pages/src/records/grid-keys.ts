const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** Moves the focus between a grid's rows with the arrow keys. */
export function moveInGrid(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const by = steps[event.key];
  if (by === undefined || !(event.target instanceof HTMLElement)) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')];
  const next = rows[Math.max(0, rows.indexOf(event.target) + by)];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
