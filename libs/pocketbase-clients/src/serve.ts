import { serveAccounts, serveImpersonation } from './accounts/accounts.ts';
import { isExternalAuths, serveExternalAuths } from './accounts/external-auths.ts';
import { serveBatch } from './batch.ts';
import { serveCollections } from './collections.ts';
import { type Exchange, type Reply, saysAdmin } from './exchange.ts';
import { serveFile, serveFileToken } from './files.ts';
import { callForJson, isObject, isSuccess } from './product.ts';
import { serveRecords } from './records/records.ts';
import { toGeneralRefusal } from './records/to-refusal.ts';
import { Refusal } from './refusal.ts';

/** First segments of PocketBase's routes for superusers, which have other places here. */
const superusersRoutes: ReadonlySet<string> = new Set(['settings', 'logs', 'backups', 'crons', 'sql']);

/** Answers a PocketBase client's request. Throws Refusal. */
export async function servePocketBase(exchange: Exchange): Promise<Reply> {
  const { path, method } = exchange.request;
  const [first = '', second, third, fourth, ...more] = path;
  const isRead = method === 'GET' || method === 'HEAD';
  if (more.length === 0) {
    if (first === 'health' && second === undefined && isRead) return serveHealth(exchange);
    if (first === 'batch' && second === undefined && method === 'POST') return serveBatch(exchange);
    if (first === 'files' && second === 'token' && third === undefined && method === 'POST')
      return serveFileToken(exchange);
    if (first === 'files' && fourth !== undefined && isRead) return serveFile(exchange, path.slice(1));
    if (first === 'collections') {
      if (third === undefined && isRead) return serveCollections(exchange, second);
      if (second !== undefined && isExternalAuths(second) && third === 'records')
        return serveExternalAuths(exchange, fourth);
      if (second !== undefined && third === 'records') return serveRecords(exchange, second, fourth);
      if (second !== undefined && third === 'impersonate' && fourth !== undefined && method === 'POST')
        return serveImpersonation(exchange, second, fourth);
      if (second !== undefined && third !== undefined && fourth === undefined)
        return serveAccounts(exchange, second, third);
    }
  }
  if (superusersRoutes.has(first) || first === 'collections')
    throw new Refusal(
      404,
      'This route of PocketBase is not here: manage the stack in its admin pages, or by its own API.',
    );
  throw new Refusal(404, 'File not found.');
}

async function serveHealth(exchange: Exchange): Promise<Reply> {
  const { call, request } = exchange;
  const answer = await callForJson(call, { method: 'GET', path: '/healthz' });
  if (!isSuccess(answer)) throw toGeneralRefusal(answer) ?? new Refusal(answer.status, 'API is not healthy.');
  const data = saysAdmin(request) ? await healthForAdmins(exchange) : {};
  return { status: 200, body: { message: 'API is healthy.', code: 200, data } };
}

/** What admins see in addition: whether no backup runs, and their address, by which proxies are checked. */
async function healthForAdmins({ call, request: { client } }: Exchange): Promise<object> {
  const answer = await callForJson(call, { method: 'GET', path: '/api/v1/admin/backups?perPage=1' });
  const { data } = answer.json;
  if (!isSuccess(answer) || !Array.isArray(data)) return {};
  const canBackup = !data.some((backup) => isObject(backup) && backup.state === 'running');
  return { canBackup, realIP: client.address, possibleProxyHeader: client.proxyHeader };
}
