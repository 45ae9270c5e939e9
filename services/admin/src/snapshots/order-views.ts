import { findMentions } from '../views/view-query.ts';
import type { SnapshotCollection } from './snapshot-document.ts';

/** Views, each behind those of the others that its query reads. Those that read each other in a circle stay as they are. */
export async function orderViews(views: readonly SnapshotCollection[]): Promise<SnapshotCollection[]> {
  const mentions = new Map<string, readonly string[]>();
  for (const { name, view_query } of views) mentions.set(name, await findMentions(view_query ?? ''));
  const ordered: SnapshotCollection[] = [];
  const visited = new Set<SnapshotCollection>();
  const visit = (view: SnapshotCollection) => {
    if (visited.has(view)) return;
    visited.add(view);
    for (const other of views) if (mentions.get(view.name)?.includes(other.name)) visit(other);
    ordered.push(view);
  };
  for (const view of views) visit(view);
  return ordered;
}
