import type { IncomingMessage } from 'node:http';
import { AppError } from '@recordbus/errors';
import type { RouteEntry } from '../routing/routing-table.ts';

/** The path that serves record files (files §4.1). */
const filePath = '/api/v1/files/:collection/:id/:filename';

/** Whether the request names this host; a usual port may be left out. Proxies pass `Host` on (gateway guide). */
export const isFor = ({ headers }: Pick<IncomingMessage, 'headers'>, host: string): boolean =>
  (headers.host ?? '').toLowerCase().replace(/:(80|443)$/, '') === host;

/**
 * Throws 404 for a file on another host than the one in the setting `files.host`, and for anything else on that host
 * (files §4.6): what users upload can then run in no API page.
 */
export function requireHostOfFiles(
  request: Pick<IncomingMessage, 'headers'>,
  { aliases }: Pick<RouteEntry, 'aliases'>,
  host: string,
): void {
  const isFile = aliases.includes(filePath);
  if (isFile === isFor(request, host)) return;
  const message = isFile ? `files are served at ${host}` : 'this host serves only record files';
  throw new AppError(404, 'not_found', message, isFile ? { details: { host } } : {});
}
