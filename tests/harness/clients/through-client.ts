import assert from 'node:assert/strict';
import { createClient, memoryStore, RecordbusError } from '@recordbus/client';
import type { Answer, Sending } from './client.ts';
import { accountCallOf } from './through-client/account-calls.ts';
import { batchCallOf } from './through-client/batch-calls.ts';
import type { ClientCall, Wanted } from './through-client/client-call.ts';
import { formValues } from './through-client/form-values.ts';
import { recordCallOf } from './through-client/record-calls.ts';

/** Headers that the client sends when it is asked to. A request with another one goes over plain HTTP. */
const known = new Set(['x-request-id', 'if-match', 'if-none-match', 'idempotency-key', 'x-service-idempotency-key']);

let sent = 0;
process.once('exit', () => process.stdout.write(`# ${sent} requests went through the client\n`));

/**
 * Sends a request with the client's matching function, and checks the client's result against the answer. Returns the
 * raw answer, which the scenario compares as usual; undefined for a request without such a function, such as a
 * malformed one.
 */
export async function sendThroughClient(
  baseUrl: string,
  token: string | undefined,
  method: string,
  path: string,
  sending: Sending,
): Promise<Answer | undefined> {
  const call = callOf(method, path, token, sending);
  if (!call) return undefined;
  let last: { readonly response: Response; readonly text: string } | undefined;
  const { 'X-Request-Id': requestId } = sending.headers ?? {};
  const client = createClient(baseUrl, {
    store: memoryStore(token === undefined ? undefined : { token, receivedAtMs: Date.now() }),
    headers: typeof requestId === 'string' ? { 'X-Request-Id': requestId } : {},
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      last = { response, text: await response.clone().text() };
      return response;
    },
  });
  const outcome = await call.run(client).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  // The client refused to send it.
  if (!last) return undefined;
  sent += 1;
  const answer = answerOf(last.response, last.text);
  if ('error' in outcome) checkError(outcome.error, answer);
  else assert.deepEqual(outcome.value, call.expected(answer.json), `${method} ${path}: what the client returns`);
  return answer;
}

/** Whether the percent-encoding stands for text. The client sends no other bytes. */
function isUtf8(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}

function callOf(method: string, path: string, token: string | undefined, sending: Sending): ClientCall | undefined {
  const { form, rawBody, headers = {} } = sending;
  const given = Object.entries(headers)
    .map(([name, value]): [string, unknown] => [name.toLowerCase(), value])
    .filter(([name]) => form === undefined || name !== 'content-type');
  if (given.some(([name, value]) => !known.has(name) || typeof value !== 'string' || value === '')) return undefined;
  const body = form === undefined ? sending.body : formValues(form);
  if (rawBody !== undefined && body === undefined) return undefined;
  const [resource = '', search = ''] = path.split(/\?(.*)/s);
  if (!isUtf8(search)) return undefined;
  const query = new URLSearchParams(search);
  const pairs = [...query];
  // Headers that the client sends differently, or not at all.
  const isEmpty = ([name, value]: [string, string]): boolean => value === '' && name !== 'cursor';
  if (search.includes('+') || pairs.some(isEmpty) || new Set(query.keys()).size < pairs.length) return undefined;
  // The client sends a long filter in the body, which is another request.
  if ((query.get('filter') ?? '').length > 2000) return undefined;
  const wanted: Wanted = {
    method,
    resource,
    query: Object.fromEntries(pairs),
    body,
    headers: Object.fromEntries(given) as Readonly<Record<string, string>>,
    hasToken: token !== undefined,
  };
  return batchCallOf(wanted) ?? accountCallOf(wanted) ?? recordCallOf(wanted);
}

function answerOf({ status, headers }: Response, text: string): Answer {
  const isJson = text !== '' && (headers.get('content-type') ?? '').startsWith('application/json');
  return { status, headers: Object.fromEntries(headers), text, json: isJson ? JSON.parse(text) : undefined };
}

function checkError(error: unknown, { status, json, headers }: Answer): void {
  assert.ok(error instanceof RecordbusError, String(error));
  const { code, details = {} } = Object(json) as { readonly code?: string; readonly details?: object };
  assert.deepEqual([error.status, error.code, error.details], [status, code, details]);
  assert.equal(error.requestId, headers['x-request-id']);
}
