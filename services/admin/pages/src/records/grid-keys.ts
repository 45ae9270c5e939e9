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

/** Moves the focus between a row's link and its cells, and from a cell to the next row's. Returns whether it did. */
export function moveInCells(event: KeyboardEvent): boolean {
  const { target, key } = event;
  if (!(target instanceof HTMLElement) || !target.matches('[data-row], [data-cell]')) return false;
  const row = target.closest('tr');
  const name = target.dataset.cell;
  const stops = [...(row?.querySelectorAll<HTMLElement>('[data-row], [data-cell]') ?? [])];
  const at = stops.indexOf(target);
  const cellIn = (other: Element | null | undefined): HTMLElement | undefined =>
    name === undefined
      ? undefined
      : [...(other?.querySelectorAll<HTMLElement>('[data-cell]') ?? [])].find(({ dataset }) => dataset.cell === name);
  const places: Readonly<Record<string, () => HTMLElement | undefined>> = {
    ArrowRight: () => stops[at + 1],
    ArrowLeft: () => stops[at - 1],
    ArrowDown: () => cellIn(row?.nextElementSibling),
    ArrowUp: () => cellIn(row?.previousElementSibling),
  };
  const next = places[key]?.();
  // A cell at the edge keeps the focus.
  if (!next) return name !== undefined && key.startsWith('Arrow');
  event.preventDefault();
  next.focus();
  return true;
}
