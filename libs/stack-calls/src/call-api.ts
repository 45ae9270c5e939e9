import { CommandFailure } from './failure.ts';
import { type ApiAddress, parseObject, sendRequest } from './send-request.ts';

/** Applying to large collections takes minutes. */
const timeoutMs = 10 * 60_000;

/** Calls a route and returns the answer's `data`. Throws the API's refusal, and CommandFailure without an answer. */
export async function callApi(address: ApiAddress, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await sendRequest(address, {
    method,
    path,
    signal: AbortSignal.timeout(timeoutMs),
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const answer = parseObject(await response.text());
  if (!answer) throw new CommandFailure(`${address.url} answers ${response.status}, but is not a Recordbus stack.`);
  return answer.data;
}
