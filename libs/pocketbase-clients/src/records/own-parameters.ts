/** Parameters that PocketBase's API or ours reads itself. */
const read: ReadonlySet<string> = new Set([
  ...['page', 'perPage', 'sort', 'filter', 'expand', 'fields', 'skipTotal', 'token', 'thumb', 'download'],
  ...['cursor', 'search', 'searchMode', 'searchFields', 'facets', 'highlight', 'consistency', 'ids', 'create'],
  ...['nearVector', 'nearVectorField', 'nearLimit', 'nearMinScore', 'hybrid', 'dry_run', 'format', 'on'],
]);

/** A request's parameters that only rules read, as `@request.query`. */
export const ownParameters = (query: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...query].filter(([name]) => !read.has(name)));

/** The same, to follow a path: empty without any. */
export function ownSearch(query: URLSearchParams): string {
  const own = ownParameters(query);
  return own.size === 0 ? '' : `?${own}`;
}
