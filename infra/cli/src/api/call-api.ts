import { AppError } from '@recordbus/shared/errors';
import { CommandFailure } from '../failure.ts';

/** A running stack, and the service key to call it with. */
export interface ApiAddress {
  readonly url: string;
  readonly key: string | undefined;
}

/** An apply over large collections takes minutes. */
const timeoutMs = 10 * 60_000;

/** Calls a route and returns the `data` of its answer. Throws the refusal of the API, and CommandFailure without an answer. */
export async function callApi(
  { url, key }: ApiAddress,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const base = URL.parse(url);
  if (!base || !/^https?:$/.test(base.protocol)) throw new CommandFailure(`${url} is not an http or https URL.`);
  if (base.username || base.password) throw new CommandFailure('The URL must not have credentials: use --key.');
  const response = await fetch(
    `${base.origin}${base.pathname.endsWith('/') ? base.pathname.slice(0, -1) : base.pathname}${path}`,
    {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    },
  ).catch((error: unknown) => {
    throw new CommandFailure(`${base.origin} does not answer: ${reasonOf(error)}.`);
  });
  const answer = parse(await response.text());
  if (response.ok && answer) return answer.data;
  if (!answer || typeof answer.error !== 'string' || typeof answer.code !== 'string')
    throw new CommandFailure(`${base.origin} answers ${response.status}, but not as a Recordbus stack.`);
  const details = isObject(answer.details) ? { details: answer.details } : {};
  throw new AppError(response.status, answer.code, answer.error, details);
}

type Members = Record<string, unknown>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parse(text: string): Members | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** The reason of a failed fetch is that of its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join('; ');
  return cause instanceof Error ? cause.message : error.message;
}
