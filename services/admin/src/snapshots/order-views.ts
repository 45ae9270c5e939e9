import { startSlice } from '@recordbus/limits/time-slice';
import { findMentions } from '../views/view-query.ts';

interface View {
  readonly name: string;
  readonly view_query?: string | null | undefined;
}

/**
 * Returns the views, each after those that its query reads. Views in a circle keep their order. Runs in time slices.
 */
export async function orderViews<V extends View>(views: readonly V[]): Promise<V[]> {
  const mentions = new Map<string, readonly string[]>();
  const slice = startSlice();
  for (const { name, view_query } of views) {
    if (slice.isOver()) await slice.pause();
    mentions.set(name, await findMentions(view_query ?? ''));
  }
  const ordered: V[] = [];
  const visited = new Set<V>();
  const visit = (view: V) => {
    if (visited.has(view)) return;
    visited.add(view);
    for (const other of views) if (mentions.get(view.name)?.includes(other.name)) visit(other);
    ordered.push(view);
  };
  for (const view of views) visit(view);
  return ordered;
}
