import type { IncomingMessage } from 'node:http';
import { splitUrl } from '@recordbus/http';

/** A path that PocketBase's clients call. */
export interface ClientPath {
  /** The decoded segments below `/api/`. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  /** What comes before `/api/` in the client's base address: `/pb`, or nothing on a host of its own. */
  readonly prefix: '/pb' | '';
}

/**
 * Returns the path of a request from a PocketBase client: below `/pb/api/`, and on the given hosts below `/api/`, except
 * for this product's own `/api/v1/`. Undefined for any other request.
 */
export function findClientPath(
  { url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>,
  hosts: ReadonlySet<string>,
): ClientPath | undefined {
  const isBelowPrefix = url.startsWith('/pb/api/');
  if (!isBelowPrefix && (hosts.size === 0 || !isOnHost(url, headers.host, hosts))) return undefined;
  const prefix = isBelowPrefix ? '/pb' : '';
  const { path, search } = splitUrl(url);
  const segments = decodeSegments(path.slice(`${prefix}/api/`.length).replace(/\/$/, ''));
  return segments && { segments, query: new URLSearchParams(search), prefix };
}

const isOnHost = (url: string, host: string | undefined, hosts: ReadonlySet<string>): boolean =>
  url.startsWith('/api/') &&
  !url.startsWith('/api/v1/') &&
  hosts.has((host ?? '').toLowerCase().replace(/:(80|443)$/, ''));

/** Undefined for a path that is not encoded text. */
function decodeSegments(path: string): string[] | undefined {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
