import { type Exchange, type Reply, segment } from './exchange.ts';
import { callForJson, dataOf, isSuccess, type ProductAnswer } from './product.ts';
import { toGeneralRefusal } from './records/to-refusal.ts';
import { needsToken, notFound } from './refusal.ts';

/** Headers of a download that clients see. */
const shown = [
  'accept-ranges',
  'cache-control',
  'content-disposition',
  'content-length',
  'content-range',
  'content-security-policy',
  'content-type',
  'etag',
] as const;

/** `files/{collection}/{id}/{name}`. A file that the caller may not have is 404. */
export async function serveFile({ request, call, catalog }: Exchange, path: readonly string[]): Promise<Reply> {
  const [nameOrId = '', id = '', file = ''] = path;
  const name = catalog.find(nameOrId)?.name ?? nameOrId;
  const { query, method } = request;
  const ours = new URLSearchParams();
  const thumb = query.get('thumb');
  const token = query.get('token');
  if (thumb) ours.set('thumb', thumb);
  if (token) ours.set('token', token);
  if (/^(1|t|true)$/i.test(query.get('download') ?? '')) ours.set('download', '1');
  const send = () => call({ method, path: `/api/v1/files/${[name, id, file].map(segment).join('/')}?${ours}` });
  let answer = await send();
  if (answer.status === 400 && ours.has('thumb')) {
    // PocketBase shows the file itself in a size that its field does not list.
    answer.body.resume();
    ours.delete('thumb');
    answer = await send();
  }
  if (answer.status >= 400 && answer.status !== 416) throw refusalOf(answer);
  return { status: answer.status, headers: headersOf(answer), stream: answer.body };
}

function refusalOf(answer: ProductAnswer): Error {
  answer.body.resume();
  return toGeneralRefusal(answer) ?? notFound();
}

const headersOf = ({ headers }: ProductAnswer): Record<string, string> =>
  Object.fromEntries(
    shown.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );

/** `files/token`: a token for the protected files that the caller may see. */
export async function serveFileToken({ call }: Exchange): Promise<Reply> {
  const answer = await callForJson(call, { method: 'POST', path: '/api/v1/files/token', body: {} });
  if (!isSuccess(answer)) throw toGeneralRefusal(answer) ?? needsToken();
  return { status: 200, body: { token: dataOf(answer).token } };
}
